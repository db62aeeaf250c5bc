"""A probe of a model from beginning to end: one trace, its distinct signatures, one pool of devices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from opscan import __version__
from opscan.chain import follow, plan
from opscan.inventory import Inventory
from opscan.loading.inputs import Input
from opscan.loading.reference import Reference
from opscan.matrix.query import Matrix
from opscan.measure import Npus, reach, target_of, try_signatures
from opscan.probing.probed import Probed, summarise
from opscan.probing.signature import distinct
from opscan.scan import release_for
from opscan.target import Target
from opscan.worker.protocol import Scan
from opscan.workload import INFERENCE, Workload

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What the command line asked for."""

    reference: Reference
    inputs: tuple[Input, ...] = ()
    workload: Workload = INFERENCE
    npus: Npus = field(default_factory=Npus)


def probe_model(request: ProbeRequest, progress: Progress) -> Probed:
    """Raises NoNpu where no device answers, and what tracing raises.

    The model is traced for the release and chip that the device has: operators decompose as they do there.
    """
    progress("starting torch_npu")
    reached = reach(request.npus)
    inventory = _inventory(request, target_of(reached.versions), progress)
    tried = try_signatures(reached, distinct(inventory.calls), progress)
    return Probed(
        tool=__version__,
        model=inventory.reference,
        versions=reached.versions,
        devices=tried.devices,
        complete=tried.complete and not reached.versions.simulated,
        interrupted=tried.interrupted,
        summary=summarise(tried.ops),
        ops=tried.ops,
        unseen=inventory.trace.unseen,
        warnings=(tried.warning,) if tried.warning else (),
    )


def _inventory(request: ProbeRequest, target: Target, progress: Progress) -> Inventory:
    """By the real adapter where its release is at hand: the arguments of its own operators are known there."""
    scan = Scan(request.reference, request.inputs, release_for(Matrix.load(target)), request.workload)
    with ExitStack() as stack:
        followed = follow(
            plan("dispatch", "auto", target, progress),
            lambda worker, progress, time_limit: worker.scan(scan, progress, time_limit),
            progress,
            stack,
        )
        return followed.scanned.inventory
