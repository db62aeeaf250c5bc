import torch,torch.nn as nn,torch.nn.functional as F
m=nn.Linear(4,4).to(torch.bfloat16);args=(torch.randn(1,4,dtype=torch.bfloat16),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
