import torch,torch.nn as nn,torch.nn.functional as F
class G(torch.autograd.Function):
    @staticmethod
    def forward(c,x): c.save_for_backward(x); return x.relu()
    @staticmethod
    def backward(c,g): return g*(c.saved_tensors[0]>0)
class M(nn.Module):
    def forward(s,x): return G.apply(x)
m=M();args=(torch.randn(2,3,requires_grad=True),);train=True


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
