"""What is built, where it is kept, and what is said where it cannot be built."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opscan.errors import OpscanError
from opscan.matrix.data import support_matrix_dir
from opscan.probing.simulator import build, compiler, symbols


def exported(library: Path) -> frozenset[str]:
    return symbols._read(library).defined


def test_wanted_is_what_is_undefined_or_looked_up_and_not_the_packages_own(small_package):
    wanted = symbols.wanted_by(small_package)
    assert wanted.functions == {
        "aclInit", "aclrtMalloc", "aclrtFree", "HcclAllReduce", "_ZN2ge8OperatorC2EPKcS2_", "aclnnAdd",
        "aclnnAddGetWorkspaceSize", "aclnnMany", "aclnnManyGetWorkspaceSize", "aclnnSub", "aclnnSubGetWorkspaceSize",
    }  # fmt: skip
    assert "new_of_cann" in wanted.libraries
    assert "c" not in wanted.libraries


def test_every_library_is_there_and_has_what_is_wanted(small_package, cache):
    folder = build.runtime_for(small_package)
    assert folder.parent == cache
    assert folder.name.startswith("9.9.9-")
    names = {path.name for path in folder.glob("*.so")}
    assert names >= {"libascendcl.so", "libopapi.so", "libhccl.so", "libge_runner.so", "libnew_of_cann.so"}
    assert exported(folder / "libopapi.so") >= {"aclnnAdd", "aclnnAddGetWorkspaceSize", "aclnnSub"}
    acl = exported(folder / "libascendcl.so")
    assert acl >= {"aclInit", "aclrtMalloc", "_ZN2ge8OperatorC2EPKcS2_", "opscan_sim_drain"}
    assert not acl & {"log_event", "handle_make"}
    assert [path.name for path in cache.iterdir() if path.name.startswith(".")] == []


def test_a_lacking_api_is_missing_with_its_first_call(small_package, cache):
    folder = build.runtime_for(small_package, lacking=frozenset({"aclnnAdd"}))
    names = exported(folder / "libopapi.so")
    assert not {name for name in names if name.startswith("aclnnAdd")}
    assert "aclnnMany" in names
    assert build.runtime_for(small_package) != folder


def test_the_second_call_builds_nothing(small_package, cache, monkeypatch):
    stages: list[str] = []
    folder = build.runtime_for(small_package, progress=stages.append)
    monkeypatch.setattr(build, "compile_runtime", lambda *arguments: pytest.fail("built again"))
    assert build.runtime_for(small_package, progress=stages.append) == folder
    assert stages == ["compiling the simulated NPU"]


def test_two_calls_at_once_build_once(small_package, cache, monkeypatch):
    built: list[Path] = []
    original = build.compile_runtime

    def compile_once(folder: Path, *rest: object) -> None:
        built.append(folder)
        original(folder, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(build, "compile_runtime", compile_once)
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: build.runtime_for(small_package), range(4)))
    assert (len(folders), len(built)) == (1, 1)


def test_two_processes_at_once_get_the_same(small_package, cache):
    program = (
        "import sys; from pathlib import Path; from opscan.probing.simulator.build import runtime_for;"
        "print(runtime_for(Path(sys.argv[1]), progress=lambda stage: print(stage)))"
    )
    command = [sys.executable, "-c", program, str(small_package)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [child.communicate()[0].split("\n") for child in children]
    assert {child.returncode for child in children} == {0}
    assert len({lines[-2] for lines in printed}) == 1
    assert sum(line == "compiling the simulated NPU" for lines in printed for line in lines) == 1


def test_another_adapter_is_another_runtime(small_package, cache, tmp_path):
    other = tmp_path / "torch_npu"
    (other / "lib").mkdir(parents=True)
    library = (small_package / "lib" / "libtorch_npu.so").read_bytes()
    (other / "lib" / "libtorch_npu.so").write_bytes(library + b"\0")
    assert build._key(other, ()) != build._key(small_package, ())


def test_no_compiler_says_what_to_install(small_package, cache, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiler.shutil, "which", lambda name: None)
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OpscanError, match="has no C compiler") as raised:
        build.runtime_for(small_package)
    assert "pip install 'opscan-npu[rehearse]'" in raised.value.hint
    assert [path for path in cache.iterdir() if path.suffix != ".lock"] == []


def test_ziglang_stands_in_for_a_compiler(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiler.shutil, "which", lambda name: None)
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: object() if name == "ziglang" else None)
    assert compiler.find_compiler() == (sys.executable, "-m", "ziglang", "cc")


def test_the_users_compiler_counts_first(monkeypatch):
    monkeypatch.setenv("CC", f"{sys.executable} -v")
    assert compiler.find_compiler() == (sys.executable, "-v")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(OpscanError, match="does not exist: no-such-compiler"):
        compiler.find_compiler()


def test_what_the_compiler_says_is_shown(small_package, cache, monkeypatch, tmp_path):
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do echo error $i >&2; done\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    with pytest.raises(OpscanError, match="does not compile") as raised:
        build.runtime_for(small_package)
    assert "error 1" in raised.value.message
    assert "error 9" not in raised.value.message
    assert [path for path in cache.iterdir() if path.suffix != ".lock"] == []


def test_a_folder_without_torch_npu_is_refused(cache, tmp_path):
    with pytest.raises(OpscanError, match="holds no libraries of torch_npu"):
        build.runtime_for(tmp_path)


def test_a_damaged_library_is_refused(cache, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libtorch_npu.so").write_bytes(b"no ELF")
    with pytest.raises(OpscanError, match="cannot be read as a shared library"):
        build.runtime_for(tmp_path)


def test_a_wheel_for_another_machine_is_refused(small_package, cache, monkeypatch):
    monkeypatch.setattr(build.platform, "machine", lambda: "riscv64")
    with pytest.raises(OpscanError, match=r"made for another machine \(\w+\) than this one \(riscv64\)"):
        build.runtime_for(small_package)


def test_a_cache_that_cannot_be_written_is_said(small_package, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OpscanError, match="cannot be written"):
        build.runtime_for(small_package)


def test_the_environment_names_runtime_chip_and_release(monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/lib")
    variables = build.environment_variables(Path("/cache/runtime"), "ascend310p", "8.5.0")
    assert variables == {
        "LD_LIBRARY_PATH": "/cache/runtime:/opt/lib",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        "TASK_QUEUE_ENABLE": "0",
        "OPSCAN_SIMULATED_SOC": "Ascend310P3",
        "OPSCAN_SIMULATED_CANN": "8.5.0",
    }
    monkeypatch.delenv("LD_LIBRARY_PATH")
    variables = build.environment_variables(Path("/cache/runtime"), "Ascend910B1", "8.5.0")
    assert (variables["LD_LIBRARY_PATH"], variables["OPSCAN_SIMULATED_SOC"]) == ("/cache/runtime", "Ascend910B1")


def test_every_chip_has_a_product_and_every_product_is_one_of_its_names():
    socs = json.loads((support_matrix_dir() / "socs.json").read_text(encoding="utf-8"))["socs"]
    assert set(build.PRODUCTS) == set(socs)
    assert all(product in socs[soc]["aliases"] for soc, product in build.PRODUCTS.items())
