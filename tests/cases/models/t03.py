import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,x,d):
        n=int(d.sum());p=(torch.arange(n)[None]<torch.cumsum(d,0)[:,None]).float()
        return x@p if n>1 else x
m=M();args=(torch.randn(2,3),torch.tensor([2,1,3]))


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
