"""bitsandbytes: linear layers with quantized weights."""

from __future__ import annotations

from typing import Any

from torch import nn

from opscan.tracing.cuda.extensions.interface import StandIns


class _Linear(nn.Linear):
    """As many weights as a plain layer, whatever they are stored as."""

    def __init__(self, input_features: int, output_features: int, bias: bool = True, *args: Any, **kwargs: Any) -> None:
        super().__init__(input_features, output_features, bias, device=kwargs.get("device"))


class Linear8bitLt(_Linear):
    """``Linear8bitLt(input_features, output_features, bias=True, has_fp16_weights=True, …)``."""


class Linear4bit(_Linear):
    """``Linear4bit(input_features, output_features, bias=True, compute_dtype=None, …)``."""


class LinearFP4(_Linear):
    """The same, in another format."""


class LinearNF4(_Linear):
    """The same, in another format."""


STAND_INS = StandIns(
    package="bitsandbytes",
    source="https://github.com/bitsandbytes-foundation/bitsandbytes/blob/0.45.3/bitsandbytes/nn/modules.py",
    modules={m.__name__: m for m in (Linear8bitLt, Linear4bit, LinearFP4, LinearNF4)},
)
