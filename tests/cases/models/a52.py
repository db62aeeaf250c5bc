import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,x):
        return x.to(torch.uint64).to(torch.int64)+1
m=M();args=(torch.arange(4),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
