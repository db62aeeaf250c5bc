"""Double precision computed in single precision: float64 in float32, complex128 in complex64.

What: the same operator on ``x.float()``. The result is float32 and is cast back only where the caller needs float64.

Why: many Ascend kernels take no float64; ``aclnnExpm1``, ``aclnnMatmul`` and ``aclnnSort`` are among them at CANN 8.5.0
and 9.1.0 (ops-math at f1a42c5 and c821871, ops-nn at e9f5c1b and ceb4536). Most float64 in a model is there by
accident: ``np.float64`` constants, ``torch.arange(…, dtype=torch.float64)`` in position tables, a stray ``.double()``.
The price is real: about 7 decimal digits instead of 16, a range up to 3.4e38 instead of 1.8e308, integers exact up to
2**24 only. Sums of many terms and differences of close numbers suffer first.

Example::

    weight = torch.expm1(-h)                # h: float64, refused
    weight = torch.expm1(-h.float())
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opscan.inventory import OpCall, TensorSpec
from opscan.substitution import spelling
from opscan.substitution.arguments import Symbol, base_name, described
from opscan.substitution.interface import Code, Match, Miss, Run, Text

if TYPE_CHECKING:
    from torch import Generator, Tensor

#: Each double dtype with its single one, and how to write the cast of a tensor.
SINGLE = {"float64": "float32", "complex128": "complex64"}
_CAST = {"float64": "{}.float()", "complex128": "{}.to(torch.complex64)"}
_CAST_BACK = {"float64": "out.double()", "complex128": "out.to(torch.complex128)"}

#: These only cast or allocate: computing them in float32 is not a replacement but the point of the others.
_CASTS = frozenset(
    {"_to_copy", "to", "copy_", "empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided"}
)


class Float64ToFloat32:
    """The family: any operator that the target refuses in double precision."""

    id = "float64-to-float32"
    title = Text("float32 instead of float64", "用 float32 代替 float64")
    why = Text(
        "Less precise: about 7 decimal digits instead of 16, integers exact up to 2**24, range up to 3.4e38. "
        "Check long sums and differences of close numbers.",
        "精度降低：约 7 位十进制有效数字（原为 16 位），整数精确到 2**24，范围至 3.4e38。请检查长求和与相近数之差。",
    )

    def applies(self, call: OpCall, refused_dtype: str) -> Match | Miss:
        if refused_dtype not in SINGLE:
            return Miss(
                self.id, Text(f"{refused_dtype} is refused, not float64", f"被拒绝的是 {refused_dtype}，不是 float64")
            )
        if base_name(call)[1] in _CASTS:
            return Miss(self.id, Text("it only casts or allocates", "只做类型转换或分配"))
        if not any(spec.dtype in SINGLE for spec in (*call.inputs, *call.outputs)):
            return Miss(self.id, Text("no argument or result of the call is float64", "调用的参数和结果均不是 float64"))
        return Match(self.id, call, refused_dtype)

    def code(self, match: Match) -> Code:
        if match.call.phase != "forward":
            return _follow(match.call)
        try:
            return _written(match.call)
        except ValueError:
            return _advice(match.call)

    def original(self, match: Match) -> Run:
        from opscan.substitution import rebuilding

        return rebuilding.rebuild(match.call, lambda value: value)

    def replacement(self, match: Match) -> Run:
        import torch

        from opscan.substitution import rebuilding

        run = rebuilding.rebuild(match.call, _single)
        single = {getattr(torch, double): getattr(torch, single) for double, single in SINGLE.items()}
        return lambda *tensors: run(*(tensor.to(single.get(tensor.dtype, tensor.dtype)) for tensor in tensors))

    def sample_inputs(self, match: Match, specs: Sequence[TensorSpec], generator: Generator) -> list[Tensor]:
        """Integers below the smallest size of any floating tensor: an index that is valid whatever it indexes."""
        from opscan.substitution import samples

        sizes = [int(size) for spec in specs if spec.dtype in SINGLE for size in spec.shape]
        return samples.draw(specs, generator, below=min(sizes, default=1))


def _written(call: OpCall) -> Code:
    """Both calls in full. Raises ``ValueError`` where the arguments were not recorded well enough for that."""
    names = spelling.variables(call)
    inputs = ", ".join(described(name, spec) for name, spec in zip(names, call.inputs, strict=True))
    comment = f"# {inputs}\n" if inputs else ""
    before = spelling.expression(call, lambda name, dtype: name, lambda value: value)

    first = ""
    changed = names[:1] if base_name(call)[1].endswith("_") else ()
    if changed and call.inputs[0].dtype in SINGLE:
        first = f"{names[0]} = {_cast(names[0], call.inputs[0].dtype)}  # better where it is created: this changes it\n"
    after = spelling.expression(call, lambda name, dtype: name if name in changed else _cast(name, dtype), _single)
    return Code(before=f"{comment}out = {before}", after=f"{first}out = {after}{_cast_back(call)}")


def _cast(name: str, dtype: str) -> str:
    return _CAST[dtype].format(name) if dtype in _CAST else name


def _single(value: object) -> object:
    """A dtype argument in single precision; anything else as it is."""
    if isinstance(value, Symbol):
        single = SINGLE.get(value.text.removeprefix("torch."))
        return Symbol(f"torch.{single}") if single else value
    return value


def _cast_back(call: OpCall) -> str:
    doubles = [spec.dtype for spec in call.outputs if spec.dtype in SINGLE]
    if not doubles:
        return ""
    if len(call.outputs) > 1:
        return f"\n# its {doubles[0]} results are {SINGLE[doubles[0]]} now: cast back only where the caller needs it"
    return f"\n# out is {SINGLE[doubles[0]]}: write {_CAST_BACK[doubles[0]]} only where the caller needs it"


def _follow(call: OpCall) -> Code:
    """Backward and optimizer operators are not in the user's source: they take the dtype of what they follow."""
    what = "forward line" if call.phase == "backward" else "parameters"
    how = "this line" if call.phase == "backward" else "the parameters (model.float())"
    return Code(
        before=f"# {call.name} in float64, called by autograd or the optimizer for the {what}",
        after=f"# compute {how} in float32: {call.name} then runs in float32 too",
    )


def _advice(call: OpCall) -> Code:
    """What can be said where the arguments were not recorded well enough to write the call."""
    return Code(
        before=f"# {call.name} on float64",
        after="# cast its float64 arguments with .float(), and write dtype=torch.float32 for dtype=torch.float64",
    )
