"""A whole model on an NPU, module by module, from beginning to end."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import msgspec

from opscan import __version__, errors
from opscan.errors import OpscanError
from opscan.loading.inputs import Input
from opscan.loading.reference import Reference
from opscan.measure import Npus, reach
from opscan.probing.layers.report import LayerReport, NoLayers
from opscan.probing.probe import NoNpu
from opscan.probing.protocol import Compare, Failed, Versions
from opscan.probing.worker_process import Lost, StartFailed, WorkerProcess

SCHEMA = 1


class ModelLost(OpscanError):
    """The process that ran the model on the device is gone: nothing was compared to the end."""

    exit_code = 3


class Layered(msgspec.Struct, frozen=True, kw_only=True):
    """The file of a comparison."""

    schema: int = SCHEMA
    kind: str = "layers"
    tool: str
    model: str
    versions: Versions
    report: LayerReport


def compare_model(
    reference: Reference,
    inputs: tuple[Input, ...],
    train: bool,
    npus: Npus,
    limit: float,
    progress: Callable[[str], None],
) -> Layered:
    """Run the model on the first of the devices, for at most ``limit`` seconds.

    Raises NoNpu where it does not answer or does not compute, ModelLost where the process dies, and what the model
    itself raises.
    """
    progress("starting torch_npu")
    reached = reach(npus)
    if reached.versions.simulated:
        raise NoNpu(
            "The device is simulated: it does not compute, so there is nothing to compare.",
            "opscan rehearse says what the model launches there.",
        )
    worker = WorkerProcess(reached.start, npus.devices[0], Event().is_set)
    try:
        worker.greeted(npus.options.start_limit)
        progress("comparing the model's modules with the CPU")
        reply = worker.compare(Compare(0, reference, inputs, train), limit)
    except StartFailed as error:
        raise NoNpu(f"The NPU does not answer any more: {error.reason}.", "opscan doctor looks at it.") from error
    finally:
        worker.end()
    if isinstance(reply, Lost):
        raise ModelLost(
            f"The process that ran the model on the NPU {reply.reason}.",
            "opscan probe MODEL without --layers finds the operator: it tries them one by one.",
        )
    if isinstance(reply, Failed):
        raise _as_error(reply)
    report = msgspec.json.decode(reply.report, type=LayerReport)
    return Layered(tool=__version__, model=str(reference), versions=reached.versions, report=report)


class WorkerTraceback(Exception):
    """The traceback of the other process, as text: the cause of an error that came from there."""


def _as_error(reply: Failed) -> OpscanError:
    kind = NoLayers if reply.kind == "NoLayers" else getattr(errors, reply.kind, OpscanError)
    error: OpscanError = kind(reply.message, reply.hint)
    error.__cause__ = WorkerTraceback(reply.trace)
    return error
