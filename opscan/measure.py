"""Measurements on the NPUs of this machine: whether there are any, what they are, and what they make of signatures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Literal

from opscan.errors import OpscanError, UsageError
from opscan.inventory import OpCall
from opscan.matrix.releases import installed_torch, resolve_target
from opscan.probing import probe
from opscan.probing.interrupt import interruption
from opscan.probing.judgement import Measured, measured
from opscan.probing.pool import Options
from opscan.probing.probe import NoNpu, Tried
from opscan.probing.protocol import Versions
from opscan.probing.results import ResultStore
from opscan.probing.signature import Signature, distinct
from opscan.probing.worker_process import FAKE_SOC, Start
from opscan.target import Target
from opscan.text import Text

ProbeChoice = Literal["auto", "require", "off"]
Progress = Callable[[str], None]

#: Where the driver shows its devices.
_DEVICES = "davinci[0-9]*"


@dataclass(frozen=True, slots=True)
class Npus:
    """Which devices to use, and how. ``interpreter`` is the Python that has torch_npu, None for opscan's own.
    ``fresh``: what earlier probes found is not taken."""

    devices: tuple[int, ...] = (0,)
    interpreter: Path | None = None
    fresh: bool = False
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class Reached:
    """Devices that answered, and what they are."""

    npus: Npus
    start: Start
    versions: Versions


@dataclass(frozen=True, slots=True)
class Measurements:
    """Verdicts by the key of their signature. ``failure`` says why some or all are missing though they were asked for;
    ``notes`` are for the report."""

    by_key: Mapping[str, Measured] = field(default_factory=dict)
    failure: str = ""
    notes: tuple[Text, ...] = ()


def at_hand() -> bool:
    """Whether this machine seems to have an NPU, and this Python a torch_npu. Nothing is loaded."""
    if os.environ.get(probe.BACKEND) == "fake":
        return True
    return any(Path("/dev").glob(_DEVICES)) and find_spec("torch_npu") is not None


def reach(npus: Npus) -> Reached:
    """Raises NoNpu where no device answers."""
    backend = os.environ.get(probe.BACKEND, "npu")
    if backend not in ("npu", "fake"):
        raise UsageError(f"{probe.BACKEND}={backend}: no such device.", "Unset it.")
    start = Start(npus.interpreter or Path(sys.executable), "fake" if backend == "fake" else "npu", {})
    return Reached(npus, start, probe.greet(start, npus.devices, npus.options.start_limit, Event()))


def try_signatures(reached: Reached, counts: Mapping[Signature, int], progress: Progress) -> Tried:
    """An outcome for each signature, of an earlier probe where there is one. An interrupt ends it in good order: the
    result says so.
    """
    store = ResultStore.open(reached.versions, reached.npus.fresh) if _is_worth_keeping(reached) else None
    with interruption() as interrupt:
        return probe.try_all(
            counts, reached.start, reached.npus.devices, reached.npus.options, store, progress, interrupt
        )


def _is_worth_keeping(reached: Reached) -> bool:
    """What a simulated device answers is not, nor what the fake one does where it was told to pass for an NPU."""
    pretends = reached.start.backend == "fake" and reached.versions.soc != FAKE_SOC
    return not reached.versions.simulated and not pretends


def target_of(versions: Versions) -> Target:
    """What devices are, where the matrix knows it; the rest is as for a scan."""
    torch_npu = _if_known(versions.torch_npu, lambda name: resolve_target(torch_npu=name))
    cann = _if_known(versions.cann, lambda name: resolve_target(cann=name))
    soc = _if_known(versions.soc, lambda name: resolve_target(soc=name))
    return resolve_target(torch_npu, cann, soc, host_torch=installed_torch())[0]


def _if_known(name: str, resolve: Callable[[str], object]) -> str | None:
    try:
        resolve(name)
    except UsageError:
        return None
    return name


def measure(calls: Sequence[OpCall], choice: ProbeChoice, target: Target, progress: Progress) -> Measurements:
    """Measurements for a scan. With ``auto`` there are none where no NPU is at hand or it is not the target; with
    ``require`` that raises NoNpu. Raises KeyboardInterrupt where it was interrupted."""
    if choice == "off" or target.route != "eager" or (choice == "auto" and not at_hand()):
        return Measurements()
    progress("starting torch_npu on the NPU")
    try:
        reached = reach(Npus())
        _check_target(reached.versions, target)
    except OpscanError as error:
        if choice == "require":
            raise
        words = error.message
        return Measurements(notes=(Text(f"Nothing was measured: {words}", f"未进行实测：{words}"),))
    tried = try_signatures(reached, distinct(calls), progress)
    if tried.interrupted:
        raise KeyboardInterrupt
    found = {op.key: verdict for op in tried.ops if (verdict := measured(op.signature, op.outcome)) is not None}
    if tried.complete:
        return Measurements(found)
    given_up = "; ".join(f"device {device.index}: {device.given_up}" for device in tried.devices if device.given_up)
    failure = f"{len(found)} of {len(tried.ops)} signatures were measured; {given_up}"
    return Measurements(found, failure, (Text(f"The probe is incomplete: {failure}", f"探测不完整：{failure}"),))


def _check_target(versions: Versions, target: Target) -> None:
    """A measurement says nothing of another release or chip. Raises NoNpu."""
    if versions.simulated:
        raise NoNpu("the device is simulated.", "Use --engine rehearse for it.")
    named = (
        _if_known(versions.torch_npu, lambda name: resolve_target(torch_npu=name)),
        _if_known(versions.soc, lambda name: resolve_target(soc=name)),
    )
    own = target_of(versions)
    if None in named or (own.torch_npu, own.cann, own.soc) != (target.torch_npu, target.cann, target.soc):
        here = f"torch_npu {versions.torch_npu}, CANN {versions.cann or 'unknown'}, {versions.soc}"
        raise NoNpu(
            f"the NPU here is not the target of the scan: it has {here}; the target is torch_npu {target.torch_npu}, "
            f"CANN {target.cann}, {target.soc}.",
            "Name the target that is here with --torch-npu, --cann and --soc, or leave the probe out: --probe off.",
        )
