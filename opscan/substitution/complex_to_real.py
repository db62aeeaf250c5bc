"""Complex operators in real arithmetic: a complex number is a pair of reals in one more dimension, of size two.

What: selections from a complex tensor (indexing, gather, embedding …) select from ``torch.view_as_real(x)``; products
of complex numbers, as in rotary position embedding, and ``polar`` are written with real products, sines and cosines.

Why: kernels that move elements often list no complex dtype, although they would move pairs of floats just as well. CANN
8.5.0 documents no complex64 for ``aclnnIndex``, neither 8.5.0 nor 9.1.0 documents one for ``aclnnGather`` (ops-nn at
e9f5c1b and ceb4536, ``index/index/docs/aclnnIndex.md``, ``index/gather_elements_v2/docs/aclnnGather.md``).
``view_as_real`` and ``view_as_complex`` are views: they launch no kernel and copy nothing.

Example::

    rotary = table[positions]                                               # refused on complex64
    rotary = torch.view_as_complex(torch.view_as_real(table)[positions])    # float32 throughout
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opscan.inventory import OpCall, TensorSpec
from opscan.substitution import complex_products, complex_selections
from opscan.substitution.arguments import attributes, described
from opscan.substitution.complex_rewrite import Rewrite
from opscan.substitution.interface import Code, Match, Miss, Run, Text

if TYPE_CHECKING:
    from torch import Generator, Tensor

REWRITES: dict[str, Rewrite] = {**complex_selections.REWRITES, **complex_products.REWRITES}


class ComplexToReal:
    """The family, over one ``Rewrite`` for each operator that has a real form."""

    id = "complex-to-real"
    title = Text("Pairs of reals instead of complex numbers", "用实数对代替复数")
    why = Text(
        "The same up to rounding; the views copy nothing. A tensor used only this way can stay real. "
        "After .conj(), call .resolve_conj() first.",
        "结果在舍入范围内相同，视图不产生拷贝。只以这种方式使用的张量可以一直保持实数形式。"
        ".conj() 之后需先调用 .resolve_conj()。",
    )

    def applies(self, call: OpCall, refused_dtype: str) -> Match | Miss:
        rewrite = REWRITES.get(call.name)
        if rewrite is None:
            return Miss(self.id, Text("no real form of this operator is known", "未知该算子的实数形式"))
        if call.phase != "forward":
            return Miss(self.id, Text("it follows its forward operator", "随其前向算子而变"))
        try:
            attributes(call)
        except ValueError as error:
            return Miss(
                self.id, Text(f"an argument was not recorded as a value: {error}", f"参数未以值的形式记录：{error}")
            )
        why = rewrite.miss(call)
        return Miss(self.id, why) if why else Match(self.id, call, refused_dtype)

    def code(self, match: Match) -> Code:
        rewrite, call = REWRITES[match.call.name], match.call
        inputs = ", ".join(described(name, spec) for name, spec in zip(rewrite.names(call), call.inputs, strict=True))
        return Code(before=f"# {inputs}\n{rewrite.before(call)}", after=rewrite.after(call))

    def original(self, match: Match) -> Run:
        return REWRITES[match.call.name].original(match.call)

    def replacement(self, match: Match) -> Run:
        return REWRITES[match.call.name].replacement(match.call)

    def sample_inputs(self, match: Match, specs: Sequence[TensorSpec], generator: Generator) -> list[Tensor]:
        from opscan.substitution import samples

        limits = REWRITES[match.call.name].limits(match.call, specs)
        return [samples.one(spec, generator, low, high) for spec, (low, high) in zip(specs, limits, strict=True)]
