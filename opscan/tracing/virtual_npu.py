"""A device ``npu`` without torch_npu: fake tensors live on it, and the dispatcher decides as the release's
registrations say.

Only registrations that change what the dispatcher does above the Python dispatch key are made: those of operators
that stock torch would decompose (``CompositeImplicitAutograd``). Every other operator reaches the Python key as
itself, registered or not.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import torch

from opscan.tracing.cuda.streams import Event, Stream


def available() -> bool:
    """Whether this torch can set up a private backend from Python (torch 2.10 and later can)."""
    try:
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend  # noqa: F401
    except ImportError:
        return False
    return hasattr(torch._C, "_acc")


def setup() -> torch.device:
    """Rename the private backend to ``npu`` and return its device; once a process.

    The Python device guard can abort at interpreter exit: leave the process with ``os._exit``.
    """
    from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

    class Npu(_DummyBackendModule):
        """``torch.npu``, as far as torch itself asks, and what migrated code does to set itself up."""

        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 1)
        current_device = staticmethod(lambda: 0)
        is_initialized = staticmethod(lambda: True)
        is_bf16_supported = staticmethod(lambda *args: True)
        _is_in_bad_fork = staticmethod(lambda: False)
        manual_seed = staticmethod(lambda seed: None)
        manual_seed_all = staticmethod(lambda seed: None)
        synchronize = staticmethod(lambda *args: None)
        empty_cache = staticmethod(lambda: None)
        set_device = staticmethod(lambda device: None)
        get_amp_supported_dtype = staticmethod(lambda: [torch.float16, torch.bfloat16])
        get_device_name = staticmethod(lambda device=None: "npu")
        memory_allocated = max_memory_allocated = memory_reserved = staticmethod(lambda device=None: 0)
        get_rng_state = staticmethod(lambda device=None: torch.empty(0, dtype=torch.uint8))
        set_rng_state = staticmethod(lambda state, device=None: None)
        set_compile_mode = staticmethod(lambda **modes: None)
        config = SimpleNamespace()
        Stream, Event = Stream, Event
        stream = device = staticmethod(lambda *args: nullcontext())
        current_stream = default_stream = staticmethod(lambda *args: Stream())
        amp = SimpleNamespace(autocast=lambda *args, **kwargs: torch.autocast("npu", *args, **kwargs))

    _setup_privateuseone_for_python_backend("npu", backend_module=Npu())
    return torch.device("npu:0")


def never(*args: object, **kwargs: object) -> object:
    """The body of every kernel of the virtual device: fake tensors never reach it."""
    raise RuntimeError("a kernel of the virtual npu ran: a tensor escaped the fake mode")
