"""A probe of a model from beginning to end: one trace, the distinct signatures of it, one pool of devices."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from opscan import __version__
from opscan.errors import UsageError
from opscan.inventory import Inventory
from opscan.loading.inputs import InputSpec
from opscan.loading.reference import PythonFileReference
from opscan.matrix.query import Matrix
from opscan.matrix.releases import installed_torch, resolve_target
from opscan.probing import probe
from opscan.probing.interrupt import interruption
from opscan.probing.pool import Options
from opscan.probing.probed import Probed, summarise
from opscan.probing.protocol import Versions
from opscan.probing.signature import distinct
from opscan.probing.worker_process import Start
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.host import Worker
from opscan.worker.protocol import Scan

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What the command line asked for. ``interpreter`` is the Python that has torch_npu; None for opscan's own."""

    reference: PythonFileReference
    inputs: tuple[InputSpec, ...] = ()
    train: bool = False
    devices: tuple[int, ...] = (0,)
    interpreter: Path | None = None
    fresh: bool = False
    options: Options = field(default_factory=Options)


def probe_model(
    request: ProbeRequest, progress: Progress, store_for: Callable[[Versions], probe.Store] | None
) -> Probed:
    """Raises NoNpu where no device answers, and what tracing raises.

    ``store_for`` opens the outcomes of earlier probes for what the devices turned out to be.
    """
    start = _start(request)
    progress("starting torch_npu")
    versions = probe.greet(start, request.devices, request.options.start_limit, Event())
    inventory = _inventory(request, _target(versions), progress)
    # A simulated device is asked anew each time: its answers are not worth keeping.
    store = store_for(versions) if store_for is not None and not versions.simulated else None
    with interruption() as interrupt:
        tried = probe.try_all(
            distinct(inventory.calls), start, request.devices, request.options, store, progress, interrupt
        )
    return Probed(
        tool=__version__,
        model=inventory.reference,
        versions=versions,
        devices=tried.devices,
        complete=tried.complete and not versions.simulated,
        interrupted=tried.interrupted,
        summary=summarise(tried.ops),
        ops=tried.ops,
        unseen=inventory.trace.unseen,
    )


def _start(request: ProbeRequest) -> Start:
    backend = os.environ.get(probe.BACKEND, "npu")
    if backend not in ("npu", "fake"):
        raise UsageError(f"{probe.BACKEND}={backend}: no such device.", "Unset it.")
    interpreter = request.interpreter or Path(sys.executable)
    return Start(interpreter, "fake" if backend == "fake" else "npu", {})


def _target(versions: Versions) -> Target:
    """What the devices are, where the matrix knows it: the trace decomposes operators as that release does. The rest
    is as for a scan."""
    torch = installed_torch()
    torch_npu = _if_known(versions.torch_npu, lambda name: resolve_target(torch_npu=name))
    cann = _if_known(versions.cann, lambda name: resolve_target(cann=name))
    soc = _if_known(versions.soc, lambda name: resolve_target(soc=name))
    return resolve_target(torch_npu, cann, soc, host_torch=torch)[0]


def _if_known(name: str, resolve: Callable[[str], object]) -> str | None:
    try:
        resolve(name)
    except UsageError:
        return None
    return name


def _inventory(request: ProbeRequest, target: Target, progress: Progress) -> Inventory:
    progress("tracing the model")
    with Worker() as worker:
        release = release_for(Matrix.load(target))
        return worker.scan(Scan(request.reference, request.inputs, release, request.train), progress).inventory
