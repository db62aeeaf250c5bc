"""The result of a probe as text."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TextIO

from opscan.probing.probed import Probed, ProbedOp
from opscan.probing.protocol import Errors, Status
from opscan.rendering.inert import shorten
from opscan.rendering.screen import Screen
from opscan.rendering.table import print_table
from opscan.rendering.terminal import summary_console

#: Rows of the list of what did not go well, and characters of a message in it. The file has all of them.
_ROWS = 30
_MESSAGE = 160

#: From the worst to the best; ``native`` is counted only.
_ORDER: tuple[Status, ...] = (
    "wrong", "crashed", "refused", "device_lost", "timeout", "out_of_memory", "fallback", "not_run",
)  # fmt: skip


def print_probed(probed: Probed, written: str | None, stream: TextIO = sys.stdout) -> None:
    screen = Screen(summary_console(stream))
    versions = probed.versions
    screen.line(
        [(probed.model, "bold"), (f"  {versions.soc}, torch_npu {versions.torch_npu}, CANN {versions.cann}", "")]
    )
    screen.blank()
    reused = sum(op.reused for op in probed.ops)
    runs = sum(op.count for op in probed.ops)
    screen.line(
        [(f"{len(probed.ops)} signatures, run {runs} times by the model; {reused} known from earlier probes", "")]
    )
    print_table(screen, ("outcome", "signatures"), [(s, str(n)) for s, n in probed.summary.items() if n])
    _print_slowest(screen, probed)
    _print_troubles(screen, probed)
    _print_ending(screen, probed, written)


def _print_slowest(screen: Screen, probed: Probed) -> None:
    timed = [(op.outcome.latency.median * op.count, op) for op in probed.ops if op.outcome.latency is not None]
    if not timed or probed.versions.simulated:
        return
    timed.sort(key=lambda pair: -pair[0])
    screen.blank()
    screen.line([("Where the time goes", "bold"), (" (single calls, the device synchronised around each)", "")])
    rows = []
    for total, op in timed[:5]:
        latency = op.outcome.latency
        assert latency is not None
        rows.append(
            (op.signature.operator, _sizes(op), f"{latency.median:.1f} µs", str(op.count), f"{total / 1e3:.2f} ms")
        )
    print_table(screen, ("operator", "inputs", "median", "calls", "together"), rows)


def _print_troubles(screen: Screen, probed: Probed) -> None:
    troubles = [op for op in probed.ops if op.outcome.status in _ORDER]
    troubles.sort(key=lambda op: _ORDER.index(op.outcome.status))
    if not troubles:
        return
    screen.blank()
    headers = ("operator", "inputs", "calls", "outcome", "code", "says")
    rows = [
        (op.signature.operator, _sizes(op), str(op.count), op.outcome.status, op.outcome.code, _says(op))
        for op in troubles[:_ROWS]
    ]
    print_table(screen, headers, rows)
    if len(troubles) > _ROWS:
        rest = Counter(op.outcome.status for op in troubles[_ROWS:])
        screen.line([(f"… and {', '.join(f'{n} {status}' for status, n in rest.items())}", "")])


def _print_ending(screen: Screen, probed: Probed, written: str | None) -> None:
    screen.blank()
    if probed.versions.simulated:
        screen.line(
            [("The device is simulated", "bold"), (": nothing here was measured. Use opscan rehearse for it.", "")]
        )
    for device in probed.devices:
        if device.given_up:
            screen.line([(f"Device {device.index} was given up", "bold"), (f": {device.given_up}", "")])
    if probed.interrupted:
        screen.line([("Interrupted", "bold"), (": what was tried until then is kept.", "")])
    elif not probed.complete and not probed.versions.simulated:
        screen.line([("Incomplete", "bold"), (": not every signature was tried.", "")])
    for warning in probed.warnings:
        screen.line([("Warning: ", "bold"), (warning, "")])
    for unseen in probed.unseen:
        screen.line([("The trace may miss: ", "bold"), (unseen, "")])
    if written is not None:
        screen.line([("Written: ", "bold"), (written, "")])


def _sizes(op: ProbedOp) -> str:
    tensors = [f"{t.dtype}[{','.join(map(str, t.shape))}]" for t in op.signature.tensors]
    return shorten(" ".join(tensors), 60)


def _says(op: ProbedOp) -> str:
    outcome = op.outcome
    if outcome.status == "fallback":
        return f"on the CPU: {', '.join(outcome.operators)}"
    if outcome.status == "wrong" and outcome.errors is not None:
        return departure(outcome.errors)
    return shorten(" ".join(outcome.message.split()), _MESSAGE)


def departure(errors: Errors) -> str:
    """How far results are from the reference, in words."""
    parts = [f"{errors.nonfinite} elements not finite on one side"] if errors.nonfinite else []
    if errors.unequal:
        parts.append(f"{errors.unequal} elements differ")
    if errors.max_rel is not None:
        parts.append(f"relative error {errors.max_rel:.2g}, {errors.rtol:.2g} is allowed")
    if errors.max_abs is not None:
        parts.append(f"absolute error {errors.max_abs:.2g}")
    return ", ".join(parts)
