"""What passes between a probe and its workers, one JSON object a line, and what is known of a signature in the end."""

from __future__ import annotations

from typing import Literal

import msgspec

from opscan.loading.inputs import Input
from opscan.loading.reference import Reference
from opscan.probing.signature import Signature

#: ``native``: it ran on the device and its results agree with the reference. ``fallback``: torch_npu ran it on the
#: CPU. ``refused``: it raised. ``wrong``: it ran, and its results depart from the reference. ``crashed``: the process
#: died. ``timeout``: it did not end in time. ``device_lost``: the device stopped answering. ``not_run``: nothing is
#: known, and ``Outcome.message`` says why.
Status = Literal[
    "native", "fallback", "refused", "wrong", "crashed", "timeout", "out_of_memory", "device_lost", "not_run"
]
STATUSES: tuple[Status, ...] = (
    "native", "fallback", "refused", "wrong", "crashed", "timeout", "out_of_memory", "device_lost", "not_run",
)  # fmt: skip

#: What a worker is doing, in this order. The NPU is at work on the ``device`` and for ``timing`` alone: a crash or a
#: hang elsewhere is not its fault.
Stage = Literal["arguments", "reference", "device", "comparison", "timing"]


class Versions(msgspec.Struct, frozen=True):
    """What an outcome holds for. ``simulated``: the device does not compute, so its numbers say nothing."""

    torch: str
    torch_npu: str
    cann: str
    soc: str
    simulated: bool = False


class Errors(msgspec.Struct, frozen=True):
    """How far results are from the reference, over all results of a call; None where nothing could be compared.

    ``max_abs`` and ``max_rel`` are over the elements that are finite on both sides, ``max_rel`` over those of them
    whose expected magnitude exceeds the absolute tolerance ``atol``; ``max_ulp`` counts units in the last place of
    the result's dtype. ``nonfinite`` counts elements where one side is NaN or infinite and the other is not, or
    differs; ``unequal`` counts elements of integer and boolean results that differ. ``rtol`` and ``atol`` are the
    tolerances of the least precise result.
    """

    max_abs: float | None = None
    max_rel: float | None = None
    max_ulp: float | None = None
    nonfinite: int = 0
    unequal: int = 0
    rtol: float = 0.0
    atol: float = 0.0


class Latency(msgspec.Struct, frozen=True):
    """Microseconds of one run with the device synchronised before and after, after warm-up: the median of ``runs``."""

    median: float
    runs: int
    least: float


class Outcome(msgspec.Struct, frozen=True):
    """What became of one signature. ``code`` is the error code that the message names (``161002``, ``EZ1001``,
    ``ERR01007``), or the signal that killed the process (``SIGSEGV``); ``operators`` are those that fell back to the
    CPU within the call; ``kernels`` are those that the adapter launched, in order; ``note`` says what was not compared
    or timed, and why. ``versions`` are None only where no device was reached."""

    status: Status
    message: str = ""
    code: str = ""
    errors: Errors | None = None
    latency: Latency | None = None
    operators: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    note: str = ""
    versions: Versions | None = None


class Limits(msgspec.Struct, frozen=True):
    """How an operator is timed: ``warmup`` runs that do not count, then ``runs`` that do, fewer where they take more
    than ``timing`` seconds together."""

    warmup: int = 2
    runs: int = 10
    timing: float = 1.0


class Run(msgspec.Struct, tag="run", frozen=True):
    """Try a signature. ``ticket`` comes back with every reply about it. Without ``compare`` no reference is computed:
    the process may have died of it before."""

    ticket: int
    signature: Signature
    seed: int = 0
    limits: Limits = Limits()
    compare: bool = True


class Compare(msgspec.Struct, tag="compare", frozen=True):
    """Run a whole model, and compare its modules with the CPU."""

    ticket: int
    reference: Reference
    inputs: tuple[Input, ...]
    train: bool
    seed: int = 0


class Hello(msgspec.Struct, tag="hello", frozen=True):
    """The worker is ready, and its device has computed something."""

    versions: Versions
    devices: int
    pid: int


class Unable(msgspec.Struct, tag="unable", frozen=True):
    """The worker cannot start. ``for_good``: nor can another (torch_npu does not import, there is no such device)."""

    reason: str
    for_good: bool = False


class Progress(msgspec.Struct, tag="progress", frozen=True):
    """A stage begins. ``so_far`` is what is known already, should the process not survive it."""

    ticket: int
    stage: Stage
    so_far: Outcome | None = None


class Done(msgspec.Struct, tag="done", frozen=True):
    """``healthy`` is false where the device did not compute any more after the operator raised."""

    ticket: int
    outcome: Outcome
    healthy: bool = True


class Compared(msgspec.Struct, tag="compared", frozen=True):
    """``report`` is a ``LayerReport`` of ``opscan.probing.layers.report``."""

    ticket: int
    report: msgspec.Raw


class Failed(msgspec.Struct, tag="failed", frozen=True):
    """The model could not be run. ``kind`` is the name of the error class; ``trace`` a traceback for ``--debug``."""

    ticket: int
    kind: str
    message: str
    hint: str
    trace: str


Request = Run | Compare
Reply = Hello | Unable | Progress | Done | Compared | Failed
