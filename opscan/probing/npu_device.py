"""An NPU through the real torch_npu. Importing this module imports torch_npu: for a worker's process only."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch import nn

from opscan.probing.device import NoDevice, Seen
from opscan.probing.protocol import Versions
from opscan.probing.signature import Signature

#: What torch_npu's fallback calls first, whatever the operator: seen in profiles of release 2.13.0.
_FALLBACK_BEGINS = "aten::_to_cpu"


class NpuDevice:
    """Implements ``opscan.probing.device.Device``."""

    def __init__(self, index: int) -> None:
        """Raises NoDevice where torch_npu does not import, there is no such device, or it does not compute."""
        try:
            import torch_npu
        except (ImportError, OSError, RuntimeError) as error:
            raise NoDevice(f"torch_npu does not import: {error}", for_good=True) from error
        self.name = f"npu:{index}"
        self._npu: Any = torch.npu  # type: ignore[attr-defined]
        self.count = self._devices()
        if index >= self.count:
            raise NoDevice(f"there is no device {index}: torch_npu sees {self.count}", for_good=True)
        try:
            self._npu.set_device(index)
            two = self._two()
        except RuntimeError as error:
            raise NoDevice(f"the device {self.name} does not answer: {error}") from error
        simulated = _is_simulated()
        if two != 2 and not simulated:
            raise NoDevice(f"the device {self.name} computes 1 + 1 = {two}")
        self.versions = Versions(
            str(torch.__version__),
            str(torch_npu.__version__),
            _cann(),
            str(self._npu.get_device_name(index)),
            simulated,
        )

    def _devices(self) -> int:
        try:
            return int(self._npu.device_count())
        except RuntimeError as error:
            raise NoDevice(f"torch_npu finds no device: {error}") from error

    def _two(self) -> float:
        one = torch.ones(1, device=self.name)
        two = float((one + one).cpu())
        self._npu.synchronize()
        return two

    def observe(self, signature: Signature, call: Callable[[], Any]) -> Seen:
        """Under a profiler, which sees every operator that the dispatcher runs inside and every kernel of the adapter:
        the adapter itself warns of a fallback only once a process."""
        with _profile() as events:
            result = call()
        self.synchronize()
        fallbacks = [e.cpu_parent.name for e in events if e.name == _FALLBACK_BEGINS and e.cpu_parent is not None]
        kernels = [e.name for e in events if e.name.startswith("aclnn")]
        return Seen(result, tuple(dict.fromkeys(fallbacks)), tuple(kernels))

    def synchronize(self) -> None:
        self._npu.synchronize()

    def empty_cache(self) -> None:
        with suppress(RuntimeError):
            self._npu.empty_cache()

    def prepare(self, model: nn.Module) -> None:
        pass

    def computes(self) -> bool:
        try:
            two = self._two()
        except RuntimeError:
            return False
        return two == 2 or self.versions.simulated


@contextmanager
def _profile() -> Iterator[list[Any]]:
    """The events are there when the block has ended; none where this torch has another profiler, for what an operator
    does matters more than what was seen inside it."""
    events: list[Any] = []
    try:
        profiler = torch.autograd.profiler.profile(use_kineto=False)
        profiler.__enter__()
    except (TypeError, RuntimeError, AttributeError):
        yield events
        return
    try:
        yield events
    finally:
        with suppress(RuntimeError):
            profiler.__exit__(None, None, None)
            events.extend(profiler.function_events or ())


def _cann() -> str:
    """The release of the CANN that is loaded, empty where this torch_npu cannot tell."""
    with suppress(ImportError, AttributeError, RuntimeError):
        from torch_npu.npu.utils import get_cann_version

        return str(get_cann_version())
    return ""


def _is_simulated() -> bool:
    """Whether the CANN library of this process is opscan's simulated runtime, which says so by a symbol."""
    try:
        library = ctypes.CDLL("libascendcl.so")
    except OSError:
        return False
    return hasattr(library, "opscan_sim_interface")
