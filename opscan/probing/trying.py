"""One signature on a device: its arguments, the reference, the run, the comparison, the time it takes.

The reference comes first, so that the device is never given arguments that the CPU refuses: a kernel may crash on them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from statistics import median
from typing import Any, Protocol

from msgspec.structs import replace
from torch import Tensor

from opscan.probing.comparison import NoReference, Reference, compare, reference_of, results_of
from opscan.probing.device import Device, Seen
from opscan.probing.protocol import Latency, Limits, Outcome, Run, Stage
from opscan.probing.samples.drawing import draw
from opscan.probing.samples.interface import Sample, Unsampled

#: What the CPU says of an operator or dtype that it has no kernel for, and of indices beyond their tensor.
_NO_KERNEL = re.compile(r"not implemented|Could not run|no kernel|not supported", re.IGNORECASE)
#: What torch says of arguments that do not fit the operator's schema, and torch_npu of one that belongs on the host:
#: an inventory does not say where a tensor was.
_NO_CALL = re.compile(
    r"Tried to convert a List|Expected a value of type|missing value for argument|Declaration: |must be on CPU"
)
_OUT_OF_RANGE = re.compile(r"out of (range|bounds)", re.IGNORECASE)

#: Characters of an error's message that travel; the code stands near its beginning.
_MESSAGE = 4000


class Report(Protocol):
    """Told of each stage before it begins, with what is known already."""

    def __call__(self, stage: Stage, so_far: Outcome | None = None) -> None: ...


def try_signature(device: Device, run: Run, report: Report) -> tuple[Outcome, bool]:
    """The outcome, and whether the device still computes. Does not raise; the process may die or hang in it."""
    report("arguments")
    try:
        sample = draw(run.signature, run.seed)
        report("reference")
        reference, note, doubt = _reference(sample, device, run)
    except Unsampled as error:
        return _not_run(device, error.reason), True
    except Exception as error:  # arguments of a kind that nobody thought of
        return _not_run(device, f"its arguments could not be made: {_said(error)}"), True
    report("device")
    try:
        seen, actual, again = _run(device, run, sample)
    except Unsampled as error:
        return _not_run(device, error.reason), True
    except Exception as error:
        return _raised(device, error, note, doubt)
    plain = Outcome(
        "fallback" if seen.fallbacks else "native",
        operators=seen.fallbacks,
        kernels=seen.kernels,
        note=note,
        versions=device.versions,
    )
    report("comparison", plain)
    outcome = _compared(plain, reference, actual)
    report("timing", outcome)
    try:
        return replace(outcome, latency=_latency(device, again, run.limits)), True
    except Exception as error:
        more = f"it raised when run again: {_said(error)}"
        return replace(outcome, note="; ".join(filter(None, (outcome.note, more)))), device.computes()


def _not_run(device: Device, reason: str) -> Outcome:
    return Outcome("not_run", reason, versions=device.versions)


def _reference(sample: Sample, device: Device, run: Run) -> tuple[Reference | None, str, bool]:
    """None, and why, where there is nothing to compare with; and whether the CPU refused the arguments themselves.

    Raises Unsampled where they are indices out of range: on a device they would be a crash of opscan's own making.
    """
    if device.versions.simulated:
        return None, "a simulated device does not compute: its numbers were not compared", False
    if not run.compare:
        return None, "not compared: computing the reference on the CPU ended the process or took too long", False
    try:
        return reference_of(sample), sample.scaled, False
    except NoReference as error:
        if _OUT_OF_RANGE.search(error.reason):
            raise Unsampled(error.reason) from error
        return None, f"not compared: {error.reason}", _NO_KERNEL.search(error.reason) is None


def _run(device: Device, run: Run, sample: Sample) -> tuple[Seen, list[Tensor], Callable[[], Any]]:
    """What was seen, the results on the CPU, and the call to run again on the same arguments."""
    args, kwargs = sample.placed(lambda tensor: tensor.to(device.name), device.name)
    device.synchronize()

    def call() -> Any:
        return sample.operator(*args, **kwargs)

    seen = device.observe(run.signature, call)
    actual = [result.cpu() for result in results_of(sample, args, kwargs, seen.result)]
    return seen, actual, call


def _raised(device: Device, error: Exception, note: str, doubt: bool) -> tuple[Outcome, bool]:
    """A refusal, for the parent to tell from a crash or the end of the device.

    With ``doubt`` the CPU refuses the arguments too: they may be what is wrong, and nothing is known of the operator.
    So it is where torch does not even begin the call.
    """
    device.empty_cache()
    healthy = device.computes()
    if (doubt or _NO_CALL.search(str(error))) and healthy:
        return _not_run(device, f"the arguments made for it do not fit: {_said(error)}"), healthy
    return Outcome("refused", _said(error), note=note, versions=device.versions), healthy


def _compared(plain: Outcome, reference: Reference | None, actual: list[Tensor]) -> Outcome:
    if reference is None:
        return plain
    try:
        comparison = compare(reference, actual)
    except Exception as error:
        return replace(plain, note=f"not compared: {_said(error)}")
    note = "; ".join(filter(None, (plain.note, comparison.note)))
    if comparison.passed:
        return replace(plain, errors=comparison.errors, note=note)
    return replace(plain, status="wrong", errors=comparison.errors, note=note, message=comparison.message)


def _latency(device: Device, call: Callable[[], Any], limits: Limits) -> Latency | None:
    """None where nothing could be timed. Warm-up runs count where the time is up before any other."""
    ends = time.perf_counter() + limits.timing
    times: list[float] = []
    for _ in range(limits.warmup + limits.runs):
        device.synchronize()
        begin = time.perf_counter()
        call()
        device.synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
        if time.perf_counter() > ends:
            break
    counted = times[limits.warmup :] or times[-1:]
    return Latency(median(counted), len(counted), min(counted)) if counted else None


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_MESSAGE]
