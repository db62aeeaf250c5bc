"""Autocast that ``--amp`` or the model asks for, and what torch says to it on the chip."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.amp import autocast_mode

from opscan.tracing.patches import Patches
from opscan.tracing.recording import RecordingMode
from opscan.tracing.signature import dtype_name
from opscan.workload import Amp

_DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


@contextmanager
def autocast_for(amp: Amp, recorder: RecordingMode) -> Iterator[None]:
    """The context in which a model runs forward; a finding, where the chip does not have its dtype."""
    if amp == "off":
        yield
        return
    dtype = _DTYPES[amp]
    with recorder.on_its_own_account(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*Disabling autocast")
        context = torch.autocast(recorder.device.type, dtype=dtype)
    if not context._enabled:
        recorder.finding("OPS651", {"dtype": dtype_name(dtype)}, None)
    with context:
        yield


@contextmanager
def autocast_watched(recorder: RecordingMode) -> Iterator[None]:
    """A finding where the model asks for autocast, and torch switches it off for the device."""
    original = autocast_mode.autocast.__init__

    def init(self: Any, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None) -> None:
        original(self, device_type, dtype, enabled, cache_enabled)
        if enabled and self.device == recorder.device.type and not self._enabled:
            recorder.autocast_off(self.fast_dtype)

    patches = Patches()
    patches.set(autocast_mode.autocast, "__init__", init)
    try:
        yield
    finally:
        patches.undo()
