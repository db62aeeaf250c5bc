import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,xd,ed):
        x=xd['n'];r,c=ed[('n','to','n')]
        return {'n':torch.zeros_like(x).scatter_reduce(0,c[:,None].expand(-1,x.size(1)),x[r],'amax',include_self=False)}
m=M();args=({'n':torch.randn(4,3)},{('n','to','n'):torch.tensor([[0,1,2],[1,2,3]])})


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
