"""What passes between the two processes: one JSON object a line, tagged by ``type``."""

from __future__ import annotations

import msgspec

from opscan.inventory import Inventory
from opscan.loading.inputs import Input
from opscan.loading.onnx_reference import OnnxFileReference
from opscan.loading.reference import Reference
from opscan.substitution.interface import CheckResult, Match
from opscan.text import Text
from opscan.workload import INFERENCE, Workload


class Release(msgspec.Struct, frozen=True):
    """What the tracer must know of the target: the operators with an NPU kernel, those with an NPU derivative of
    their own, and those that autocast treats. ``foreach`` and ``bfloat16``: what torch_npu lets optimizers and autocast
    use on the chip."""

    torch: str
    torch_npu: str
    registered: frozenset[str]
    differentiable: frozenset[str]
    autocast: frozenset[str] = frozenset()
    foreach: bool = True
    bfloat16: bool = True


class Scan(msgspec.Struct, tag="scan", frozen=True):
    """Trace a model."""

    reference: Reference
    inputs: tuple[Input, ...]
    release: Release
    workload: Workload = INFERENCE


class ScanOnnx(msgspec.Struct, tag="scan-onnx", frozen=True):
    """List the operators of an ONNX file."""

    reference: OnnxFileReference


class Check(msgspec.Struct, tag="check", frozen=True):
    """Compare a replacement with its original, and trace the replacement."""

    match: Match
    release: Release


class Progress(msgspec.Struct, tag="progress", frozen=True):
    stage: str


class Scanned(msgspec.Struct, tag="scanned", frozen=True):
    """``notes``: what was chosen where neither the reference nor the command line says."""

    inventory: Inventory
    notes: tuple[Text, ...] = ()


class Checked(msgspec.Struct, tag="checked", frozen=True):
    """``inventory`` is None where the replacement could not be traced: ``trace_error`` says why."""

    result: CheckResult
    inventory: Inventory | None
    trace_error: str = ""


class Failed(msgspec.Struct, tag="failed", frozen=True):
    """``kind`` is the name of the error class; ``trace`` a traceback for ``--debug``."""

    kind: str
    message: str
    hint: str
    trace: str


Request = Scan | ScanOnnx | Check
Reply = Progress | Scanned | Checked | Failed


def line_of(reply: Reply) -> bytes:
    """A reply as a line. Names of a model are strings of Python, which may hold halves of surrogate pairs that no
    encoding has: they travel as their escapes, ``\\ud800``."""
    try:
        return msgspec.json.encode(reply) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(reply, str_keys=True))) + b"\n"


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(each) for each in value]
    return value
