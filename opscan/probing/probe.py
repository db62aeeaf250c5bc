"""A probe of signatures: what is known already is taken from there, the rest is tried on devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from opscan.errors import OpscanError
from opscan.probing.pool import DeviceState, Options, run_pool
from opscan.probing.probed import ProbedDevice, ProbedOp
from opscan.probing.protocol import Hello, Outcome, Versions
from opscan.probing.signature import Signature
from opscan.probing.worker_process import Start, StartFailed, WorkerProcess

#: Set to ``fake`` to try operators on the CPU in the place of an NPU, faults included: for the work on opscan itself.
BACKEND = "OPSCAN_PROBE_BACKEND"

_HINT = (
    "opscan doctor says what is missing for an NPU. Without one, opscan rehearse MODEL runs the model on the real "
    "torch_npu over a simulated CANN."
)


class NoNpu(OpscanError):
    """No device can be probed here."""


class Store(Protocol):
    """Outcomes of earlier probes, for one torch_npu, CANN and SoC."""

    def get(self, signature: Signature) -> Outcome | None: ...

    def put(self, signature: Signature, outcome: Outcome) -> None: ...


@dataclass(frozen=True, slots=True)
class Tried:
    """``complete``: every signature was tried; ``interrupted``: a signal ended the probe; ``warning``: why outcomes are
    not kept for later probes."""

    ops: tuple[ProbedOp, ...]
    devices: tuple[ProbedDevice, ...]
    complete: bool
    interrupted: bool
    warning: str = ""


def greet(start: Start, devices: Sequence[int], limit: float, interrupt: Event) -> Versions:
    """What the devices are: the greeting of the first that answers. Raises NoNpu where none does."""
    refusals: list[str] = []
    for device in devices:
        try:
            return _hello(start, device, limit, interrupt).versions
        except StartFailed as error:
            refusals.append(error.reason)
        except OSError as error:
            raise NoNpu(f"{start.interpreter} cannot be started: {error.strerror}.", _HINT) from error
    raise NoNpu(f"No NPU can be probed here: {'; '.join(dict.fromkeys(refusals))}.", _HINT)


def _hello(start: Start, device: int, limit: float, interrupt: Event) -> Hello:
    worker = WorkerProcess(start, device, interrupt.is_set)
    try:
        return worker.greeted(limit)
    finally:
        worker.end()


def try_all(
    counts: Mapping[Signature, int],
    start: Start,
    devices: Sequence[int],
    options: Options,
    store: Store | None,
    progress: Callable[[str], None],
    interrupt: Event,
) -> Tried:
    """An outcome for each signature: one that the store has, else what a device made of it."""
    known = {s: outcome for s in counts if store is not None and (outcome := store.get(s)) is not None}
    new = [signature for signature in counts if signature not in known]
    found: dict[Signature, Outcome] = {}
    keeping = _Keeping(store)

    def listen(index: int, outcome: Outcome) -> None:
        signature = new[index]
        found[signature] = outcome
        keeping.put(signature, outcome)
        progress(f"{len(found)} of {len(new)} signatures tried; {signature.operator}: {outcome.status}")

    progress(f"{len(new)} signatures to try, {len(known)} known from earlier probes")
    report = run_pool(start, devices, new, options, listen, interrupt)
    ops = tuple(
        ProbedOp(s.key, s, count, known[s] if s in known else found[s], s in known) for s, count in counts.items()
    )
    return Tried(ops, tuple(map(_device, report.devices)), report.complete, report.interrupted, keeping.warning)


@dataclass(slots=True)
class _Keeping:
    """A store that cannot be written to costs later probes some time, and this one nothing."""

    store: Store | None
    warning: str = ""

    def put(self, signature: Signature, outcome: Outcome) -> None:
        if self.store is None or outcome.status == "not_run":
            return
        try:
            self.store.put(signature, outcome)
        except OpscanError as error:
            self.store, self.warning = None, error.message


def _device(state: DeviceState) -> ProbedDevice:
    return ProbedDevice(state.index, state.starts, state.given_up)
