import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,x): return {'a':{'x':x+1},'b':[x*2,None]}
m=M();args=(torch.randn(2),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
