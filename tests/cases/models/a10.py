import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,x):
        z=torch.view_as_complex(x.double().reshape(-1,4,2))
        f=torch.polar(torch.ones(4,dtype=torch.float64),torch.rand(4,dtype=torch.float64))
        return torch.view_as_real(z*f).float()
m=M();args=(torch.randn(6,8),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
