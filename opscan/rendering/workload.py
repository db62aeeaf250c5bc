"""What of a model was run, in words: only where that is more than one forward pass of the model as it stands."""

from __future__ import annotations

from opscan.assessment import RunInfo
from opscan.rendering.overview import Sentence
from opscan.workload import DynamicInput, Optimizer


def departures(workload: RunInfo | None) -> list[Sentence]:
    """One phrase for each thing in which a run differs from the plain forward pass that ``opscan MODEL`` makes; none
    for a report that does not say."""
    if workload is None:
        return []
    phrases: list[Sentence] = []
    optimizer = workload.optimizer
    if workload.train:
        phrases.append(Sentence("workload.train", {"optimizer": _named(optimizer) if optimizer else "?"}))
    if workload.train and optimizer is not None and optimizer.clip_grad_norm is not None:
        phrases.append(Sentence("workload.clip", {"norm": f"{optimizer.clip_grad_norm:g}"}))
    if workload.amp != "off":
        phrases.append(Sentence("workload.amp", {"amp": workload.amp}))
    if workload.dynamic:
        phrases.append(Sentence("workload.dynamic", {"inputs": "; ".join(map(_varying, workload.dynamic))}))
    if workload.tracer != "auto":
        phrases.append(Sentence("workload.tracer", {"tracer": workload.tracer}))
    return phrases


def _named(optimizer: Optimizer) -> str:
    """``sgd (momentum=0.9)``."""
    options = ", ".join(f"{name}={value}" for name, value in optimizer.options)
    return f"{optimizer.name} ({options})" if options else optimizer.name


def _varying(given: DynamicInput) -> str:
    """As ``--dynamic`` takes it: ``x:batch=0=1..64,2``."""
    nothing = (None,) * len(given.dimensions)
    labels, ranges = given.labels or nothing, given.ranges or nothing
    return f"{given.name}:" + ",".join(
        (f"{label}=" if label else "") + str(dimension) + (f"={limits[0]}..{limits[1]}" if limits else "")
        for dimension, label, limits in zip(given.dimensions, labels, ranges, strict=False)
    )
