import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


class M(nn.Module):
    def forward(s, x):
        out = torch.empty_like(x)
        double[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out + 1


m = M()
args = (torch.randn(2, 3),)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
