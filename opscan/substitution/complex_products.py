"""Products of complex numbers, and numbers from polar coordinates, as arithmetic on real and imaginary parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opscan.inventory import OpCall, TensorSpec
from opscan.substitution.complex_rewrite import NOT_COMPLEX, PARTS, Rewrite
from opscan.substitution.interface import Run, Text

if TYPE_CHECKING:
    from torch import Tensor

_BOTH = """\
a, b = torch.view_as_real(x), torch.view_as_real(y)
real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
imag = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
out = torch.view_as_complex(torch.stack((real, imag), dim=-1))
# in rotary embedding b holds cos and sin, and (real, imag) is the result: no complex tensor is needed"""

_ONE = """\
a = torch.view_as_real({z})
out = torch.view_as_complex(torch.stack((a[..., 0] * {factor}, a[..., 1] * {factor}), dim=-1))"""


class Product:
    """``aten::mul.Tensor`` of two tensors, one or both complex, with broadcasting."""

    def miss(self, call: OpCall) -> Text | None:
        dtypes = [spec.dtype for spec in call.inputs]
        if len(dtypes) != 2:
            return Text("the product is not of two tensors", "不是两个张量的乘积")
        known = all(dtype in PARTS or not dtype.startswith("complex") for dtype in dtypes)
        return None if known and any(dtype in PARTS for dtype in dtypes) else NOT_COMPLEX

    def names(self, call: OpCall) -> tuple[str, ...]:
        return ("x", "y")

    def before(self, call: OpCall) -> str:
        return "out = x * y"

    def after(self, call: OpCall) -> str:
        x, y = self._complex(call)
        if x and y:
            return _BOTH
        return _ONE.format(z="x", factor="y") if x else _ONE.format(z="y", factor="x")

    def original(self, call: OpCall) -> Run:
        return lambda x, y: x * y

    def replacement(self, call: OpCall) -> Run:
        x_complex, y_complex = self._complex(call)
        if x_complex and y_complex:
            return _multiply
        return _scale if x_complex else lambda x, y: _scale(y, x)

    def limits(self, call: OpCall, specs: Sequence[TensorSpec]) -> list[tuple[int, int]]:
        return [(-8, 8) if not spec.dtype.startswith("uint") else (0, 8) for spec in specs]

    def _complex(self, call: OpCall) -> tuple[bool, bool]:
        x, y = call.inputs
        return x.dtype in PARTS, y.dtype in PARTS


def _multiply(x: Tensor, y: Tensor) -> Tensor:
    import torch

    a, b = torch.view_as_real(x), torch.view_as_real(y)
    real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
    imag = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
    return torch.view_as_complex(torch.stack((real, imag), dim=-1))


def _scale(z: Tensor, factor: Tensor) -> Tensor:
    import torch

    a = torch.view_as_real(z)
    return torch.view_as_complex(torch.stack((a[..., 0] * factor, a[..., 1] * factor), dim=-1))


class Polar:
    """``aten::polar``: ``aclnnPolar`` takes float32 only, sine and cosine take float64 as well."""

    def miss(self, call: OpCall) -> Text | None:
        return None if len(call.inputs) == 2 else Text("its arguments are not two tensors", "参数不是两个张量")

    def names(self, call: OpCall) -> tuple[str, ...]:
        return ("radius", "angle")

    def before(self, call: OpCall) -> str:
        return "out = torch.polar(radius, angle)"

    def after(self, call: OpCall) -> str:
        return "out = torch.complex(radius * torch.cos(angle), radius * torch.sin(angle))"

    def original(self, call: OpCall) -> Run:
        import torch

        return torch.polar

    def replacement(self, call: OpCall) -> Run:
        import torch

        return lambda radius, angle: torch.complex(radius * torch.cos(angle), radius * torch.sin(angle))

    def limits(self, call: OpCall, specs: Sequence[TensorSpec]) -> list[tuple[int, int]]:
        return [(0, 1)] * len(specs)


REWRITES: dict[str, Rewrite] = {"aten::mul.Tensor": Product(), "aten::polar": Polar()}
