"""What the tracers ``export``, ``fx`` and ``jit`` share: the model is captured as a program, and the dispatch tracer
runs that program operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch

from opscan.errors import CaptureError, ModelError
from opscan.inventory import Finding, Inventory
from opscan.tracing.interface import Recipe, TraceOptions
from opscan.tracing.recording import RecordingMode
from opscan.tracing.source import SourceLocator

HINT = "Leave --tracer away: the default runs the model instead of capturing it."


@dataclass(frozen=True, slots=True)
class Captured:
    """A program that takes the model's arguments. ``findings`` and ``unseen``: what capturing it told."""

    program: Callable[..., Any]
    findings: tuple[Finding, ...] = ()
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a model is captured: weights and inputs are fake tensors on the traced device."""

    recorder: RecordingMode
    locator: SourceLocator
    fake_mode: Any


class Capture(Protocol):
    """Raises CaptureError where the tracer cannot follow; errors of the user's own code pass through."""

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
    try:
        inventory = dispatch.trace(recipe, options, progress, capture)
    except ModelError as error:
        progress("running the model without capturing it")
        dispatch.trace(recipe, options, progress)
        raise CaptureError(
            f"The tracer {name} cannot capture the model, which runs all the same. {error.message}", HINT
        ) from error
    return renamed(inventory, name)


def renamed(inventory: Inventory, name: str) -> Inventory:
    """What the dispatch tracer found, as the tracer's that captured the program."""
    attempts = (replace(attempt, tracer=name) for attempt in inventory.trace.attempts)
    return replace(inventory, trace=replace(inventory.trace, tracer=name, attempts=tuple(attempts)))


def cannot_follow(name: str, reason: str, place: str) -> CaptureError:
    """``place`` as of ``SourceLocator.place_of``."""
    return CaptureError(f"The tracer {name} cannot follow the model{place}: {reason}.", HINT)
