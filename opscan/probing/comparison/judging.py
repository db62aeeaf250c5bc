"""Whether results agree with their reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from opscan.probing.comparison import chance
from opscan.probing.comparison.contracts import (
    FACTORS,
    PLACES,
    UNFILLED,
    argument,
    base_name,
    first_auxiliary,
    is_random,
)
from opscan.probing.comparison.figures import Figures, figures
from opscan.probing.comparison.reference import Reference
from opscan.probing.comparison.tolerance import reduced_precision, tolerances
from opscan.probing.protocol import Errors

#: The device may be as far off as the CPU in the same dtype, times this: values for which the dtype itself is too
#: narrow (a quotient near a pole, a long product) tell nothing of the device.
OWN_SHARE = 2.0

#: But not beyond this many times the tolerance of the largest element: a kernel of the CPU can be broken itself.
_OWN_LIMIT = 64.0

#: What torch_npu computes in place of double precision.
_NARROWED = {torch.float64: torch.float32, torch.complex128: torch.complex64}


@dataclass(frozen=True, slots=True)
class Comparison:
    """``passed`` is true where nothing contradicts the reference; ``note`` says what was not compared, and why;
    ``message`` what departs. ``errors`` is None where no number was compared.
    """

    passed: bool
    errors: Errors | None = None
    note: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """One result, judged."""

    figures: Figures | None = None
    tolerance: tuple[float, float] = (0.0, 0.0)
    note: str = ""
    message: str = ""


def compare(reference: Reference, actual: list[Tensor]) -> Comparison:
    """Results of the device, moved to the CPU, against the reference.

    Every result must have the dtype and shape expected, NaN and infinities where they are expected, equal integers
    and booleans, and numbers within tolerance. Random and unfilled results are not compared; factors and orders that
    are not unique are compared by what must hold of them.
    """
    operator, likely = reference.sample.operator, reference.own or reference.expected
    if None in map(_kind, likely):  # the implementation's own results come last, and need not all be known
        likely = (*likely, *(None for _ in actual[len(likely) :]))
    if len(actual) != len(likely):
        return Comparison(False, message=f"{len(actual)} results, where {len(likely)} are expected")
    formed = [_form(operator, at, *pair) for at, pair in enumerate(zip(likely, actual, strict=True))]
    if message := next((part.message for part in formed if part.message), ""):
        return Comparison(False, message=message)
    notes = [reference.precision, *(part.note for part in formed)]
    if base_name(operator) in UNFILLED:
        return _joined([], [*notes, "not compared: the results are not filled; dtype and shape were"])
    if is_random(operator):
        message = chance.complaint(operator, reference.given, actual)
        note = "not compared: it draws random numbers; dtype, shape and range were"
        return Comparison(not message, note=_note([*notes, note]), message=message)
    return _joined(_numbers(reference, actual, formed), notes)


def _kind(result: Tensor | None) -> type | None:
    return None if result is None else Tensor


def _form(operator: Any, at: int, expected: Tensor | None, actual: Tensor) -> _Part:
    """Dtype and shape of one result. What serves the implementation alone may differ."""
    if expected is None:
        return _Part(note=f"not compared: result {at} serves the implementation alone")
    auxiliary = first_auxiliary(operator)
    own = auxiliary is not None and at >= auxiliary
    if actual.shape != expected.shape:
        what = f"result {at} has shape {list(actual.shape)}, where {list(expected.shape)} is expected"
        return _Part(note=f"not compared: {what}") if own else _Part(message=what)
    if actual.dtype != expected.dtype:
        what = f"result {at} is {_short(actual.dtype)}, where {_short(expected.dtype)} is expected"
        if own or _NARROWED.get(expected.dtype) == actual.dtype:
            return _Part(note=what)
        return _Part(message=what)
    return _Part()


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _numbers(reference: Reference, actual: list[Tensor], formed: list[_Part]) -> list[_Part]:
    base = base_name(reference.sample.operator)
    if base in FACTORS:
        return _factors(reference, actual)
    if base == "linalg_ldl_factor_ex":
        return [_Part(note="not compared: its factors are not unique")]
    open_ = _open_results(reference, actual)
    return [open_.get(at) or _number(reference, at, actual[at], part) for at, part in enumerate(formed)]


def _number(reference: Reference, at: int, actual: Tensor, form: _Part) -> _Part:
    expected = reference.expected[at] if at < len(reference.expected) else None
    auxiliary = first_auxiliary(reference.sample.operator)
    own_business = auxiliary is not None and at >= auxiliary
    if form.note.startswith("not compared") or expected is None or expected.shape != actual.shape:
        return _Part()
    if own_business and not (actual.is_floating_point() and expected.is_floating_point()):
        return _Part(note=f"not compared: result {at} serves the implementation alone")
    if own_business and base_name(reference.sample.operator) in ("_ctc_loss", "log_sigmoid_forward"):
        return _Part(note=f"not compared: result {at} serves the implementation alone")
    if reference.sample.ties and reference.sample.operator._schema.name.partition("::")[2].startswith(_WRITING):
        return _Part(note="not compared: several values are written to one place")
    rtol, atol = tolerances(actual.dtype, reference.terms)
    found = figures(expected, actual, rtol, atol, _allowed(reference, at, rtol, atol))
    reduced = reduced_precision(reference.sample.operator, actual.dtype, _magnitude(expected)) if found.outside else 0.0
    if reduced and not (again := figures(expected, actual, rtol, atol, reduced)).outside:
        return _Part(again, (rtol, atol), f"result {at} is as precise as HF32, not as float32: {_HF32_ADVICE}")
    return _Part(found, (rtol, atol))


_HF32_ADVICE = "torch.npu.conv.allow_hf32 = False computes convolutions in float32"

_WRITING = ("index_put", "_index_put", "_unsafe_index_put", "scatter", "index_copy", "put")


def _own_error(reference: Reference, at: int) -> float:
    """The largest error of the CPU in the operator's own dtype."""
    if not reference.own or at >= len(reference.own):
        return 0.0
    own, expected = reference.own[at], reference.expected[at]
    if own is None or expected is None or own is expected:
        return 0.0
    if not (own.is_floating_point() or own.is_complex()) or own.shape != expected.shape:
        return 0.0
    wide = torch.complex128 if own.is_complex() or expected.is_complex() else torch.float64
    error = (own.to(wide) - expected.to(wide)).abs()
    error = error[error.isfinite()]
    return float(error.max()) if error.numel() else 0.0


