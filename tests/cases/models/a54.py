import torch,torch.nn as nn,torch.nn.functional as F
lib=torch.library.Library('opscan_t','DEF');lib.define('fused_experts(Tensor x, Tensor w) -> Tensor')
lib.impl('fused_experts',lambda x,w:x@w,'CPU')
@torch.library.register_fake('opscan_t::fused_experts')
def _(x,w): return x.new_empty(x.shape[0],w.shape[1])
class M(nn.Module):
    def forward(s,x,w): return torch.ops.opscan_t.fused_experts(x,w)
m=M();args=(torch.randn(2,3),torch.randn(3,4))


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
