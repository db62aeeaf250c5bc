import torch,torch.nn as nn
class M(nn.Module):
    def forward(s,x,h):
        return x*torch.expm1(-h).to(x.dtype)


def build_model():
    return M()


def example_inputs():
    return torch.randn(2,4),torch.rand(1,dtype=torch.float64)