def _allowed(reference: Reference, at: int, rtol: float, atol: float) -> float:
    """What the dtype's own narrowness excuses for these values."""
    error, expected = _own_error(reference, at), reference.expected[at]
    if not error or expected is None:
        return 0.0
    return min(OWN_SHARE * error, _OWN_LIMIT * (rtol * _magnitude(expected) + atol))


def _magnitude(tensor: Tensor) -> float:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return 0.0
    sizes = tensor.abs()
    sizes = sizes[sizes.isfinite()]
    return float(sizes.max()) if sizes.numel() else 0.0


def _open_results(reference: Reference, actual: list[Tensor]) -> dict[int, _Part]:
    """Indices into values that repeat: what they name must be the values returned."""
    base = base_name(reference.sample.operator)
    if not reference.sample.ties:
        return {}
    given = reference.given
    operator = reference.sample.operator
    source = argument(operator, given, "self")
    if base in PLACES and len(actual) >= 2 and isinstance(source, Tensor):
        dim = argument(operator, given, "dim")
        return {1: _named_values(source, actual[0], actual[1], -1 if dim is None else int(dim))}
    if base in ("argsort", "argmax", "argmin"):
        return {0: _Part(note="not compared: equal values have no order")}
    return {}


def _named_values(source: Tensor, values: Tensor, places: Tensor, dim: int) -> _Part:
    note = "values repeat: their indices were compared by the values that they name"
    if places.dim() < source.dim():
        places, values = places.unsqueeze(dim), values.unsqueeze(dim)
    if places.dim() and (int(places.min()) < 0 or int(places.max()) >= source.shape[dim]):
        return _Part(Figures(unequal=places.numel(), outside=1, elements=places.numel()))
    found = source.gather(dim, places.long()) if source.dim() else source
    unequal = int((found != values).sum())
    return _Part(Figures(unequal=unequal, outside=unequal, elements=places.numel()), note=note)


def _factors(reference: Reference, actual: list[Tensor]) -> list[_Part]:
    name, multiply, unique = FACTORS[base_name(reference.sample.operator)]
    a = argument(reference.sample.operator, reference.given, name)
    parts = [_number(reference, at, actual[at], _Part()) for at in unique if at < len(actual)]
    wide = torch.complex128 if any(t.is_complex() for t in (a, *actual)) else torch.float64
    results = [t.to(wide) if t.is_floating_point() or t.is_complex() else t for t in actual]
    dtype = next(t.dtype for t in actual if t.is_floating_point() or t.is_complex())
    rtol, atol = tolerances(dtype, reference.terms)
    for product, whole in multiply(a.to(wide), results):
        scale = float(whole.abs().max()) if whole.numel() else 1.0
        parts.append(_Part(figures(whole, product, rtol, max(atol, rtol * scale)), (rtol, max(atol, rtol * scale))))
    note = "its factors are not unique: their product was compared with the argument"
    return [*parts, _Part(note=note)]


def _joined(parts: Iterable[_Part], notes: list[str]) -> Comparison:
    known = [part for part in parts if part.figures is not None]
    notes = [*notes, *(part.note for part in parts)]
    if not known:
        return Comparison(True, note=_note(notes))
    errors = Errors(
        max((p.figures.max_abs for p in known if p.figures), default=0.0),
        max((p.figures.max_rel for p in known if p.figures), default=0.0),
        max((p.figures.max_ulp for p in known if p.figures), default=0.0),
        sum(p.figures.nonfinite for p in known if p.figures),
        sum(p.figures.unequal for p in known if p.figures),
        max(p.tolerance[0] for p in known),
        max(p.tolerance[1] for p in known),
    )
    message = next((_departure(p.figures) for p in known if p.figures and p.figures.outside), "")
    return Comparison(not message, errors, _note(notes), message)


def _departure(found: Figures) -> str:
    if found.nonfinite:
        return (
            f"{found.nonfinite} of {found.elements} elements are NaN or infinite where the reference is not, or differ"
        )
    if found.unequal:
        return f"{found.unequal} of {found.elements} elements differ"
    return (
        f"{found.outside} of {found.elements} elements are out of tolerance: "
        f"relative error {found.max_rel:.3g}, absolute {found.max_abs:.3g}"
    )


def _note(notes: list[str]) -> str:
    return "; ".join(dict.fromkeys(note for note in notes if note))
