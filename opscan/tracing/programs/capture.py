"""What the tracers ``export``, ``fx`` and ``jit`` share: the model is captured as a program, and the dispatch tracer
runs that program operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from opscan.errors import CaptureError, ModelError
from opscan.inventory import Finding, Inventory
from opscan.tracing.assumptions import ONE_PATH
from opscan.tracing.failures import reason
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.recording import RecordingMode
from opscan.tracing.source import SourceLocator

#: Bytes of a constant that is worth telling of.
LARGE = 4096

HINT = "Leave --tracer away: the default runs the model instead of capturing it."


@dataclass(frozen=True, slots=True)
class Captured:
    """A program that takes the model's arguments. ``findings`` and ``unseen``: what capturing it told."""

    program: Callable[..., Any]
    findings: tuple[Finding, ...] = ()
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a model is captured: weights and inputs are fake tensors on the traced device. ``train``: it will be run
    backward, too."""

    recorder: RecordingMode
    locator: SourceLocator
    fake_mode: FakeTensorMode
    train: bool


class Capture(Protocol):
    """Errors pass through: whose they are is found out by whoever asked."""

    def __call__(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], setting: Setting) -> Captured: ...


class Dispatcher(Protocol):
    """The dispatch tracer. A process can have one only."""

    device: torch.device

    def trace(
        self,
        recipe: Recipe,
        options: TraceOptions,
        progress: Callable[[str], None],
        capture: Capture | None = None,
    ) -> Inventory: ...


def inventory_of(
    name: str,
    capture: Capture,
    dispatch: Dispatcher,
    recipe: Recipe,
    options: TraceOptions,
    progress: Callable[[str], None],
) -> Inventory:
    """The captured program's inventory. Raises CaptureError where ``capture`` cannot follow a model that runs, and
    ModelError where the model does not run.
    """
    failed: list[CaptureError] = []

    def attempted(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], setting: Setting) -> Captured:
        try:
            return capture(model, args, kwargs, setting)
        except Exception as error:
            failed.append(cannot_follow(name, error, setting.locator))
            raise

    try:
        inventory = dispatch.trace(recipe, options, progress, attempted)
    except ModelError as error:
        raise blamed(failed[-1] if failed else error, name, dispatch, recipe, options, progress) from error.__cause__
    return renamed(inventory, name)


def blamed(
    error: CaptureError | ModelError,
    name: str,
    dispatch: Dispatcher,
    recipe: Recipe,
    options: TraceOptions,
    progress: Callable[[str], None],
) -> CaptureError:
    """The tracer's failure, where the model runs when it is not captured. Raises the model's own error otherwise."""
    progress("running the model without capturing it")
    dispatch.trace(recipe, options, progress)
    if isinstance(error, CaptureError):
        return error
    return CaptureError(f"What the tracer {name} captured does not run, while the model does. {error.message}", HINT)


def cannot_follow(name: str, error: BaseException, locator: SourceLocator) -> CaptureError:
    where = locator.of_error(error)
    place, text = (f" at {where[0]}:{where[1]}", f"\n    {where[2]}") if where else ("", "")
    return CaptureError(f"The tracer {name} cannot follow the model{place}: {reason(error)}.{text}", HINT)


def renamed(
    inventory: Inventory, name: str, findings: tuple[Finding, ...] = (), unseen: tuple[str, ...] = ()
) -> Inventory:
    """What the dispatch tracer found, as the tracer's that captured the program; ``findings`` and ``unseen`` are what
    capturing it told."""
    if any(finding.rule == "OPS603" for finding in findings) and ONE_PATH not in inventory.trace.unseen:
        unseen = (*unseen, ONE_PATH)
    attempts = (replace(attempt, tracer=name) for attempt in inventory.trace.attempts)
    told = inventory.trace.unseen + unseen
    trace = replace(inventory.trace, tracer=name, attempts=tuple(attempts), unseen=told, complete=not told)
    return replace(inventory, trace=trace, findings=inventory.findings + findings)


def described(tensor: torch.Tensor) -> str:
    """``float32[64, 64], 16 KB``."""
    return f"{str(tensor.dtype)[6:]}{list(tensor.shape)}, {max(tensor.nbytes // 1024, 1)} KB"
