"""A torch_npu in little, made by the C compiler at hand, and the simulated runtime for it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from opscan.errors import OpscanError
from opscan.probing.simulator import build
from opscan.probing.simulator.compiler import find_compiler, run_compiler
from opscan.probing.simulator.runtime import SimulatedRuntime

HERE = Path(__file__).parent


def shared_library(source: Path, target: Path, *options: str) -> None:
    run_compiler(
        find_compiler(), ["-shared", "-fPIC", "-w", "-O1", "-o", str(target), str(source), *options], target.parent
    )


@pytest.fixture(scope="session")
def small_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        find_compiler()
    except OpscanError as error:
        pytest.skip(error.message)
    package = tmp_path_factory.mktemp("site") / "torch_npu"
    (package / "lib").mkdir(parents=True)
    (package / "version.py").write_text("__version__ = '9.9.9'\n")
    stub = package / "lib" / "empty.c"
    stub.write_text("int malloc_of_another_library(void) { return 0; }\n")
    shared_library(stub, package / "lib" / "libnew_of_cann.so")
    shared_library(
        HERE / "adapter.c", package / "lib" / "libtorch_npu.so", "-Llib", f"-L{package}/lib", "-lnew_of_cann"
    )
    (package / "lib" / "libnew_of_cann.so").unlink()
    return package


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user cache that is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "opscan" / "simulated_cann"


class Simulator:
    """The libraries in this process: CANN's functions, the kernels' callers, and the runtime's own interface."""

    def __init__(self, folder: Path, caller: Path) -> None:
        self.acl = ctypes.CDLL(str(folder / "libascendcl.so"), ctypes.RTLD_GLOBAL)
        ctypes.CDLL(str(folder / "libopapi.so"), ctypes.RTLD_GLOBAL)
        self.caller = ctypes.CDLL(str(caller))
        self.runtime = SimulatedRuntime.attach(str(folder / "libascendcl.so"))
        for name in ("aclCreateTensor", "aclCreateScalar", "aclCreateTensorList", "aclCreateTensorDesc"):
            getattr(self.acl, name).restype = ctypes.c_void_p
        for name in ("aclCreateIntArray", "aclCreateBoolArray", "aclCreateFloatArray", "aclCreateScalarList"):
            getattr(self.acl, name).restype = ctypes.c_void_p

    def call(self, name: str, *arguments: int | ctypes.c_double | None) -> None:
        """A function of ``caller.c``; whole numbers are handles."""
        given = [ctypes.c_void_p(value) if isinstance(value, int | None) else value for value in arguments]
        getattr(self.caller, name)(*given)

    def tensor(self, dtype: int, *dims: int, format: int = 2) -> int:
        sizes = (ctypes.c_int64 * len(dims))(*dims)
        count = ctypes.c_uint64(len(dims))
        made = self.acl.aclCreateTensor(sizes, count, dtype, sizes, ctypes.c_int64(0), format, sizes, count, None)
        assert isinstance(made, int)
        return made

    def scalar(self, dtype: int, value: ctypes._SimpleCData[float]) -> int:
        made = self.acl.aclCreateScalar(ctypes.byref(value), dtype)
        assert isinstance(made, int)
        return made

    def array(self, function: str, values: ctypes.Array[ctypes._SimpleCData[int]]) -> int:
        made = getattr(self.acl, function)(values, ctypes.c_uint64(len(values)))
        assert isinstance(made, int)
        return made

    def handles(self, function: str, *handles: int | None) -> int:
        return self.array(function, (ctypes.c_void_p * len(handles))(*handles))  # type: ignore[arg-type]

    def description(self, dtype: int, *dims: int, format: int = 2) -> int:
        made = self.acl.aclCreateTensorDesc(dtype, len(dims), (ctypes.c_int64 * len(dims))(*dims), format)
        assert isinstance(made, int)
        return made


@pytest.fixture(scope="session")
def loaded(small_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    folder = tmp_path_factory.mktemp("runtime")
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_CACHE_HOME", str(folder))
    runtime = build.runtime_for(small_package)
    patch.undo()
    caller = folder / "libcaller.so"
    shared_library(HERE / "caller.c", caller, "-pthread", f"-L{runtime}", "-lopapi", "-lascendcl")
    return Simulator(runtime, caller)


@pytest.fixture
def simulator(loaded: Simulator) -> Iterator[Simulator]:
    """The runtime without events, limits and shapes of another test."""
    yield loaded
    loaded.runtime.discard()
    loaded.runtime.copy_limit(None)
    loaded.runtime.forget_shapes()
