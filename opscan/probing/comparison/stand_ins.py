"""What torch_npu's own operators compute, for those that the CPU has no kernel of.

The formulas are those of the rehearsal. Some compute in single precision whatever they are given; that is noted with
the comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from opscan.probing.comparison.contracts import Arguments
from opscan.probing.rehearsal.references import REFERENCES
from opscan.tracing.signature import by_name

#: None stands for a result that serves the implementation alone.
Results = tuple[Tensor | None, ...]


def stand_in(operator: Any) -> Callable[[Arguments], Results | None] | None:
    """A function of the operator's arguments that computes its results; None where the CPU's own kernel is to be asked.

    The function returns None for arguments that it does not cover.
    """
    name = operator._schema.name + (f".{operator._schema.overload_name}" if operator._schema.overload_name else "")
    formula = REFERENCES.get(name)
    if formula is None or not (name.startswith("npu::") or name in _NO_KERNEL):
        return None

    def compute(arguments: Arguments) -> Results | None:
        named = by_name(operator, *arguments)
        if float(named.get("keep_prob", 1.0)) < 1.0:
            return None  # it drops elements at random
        results = formula(named)
        return None if results is None else _asked_for(named, tuple(results))

    return compute


#: Of torch's own, those without a kernel for dense tensors on the CPU.
_NO_KERNEL = frozenset({"aten::matmul_backward"})


def _asked_for(named: dict[str, Any], results: Results) -> Results:
    """Without those that a mask among the arguments leaves out: the device returns nothing for them."""
    mask = named.get("mask", named.get("output_mask"))
    if not isinstance(mask, (list, tuple)) or len(mask) != len(results):
        return results
    return tuple(result for result, wanted in zip(results, mask, strict=True) if wanted)
