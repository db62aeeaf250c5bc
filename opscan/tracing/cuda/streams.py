"""Streams and events of ``torch.cuda``, where there is nothing to wait for.

What is a class stays one: code inherits from it, annotates with it (``torch.cuda.Stream | None``), asks ``isinstance``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Protocol

import torch

from opscan.tracing.patches import Patches


class StreamObserver(Protocol):
    """Who is told that the model's code names CUDA."""

    def cuda_named(self, what: str) -> None: ...
    def is_torch_calling(self) -> bool: ...


class Stream:
    """A stream on which everything is done already."""

    device = torch.device("cpu")

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None: ...
    def synchronize(self) -> None: ...
    def wait_stream(self, stream: Any) -> None: ...
    def wait_event(self, event: Any) -> None: ...
    def record_event(self, event: Any = None) -> Any:
        return event or Event()

    def query(self) -> bool:
        return True


class Event:
    """An event that has happened."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def record(self, stream: Any = None) -> None: ...
    def wait(self, stream: Any = None) -> None: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool:
        return True

    def elapsed_time(self, other: Any) -> float:
        return 0.0


class Guard(nullcontext[None]):
    """``torch.cuda.device(0)`` as a context: there is one device."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(None)


def patch_streams(patches: Patches, observer: StreamObserver) -> None:
    kinds: tuple[tuple[str, Any], ...] = (("Stream", Stream), ("Event", Event), ("device", Guard), ("device_of", Guard))
    for name, kind in kinds:
        patches.set(torch.cuda, name, _reported_class(name, kind, observer))
    of_cuda: Any = torch.cuda.Stream
    for name in ("current_stream", "default_stream"):
        patches.set(torch.cuda, name, _reported(name, lambda: of_cuda.__new__(of_cuda), observer))
    patches.set(torch.cuda, "stream", _reported("stream", Guard, observer))
    patches.set(torch.Tensor, "record_stream", lambda self, stream: None)


def _reported(name: str, make: Callable[..., Any], observer: StreamObserver) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if not observer.is_torch_calling():
            observer.cuda_named(f"torch.cuda.{name}")
        return make()

    return call


def _reported_class(name: str, kind: Any, observer: StreamObserver) -> type:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if not observer.is_torch_calling():
            observer.cuda_named(f"torch.cuda.{name}")
        kind.__init__(self, *args, **kwargs)

    return type(name, (kind,), {"__init__": init})
