import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,x):
        return F.interpolate(x,scale_factor=2.0,mode='nearest-exact')
m=M();args=(torch.randn(1,4,5,5),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
