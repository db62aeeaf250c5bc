"""From a signature to arguments."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from opscan.inventory import TensorSpec
from opscan.probing.samples.adapter import ADAPTER
from opscan.probing.samples.binding import Bound, bind, schema_arguments
from opscan.probing.samples.domains import kind_of
from opscan.probing.samples.draft import Draft, Fill
from opscan.probing.samples.indices import INDICES
from opscan.probing.samples.interface import Sample, Unsampled
from opscan.probing.samples.kinds import draw_tensor, has_ties
from opscan.probing.samples.linear_algebra import LINEAR_ALGEBRA
from opscan.probing.samples.losses import LOSSES
from opscan.probing.samples.ordered import ORDERED
from opscan.probing.samples.saved import SAVED
from opscan.probing.samples.scaling import LIMIT, within
from opscan.probing.signature import Signature

_FILLS: dict[str, Fill] = {**ADAPTER, **INDICES, **LINEAR_ALGEBRA, **LOSSES, **ORDERED, **SAVED}


def draw(signature: Signature, seed: int = 0, limit: int = LIMIT) -> Sample:
    """Arguments on the CPU for a signature, the same for the same ``seed``.

    ``limit``: bytes that the tensors may take in double precision; what is larger is made smaller where the operator
    still makes sense then, and the sample says so. Raises Unsampled with the reason where no arguments can be made.
    """
    bound, scaled = within(bind(signature), limit)
    draft = Draft(bound, torch.Generator().manual_seed(seed))
    for name, specs in bound.tensors.items():
        draft.tensors[name] = _drawn(draft, name, specs)
    fill = _FILLS.get(bound.base)
    if fill is not None:
        _fill(fill, draft)
    args, kwargs = schema_arguments(bound, draft.tensors)
    return Sample(bound.operator, args, kwargs, scaled, draft.ties or _is_ambiguous(draft))


def _drawn(draft: Draft, name: str, specs: TensorSpec | tuple[TensorSpec | None, ...]) -> Any:
    if isinstance(specs, tuple):
        return [None if spec is None else _drawn(draft, name, spec) for spec in specs]
    kind = kind_of(draft.bound.base, name, specs.dtype, draft.bound.others)
    return draw_tensor(specs, kind, draft.generator)


def _fill(fill: Fill, draft: Draft) -> None:
    """A rule meets shapes that its author did not think of: that is a signature without a sample, not a fault."""
    try:
        fill(draft)
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError, ZeroDivisionError) as error:
        first = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        raise Unsampled(f"its arguments could not be made to fit each other: {first}") from error


def _is_ambiguous(draft: Draft) -> bool:
    """Whether the operator orders values of which some are equal."""
    if not _orders(draft.bound):
        return False
    return any(isinstance(t, Tensor) and not t.is_complex() and has_ties(t) for t in draft.tensors.values())


def _orders(bound: Bound) -> bool:
    return kind_of(bound.base, "self", "float32", bound.others) == "distinct"
