"""The CPU in the place of an NPU, with faults on demand: recovery is tested by the real worker and the real pool.

The faults are a JSON file that ``OPSCAN_PROBE_FAULTS`` names; ``Faults`` says what is in it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from opscan.probing.device import NoDevice, Seen
from opscan.probing.protocol import Versions
from opscan.probing.signature import Signature
from opscan.probing.worker_process import FAKE_SOC

ENVIRONMENT = "OPSCAN_PROBE_FAULTS"

Kind = Literal[
    "segfault", "exit", "hang", "stop", "garbage", "truncated", "flood", "nan", "wrong", "device_lost", "out_of_memory",
    "refused", "fallback", "slow",
]  # fmt: skip


class Fault(msgspec.Struct, frozen=True):
    """``times``: how often it happens before the operator works; None for always."""

    kind: Kind
    times: int | None = None


class Faults(msgspec.Struct, frozen=True):
    """``calls``: faults by the key of their signature. ``starts``: what a start does (``die``, ``hang``, ``garbage``,
    ``unable``), by its number from "0" over all workers, or every start of one device (``device 1``). ``state``: a
    folder that counts over restarts. ``versions``: what the device says it is. ``modules``: faults by a
    module's name, for the comparison of a whole model.
    """

    state: str
    calls: dict[str, Fault] = {}
    starts: dict[str, str] = {}
    versions: Versions | None = None
    modules: dict[str, Kind] = {}


class FakeDevice:
    """Implements ``opscan.probing.device.Device``. ``protocol`` is the descriptor of the worker's replies."""

    def __init__(self, index: int, protocol: int) -> None:
        self.name = "cpu"
        self.count = 8
        self.versions = Versions(str(torch.__version__), "none", "none", FAKE_SOC)
        self._protocol = protocol
        self._dead = False
        path = os.environ.get(ENVIRONMENT)
        self._faults = msgspec.json.decode(Path(path).read_bytes(), type=Faults) if path else None
        if self._faults is not None:
            self.versions = self._faults.versions or self.versions
            self._start(self._faults.starts.get(str(self._count("starts")), ""))
            self._start(self._faults.starts.get(f"device {index}", ""))

    def _count(self, name: str) -> int:
        """How often this was asked before, over all workers."""
        assert self._faults is not None
        folder = Path(self._faults.state) / name
        folder.mkdir(parents=True, exist_ok=True)
        number = 0
        while True:
            try:
                (folder / str(number)).touch(exist_ok=False)
            except FileExistsError:
                number += 1
            else:
                return number

    def _start(self, what: str) -> None:
        if what == "die":
            os.write(2, b"libfake.so: cannot start\n")
            os._exit(7)
        if what == "hang":
            time.sleep(3600)
        if what == "garbage":
            os.write(self._protocol, b"Warning: this is no protocol\n")
        if what == "unable":
            raise NoDevice("the fake device is not there")

    def observe(self, signature: Signature, call: Callable[[], Any]) -> Seen:
        fault = self._faults.calls.get(signature.key) if self._faults is not None else None
        if fault is None or (fault.times is not None and self._count(signature.key) >= fault.times):
            return Seen(call())
        return self._faulty(fault.kind, call)

    def _faulty(self, kind: Kind, call: Callable[[], Any]) -> Seen:
        before = getattr(self, f"_{kind}", None)
        if before is not None:
            before()
        result = call()
        if kind == "nan":
            return Seen(tree_map_only(Tensor, lambda t: torch.full_like(t, float("nan")), result))
        return Seen(tree_map_only(Tensor, lambda t: t + 1, result)) if kind == "wrong" else Seen(result)

    def synchronize(self) -> None:
        pass

    def empty_cache(self) -> None:
        pass

    def prepare(self, model: nn.Module) -> None:
        """Modules with a fault have it each time they run."""
        for name, kind in (self._faults.modules if self._faults is not None else {}).items():
            model.get_submodule(name).register_forward_hook(self._hook(kind))

    def _hook(self, kind: Kind) -> Callable[[nn.Module, Any, Any], Any]:
        def hook(module: nn.Module, given: Any, result: Any) -> Any:
            return self._faulty(kind, lambda: result).result

        return hook

    def computes(self) -> bool:
        return not self._dead

    # --- faults ---------------------------------------------------------------------------------------------------

    def _segfault(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def _exit(self) -> None:
        os._exit(3)

    def _hang(self) -> None:
        """With a child of its own, as an operator compiler has, and deaf to polite signals."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "3600")
        time.sleep(3600)

    def _garbage(self) -> None:
        os.write(self._protocol, b"\x00\xff{not a reply}\n")

    def _truncated(self) -> None:
        os.write(self._protocol, b'{"type":"done","ticket":')
        os._exit(0)

    def _flood(self) -> None:
        while True:
            os.write(2, b"E" * 4096 + b"\n")

    def _stop(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def _slow(self) -> None:
        time.sleep(0.3)

    def _device_lost(self) -> None:
        self._dead = True
        raise RuntimeError("NPU function error: aclrtSynchronizeStream, error code is 507010\n[Error]: heartbeat lost")

    def _out_of_memory(self) -> None:
        raise RuntimeError("NPU out of memory. Tried to allocate 64.00 GiB (NPU 0; 60.97 GiB total capacity)")

    def _refused(self) -> None:
        raise RuntimeError("call aclnnFake failed, detail:EZ1001: DT_DOUBLE is not supported. error code is 161002")

    def _fallback(self) -> None:
        caution = b"CAUTION: The operator 'aten::fake' is not currently supported on the NPU backend and will fall back"
        os.write(2, b"[W1 VariableFallbackKernel.cpp:1] Warning: " + caution + b" to run on the CPU.\n")
