import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,x):
        if x.mean()>0: return x*2
        return x-1
m=M();args=(torch.ones(2,3),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
