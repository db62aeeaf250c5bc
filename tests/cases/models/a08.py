import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,x,i):
        t=torch.polar(torch.ones(16,4,dtype=torch.float64),torch.rand(16,4,dtype=torch.float64))
        g=torch.gather(t,0,i[:,None].expand(-1,4))
        z=torch.view_as_complex(x.double().reshape(-1,4,2))
        return torch.view_as_real(z*g).flatten(-2).float()
m=M();args=(torch.randn(6,8),torch.arange(6))


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
