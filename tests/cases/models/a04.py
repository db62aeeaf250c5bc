import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,q,k,v):
        return torch.ops.aten._scaled_dot_product_efficient_attention(q,k,v,None,False)[0]
m=M();args=tuple(torch.randn(1,2,4,8) for _ in range(3))


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
