"""Compiling the simulated CANN runtime for one torch_npu, once, into the user's cache."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from opscan.errors import OpscanError
from opscan.probing.simulator.compiler import find_compiler, run_compiler
from opscan.probing.simulator.package import release_of, shared_libraries
from opscan.probing.simulator.symbols import Wanted, wanted_by

SOURCES = Path(__file__).with_name("csrc")

#: What torch_npu calls the chips that opscan's names stand for: one of each family, as ``aclrtGetSocName`` answers.
PRODUCTS = {
    "ascend310b": "Ascend310B4",
    "ascend310p": "Ascend310P3",
    "ascend910": "Ascend910A",
    "ascend910_93": "Ascend910_9392",
    "ascend910b": "Ascend910B3",
    "ascend950dt": "Ascend950DT_9591",
    "ascend950pr": "Ascend950PR_9599",
}

#: ``zig cc`` would add run-time checks of its own.
_FLAGS = ("-std=gnu11", "-O1", "-w", "-fPIC", "-fvisibility=hidden", "-fno-sanitize=undefined", "-pthread")

#: Functions of the aclnn interface that answer a question instead of launching a kernel: csrc has them.
_ANSWERED = frozenset({"aclnnNpuFormatCastCalculateSizeAndFormat"})

_MACHINES = {"EM_X86_64": ("x86_64", "amd64"), "EM_AARCH64": ("aarch64", "arm64")}


def runtime_for(
    package: Path, *, lacking: frozenset[str] = frozenset(), progress: Callable[[str], None] = lambda stage: None
) -> Path:
    """The folder of the compiled libraries for torch_npu's package folder (``…/site-packages/torch_npu``).

    ``lacking``: aclnn APIs that the runtime shall not have, as an older CANN would not. It is built where the cache
    does not have it; two processes at once are fine. Raises OpscanError where there is no compiler or no torch_npu.
    """
    folder = cache_folder() / _key(package, lacking)
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():
                progress("compiling the simulated NPU")
                _build_into(folder, package, lacking)
    except OSError as error:
        raise OpscanError(
            f"The simulated NPU cannot be written to {folder}: {error.strerror}.",
            "Make that folder writable, or name another cache in XDG_CACHE_HOME.",
        ) from error
    return folder


def cache_folder() -> Path:
    return user_cache_path("opscan") / "simulated_cann"


def environment_variables(runtime: Path, soc: str, cann: str) -> dict[str, str]:
    """What a process needs in its environment, from its start on, to load torch_npu on the simulated runtime.

    ``soc``: opscan's name of a chip, or torch_npu's own (``Ascend910B1``).
    """
    paths = [str(runtime), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return {
        "LD_LIBRARY_PATH": os.pathsep.join(paths),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # else `import torch` imports torch_npu
        "TASK_QUEUE_ENABLE": "0",  # else a second thread launches kernels after the call that asked for them
        "OPSCAN_SIMULATED_SOC": PRODUCTS.get(soc, soc),
        "OPSCAN_SIMULATED_CANN": cann,
    }


def _key(package: Path, lacking: Iterable[str]) -> str:
    """A name for the cache: release and machine for people, and a digest of all that the result depends on."""
    digest = hashlib.sha256()
    for path in shared_libraries(package):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            digest.update(file.read(1 << 16))
            file.seek(-min(1 << 16, path.stat().st_size), os.SEEK_END)
            digest.update(file.read())
    for source in [*sorted(SOURCES.iterdir()), *(Path(__file__).with_name(f"{n}.py") for n in ("build", "symbols"))]:
        digest.update(source.read_bytes())
    digest.update("\n".join(sorted(lacking)).encode())
    return f"{release_of(package)}-{platform.machine()}-{digest.hexdigest()[:16]}"


def _build_into(folder: Path, package: Path, lacking: frozenset[str]) -> None:
    """Build beside the final place and move there, so that a folder is there in full or not at all."""
    wanted = wanted_by(package)
    machine = platform.machine().lower()
    if machine not in _MACHINES.get(wanted.machine, ()):
        raise OpscanError(
            f"{package} was made for another machine ({wanted.machine.removeprefix('EM_')}) than this one ({machine}).",
            "Install the torch_npu wheel for this machine.",
        )
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
    try:
        compile_runtime(draft, wanted, lacking)
        draft.chmod(0o755)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def compile_runtime(folder: Path, wanted: Wanted, lacking: frozenset[str]) -> None:
    """Write the stubs and compile all libraries in ``folder``."""
    compiler = find_compiler()
    acl = sorted(wanted.functions - set(wanted.kernels))
    _write(folder / "acl.c", (f"ACL({name})" for name in acl))
    _write(folder / "opapi.c", _kernel_stubs(wanted.kernels, lacking))
    (folder / "empty.c").write_text("extern int nothing_of_its_own;\n", encoding="utf-8")
    sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
    flags = [*_FLAGS, "-I", str(SOURCES)]

    _link(compiler, "ascendcl", [*flags, *sources, "acl.c"], folder)
    _link(compiler, "opapi", [*flags, "opapi.c", "-L.", "-lascendcl"], folder)
    others = ["empty.c", "-Wl,--no-as-needed", "-L.", "-lascendcl", "-lopapi"]
    for name in wanted.libraries:
        if name not in ("ascendcl", "opapi"):
            _link(compiler, name, [*flags, *others], folder)


def _link(compiler: tuple[str, ...], name: str, inputs: list[str], folder: Path) -> None:
    run_compiler(compiler, ["-shared", "-o", f"lib{name}.so", f"-Wl,-soname,lib{name}.so", *inputs], folder)


def _kernel_stubs(kernels: Iterable[str], lacking: frozenset[str]) -> Iterable[str]:
    for name in kernels:
        base = name.removesuffix("GetWorkspaceSize")
        if base not in lacking and name not in _ANSWERED:
            yield f"LAUNCH({name})" if base == name else f"WORKSPACE({base})"


def _write(path: Path, stubs: Iterable[str]) -> None:
    path.write_text("\n".join(['#include "stubs.h"', *stubs, ""]), encoding="utf-8")
