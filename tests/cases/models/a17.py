import torch,torch.nn as nn,torch.nn.functional as F
m=nn.Conv3d(3,4,2);args=(torch.randn(1,3,4,4,4,requires_grad=True),);train=True


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
