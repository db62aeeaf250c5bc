import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def __init__(s):
        super().__init__();s.c=nn.Conv2d(3,3,3,padding=1)
    def forward(s,x):
        for i in range(3):
            if x.abs().mean()<0.1: break
            x=s.c(x)
        return x
m=M();args=(torch.randn(1,3,8,8),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
