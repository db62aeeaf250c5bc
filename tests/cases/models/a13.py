import torch,torch.nn as nn,torch.nn.functional as F
m=nn.Conv3d(3,8,(2,4,4),stride=(2,4,4)).to(torch.bfloat16);args=(torch.randn(1,3,2,8,8,dtype=torch.bfloat16),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
