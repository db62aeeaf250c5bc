"""The result of a probe, as its file holds it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from opscan.probing.protocol import STATUSES, Outcome, Versions
from opscan.probing.signature import Signature

#: Of the file's format.
SCHEMA = 1


class ProbedOp(msgspec.Struct, frozen=True):
    """One signature. ``count``: how often the model runs it. ``reused``: the outcome is that of an earlier probe on the
    same torch_npu, CANN and SoC."""

    key: str
    signature: Signature
    count: int
    outcome: Outcome
    reused: bool = False


class ProbedDevice(msgspec.Struct, frozen=True):
    """``starts`` counts its worker processes; ``given_up`` is the reason, empty where it was used to the end."""

    index: int
    starts: int
    given_up: str = ""


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """``complete``: every signature was tried, on a device that computes. ``summary`` counts signatures by status."""

    schema: int = SCHEMA
    kind: str = "probe"
    tool: str
    model: str
    versions: Versions
    devices: tuple[ProbedDevice, ...]
    complete: bool
    interrupted: bool
    summary: dict[str, int]
    #: Why the trace may not show everything the model runs.
    unseen: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ops: tuple[ProbedOp, ...]


def summarise(ops: Iterable[ProbedOp]) -> dict[str, int]:
    statuses = [op.outcome.status for op in ops]
    return {status: statuses.count(status) for status in STATUSES}


def render_probed(probed: Probed) -> str:
    """JSON, one signature a line."""
    lines = ",\n".join(f"  {msgspec.json.encode(op).decode()}" for op in probed.ops)
    rest = msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(probed, ops=())), indent=1).decode()
    return rest.replace('"ops": []', f'"ops": [\n{lines}\n ]', 1) + "\n" if lines else rest + "\n"
