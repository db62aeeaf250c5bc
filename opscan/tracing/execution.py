"""One run of a model under a recorder: forward, and with training backward and a step of the optimizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from opscan.tracing.module_path import ModulePath
from opscan.tracing.recording import RecordingMode
from opscan.tracing.trees import tensors_in
from opscan.tracing.user_error import in_short


@dataclass(frozen=True, slots=True)
class Execution:
    """``foreach``: whether the optimizer takes its fused-loop kernels, as torch does by itself on an npu."""

    recorder: RecordingMode
    progress: Callable[[str], None]
    foreach: bool

    def run(self, model: Any, args: Any, kwargs: Any, train: bool) -> list[str]:
        """Run the model; what could not be run, in words. Errors of the model pass through."""
        recorder = self.recorder
        recorder.whereabouts.module_path = ModulePath(model)
        recorder.start()
        # A thread of autograd's own would have no line of the user's on its stack.
        with recorder.whereabouts.module_path.following(), torch.autograd.set_multithreading_enabled(False):
            if train:
                return self._train(model, args, kwargs)
            with torch.no_grad():
                model(*args, **kwargs)
        return []

    def _train(self, model: Any, args: Any, kwargs: Any) -> list[str]:
        out = model(*args, **kwargs)
        losses = [t for t in tensors_in(out) if t.requires_grad]
        with self.recorder.paused():
            gradients = [torch.ones_like(t) for t in losses]
        self.progress("tracing backward")
        self.recorder.whereabouts.phase = "backward"
        if not losses:
            return ["Backward and optimizer: no result of the model requires a gradient."]
        torch.autograd.backward(losses, gradients)
        trainable = [p for p in model.parameters() if p.grad is not None] if isinstance(model, nn.Module) else []
        if trainable:
            self.progress("tracing the optimizer")
            self.recorder.whereabouts.phase = "optimizer"
            return self._step(trainable)
        return []

    def _step(self, trainable: list[nn.Parameter]) -> list[str]:
        try:
            torch.optim.AdamW(trainable, foreach=self.foreach).step()
        except Exception as error:  # the optimizer is the trace's own choice, and no fault of the model's
            return [f"The optimizer step: AdamW does not take these gradients ({in_short(error)})."]
        return []
