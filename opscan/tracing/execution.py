"""One run of a model under a recorder: forward, and with training backward and a step of the optimizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from opscan.tracing.asked_autocast import autocast_for
from opscan.tracing.module_path import ModulePath
from opscan.tracing.recording import RecordingMode
from opscan.tracing.training_step import Scaler, TrainingStep, check
from opscan.tracing.trees import tensors_in
from opscan.workload import Workload


@dataclass(frozen=True, slots=True)
class Execution:
    recorder: RecordingMode
    progress: Callable[[str], None]
    workload: Workload

    def run(self, model: Any, args: Any, kwargs: Any) -> list[str]:
        """Run the model; what could not be run, in words. Errors of the model pass through.

        Raises UsageError where this torch has no such optimizer.
        """
        if self.workload.train:
            check(self.workload.optimizer)
        recorder = self.recorder
        recorder.whereabouts.module_path = ModulePath(model)
        recorder.start()
        # A thread of autograd's own would have no line of the user's on its stack.
        unthreaded = torch.autograd.set_multithreading_enabled(False)
        with recorder.watching(model), recorder.whereabouts.module_path.following(), unthreaded:
            if self.workload.train:
                return self._train(model, args, kwargs)
            with torch.no_grad():
                self._forward(model, args, kwargs)
        return []

    def _forward(self, model: Any, args: Any, kwargs: Any) -> Any:
        with autocast_for(self.workload.amp, self.recorder):
            return model(*args, **kwargs)

    def _train(self, model: Any, args: Any, kwargs: Any) -> list[str]:
        scaler = Scaler(self.recorder) if self.workload.amp == "fp16" else None
        losses = self._backward(model, args, kwargs, scaler)
        if not losses:
            return ["Backward and optimizer: no result of the model requires a gradient."]
        trainable = [p for p in model.parameters() if p.grad is not None] if isinstance(model, nn.Module) else []
        if not trainable:
            return []

        def again() -> Any:
            for parameter in trainable:
                parameter.grad = None
            try:
                return sum(loss.detach().sum() for loss in self._backward(model, args, kwargs, None))
            finally:
                self.recorder.whereabouts.phase = "optimizer"

        self.progress("tracing the optimizer")
        self.recorder.whereabouts.phase = "optimizer"
        step = TrainingStep(self.recorder, self.workload.optimizer, scaler, again)
        return step.run(trainable) + (scaler.unseen if scaler else [])

    def _backward(self, model: Any, args: Any, kwargs: Any, scaler: Scaler | None) -> list[torch.Tensor]:
        """Forward and backward; the results that have a gradient."""
        recorder = self.recorder
        recorder.whereabouts.phase = "forward"
        losses = [t for t in tensors_in(self._forward(model, args, kwargs)) if t.requires_grad]
        self.progress("tracing backward")
        recorder.whereabouts.phase = "backward"
        if not losses:
            return []
        scaled = losses
        if scaler is not None:
            with recorder.on_its_own_account():
                scaled = scaler.scale(losses)
        with recorder.paused():
            gradients = [torch.ones_like(t) for t in scaled]
        torch.autograd.backward(scaled, gradients)
        return losses
