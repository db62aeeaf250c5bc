import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def __init__(s):
        super().__init__();s.l=nn.LSTM(4,8,bidirectional=True)
    def forward(s,x): return s.l(x)[0]
m=M();args=(torch.randn(5,1,4,requires_grad=True),);train=True


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
