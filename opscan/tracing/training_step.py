"""What follows the gradients in a training step: scaling, clipping, and the optimizer."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from opscan.errors import UsageError
from opscan.tracing.recording import RecordingMode
from opscan.tracing.user_error import in_short
from opscan.workload import Optimizer

#: What a constructor takes besides options.
_NOT_OPTIONS = ("self", "params")


def check(chosen: Optimizer) -> None:
    """Raises UsageError where this torch has no such optimizer, or it does not take the options."""
    kind = optimizer_class(chosen)
    try:
        _made(kind, [nn.Parameter(torch.zeros(2, 2))], chosen)
    except Exception as error:
        raise UsageError(
            f"--optimizer {chosen.name}: {kind.__name__} does not take these options: {in_short(error)}.",
            f"It takes: {', '.join(_options_of(kind))}.",
        ) from error


def optimizer_class(chosen: Optimizer) -> type[torch.optim.Optimizer]:
    """The class of a name, whose constructor has the options. Raises UsageError."""
    classes = {
        name.lower(): kind
        for name, kind in vars(torch.optim).items()
        if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer) and kind is not torch.optim.Optimizer
    }
    if chosen.name not in classes:
        raise UsageError(
            f"--optimizer {chosen.name}: torch {torch.__version__} does not have it.",
            f"Choose one of: {', '.join(sorted(classes))}.",
        )
    kind = classes[chosen.name]
    takes = _options_of(kind)
    for name, _ in chosen.options:
        if name not in takes:
            raise UsageError(
                f"--optimizer {chosen.name}:{name}=…: {kind.__name__} has no option of that name.",
                f"It takes: {', '.join(takes)}; and clip_grad_norm for all.",
            )
    return kind


def _options_of(kind: type[torch.optim.Optimizer]) -> list[str]:
    return [name for name in inspect.signature(kind).parameters if name not in _NOT_OPTIONS]


def _made(kind: type[torch.optim.Optimizer], parameters: list[nn.Parameter], chosen: Optimizer) -> Any:
    return kind(parameters, **{name: ast.literal_eval(literal) for name, literal in chosen.options})


#: torch before 2.3 has a scaler for CUDA alone, which switches itself off elsewhere.
_Base: Any = getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)


class Scaler(_Base):  # type: ignore[misc]
    """torch's own scaler for float16 training, which steps whatever the gradients hold: those of a trace say nothing
    about those of a training. A scale of one lets none overflow.
    """

    def __init__(self, recorder: RecordingMode) -> None:
        self._recorder = recorder
        if _Base is getattr(torch.amp, "GradScaler", None):
            super().__init__(recorder.device.type, init_scale=1.0)
        else:
            super().__init__(enabled=False)

    @property
    def unseen(self) -> list[str]:
        """What is not scaled, in words."""
        return (
            [] if self.is_enabled() else ["Gradient scaling: this torch has no scaler for the NPU (2.3 and later do)."]
        )

    def _maybe_opt_step(self, optimizer: Any, optimizer_state: Any, *args: Any, **kwargs: Any) -> Any:
        with self._recorder.on_its_own_account():
            for found in optimizer_state["found_inf_per_device"].values():
                found.item()  # as torch asks
        return optimizer.step(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """``again`` runs forward and backward once more and returns the loss, for an optimizer that asks for it."""

    recorder: RecordingMode
    chosen: Optimizer
    scaler: Scaler | None
    again: Callable[[], Any]

    def run(self, trainable: list[nn.Parameter]) -> list[str]:
        """One step; what could not be run, in words."""
        kind = optimizer_class(self.chosen)
        taken, unseen = _taken(kind, trainable)
        if not taken:
            return unseen
        with self.recorder.on_its_own_account() as asked:
            try:
                self._step(kind, taken)
            except Exception as error:  # the optimizer is the trace's own choice, and no fault of the model's
                refused = f"{kind.__name__} does not take these gradients ({in_short(error)})"
                return [*unseen, f"The optimizer step: {refused}."]
        if asked:
            unseen.append(
                f"Other steps of the optimizer: {kind.__name__} asks for values, and one answer each was taken."
            )
        return unseen

    def _step(self, kind: type[torch.optim.Optimizer], taken: list[nn.Parameter]) -> None:
        optimizer = _made(kind, taken, self.chosen)
        if self.scaler is not None:
            self.scaler.unscale_(optimizer)
        if self.chosen.clip_grad_norm is not None:
            nn.utils.clip_grad_norm_(taken, self.chosen.clip_grad_norm)
        if isinstance(optimizer, torch.optim.LBFGS):
            optimizer.step(self.again)
        elif self.scaler is None:
            optimizer.step()
        else:
            self.scaler.step(optimizer)
            self.scaler.update()


def _taken(kind: type[torch.optim.Optimizer], trainable: list[nn.Parameter]) -> tuple[list[nn.Parameter], list[str]]:
    """Parameters that the optimizer takes, and what is said of the others."""
    if kind.__name__ != "Muon":
        return trainable, []
    matrices = [p for p in trainable if p.dim() == 2]
    left = len(trainable) - len(matrices)
    if not left:
        return matrices, []
    what = f"{left} among {len(trainable)} parameters"
    return matrices, [f"The optimizer step of {what}: Muon takes matrices only, and others need another optimizer."]
