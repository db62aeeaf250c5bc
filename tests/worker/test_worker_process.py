"""Models that die, talk, listen, spawn and meddle do not take the scan with them, and nothing outlives it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from opscan.errors import LoadError, ModelError, OpscanError
from opscan.inventory import Inventory
from opscan.worker.host import ChildTraceback, Worker, WorkerDied
from opscan.worker.protocol import Scan

Run = Callable[..., Inventory]

LINEAR = "model = nn.Linear(8, 4)"


def names(inventory: Inventory) -> list[str]:
    return [call.name for call in inventory.calls]


def is_running(pid: int) -> bool:
    """A process that waits to be reaped has ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def pid_of(worker: Worker) -> int:
    assert worker._process is not None
    return worker._process.pid


def test_a_model_that_does_not_end_is_ended_in_time(request_for: Callable[..., Scan]) -> None:
    with Worker() as worker:
        pid = pid_of(worker)
        with pytest.raises(WorkerDied, match="did not end within") as raised:
            worker.scan(request_for("while True: pass"), lambda stage: None, time_limit=0.2)
    assert raised.value.timed_out
    assert not is_running(pid)


# --- models that die ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("death", "says"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL before it answered"),
        ("os._exit(7)", "ended with exit code 7 before it answered"),
        ("ctypes.string_at(0)", "was killed by SIGSEGV before it answered"),
    ],
)
def test_a_model_that_kills_its_process(request_for: Callable[..., Scan], death: str, says: str) -> None:
    source = f"""
    import ctypes, os, signal
    class M(nn.Module):
        def forward(self, x):
            {death}
            return x
    """
    with Worker() as worker:
        pid = pid_of(worker)
        with pytest.raises(OpscanError) as raised:
            worker.scan(request_for(source), lambda stage: None)
        assert says in raised.value.message
        assert raised.value.hint
        assert raised.value.exit_code == 2
        with pytest.raises(OpscanError):  # asked again, it is still dead
            worker.scan(request_for(LINEAR), lambda stage: None)
    assert not is_running(pid)


# --- models that talk and listen ------------------------------------------------------------------------------


def test_what_a_model_prints_is_not_taken_for_an_answer(run: Run, printed: Path) -> None:
    found = run(
        """
        import os, subprocess, sys
        class M(nn.Module):
            def forward(self, x):
                print("p" * (1 << 20))
                sys.stdout.write('{"type": "scanned"}\\n')
                os.write(1, b'{"type": "failed"}\\n')
                subprocess.run(["echo", "from a process"])
                sys.__stdout__.flush()
                return x.sin()
        """
    )
    assert names(found) == ["aten::sin"]
    text = printed.read_text()
    assert "from a process" in text
    assert '{"type": "failed"}' in text
    assert text.count("p") >= 1 << 20


def test_a_model_that_reads_finds_nothing(run: Run) -> None:
    found = run(
        """
        import os, sys
        assert sys.stdin.read() == "" and os.read(0, 10) == b""
        class M(nn.Module):
            def forward(self, x):
                return x.sin()
        """
    )
    assert names(found) == ["aten::sin"]
    with pytest.raises(ModelError) as raised:
        run("answer = input('Continue? ')\nmodel = nn.Linear(8, 4)")
    assert raised.value.message.startswith("net.py:3: importing the file failed:\n    answer = input('Continue? ')\n")


def test_a_model_that_closes_what_is_open(run: Run) -> None:
    found = run(
        """
        import os, sys
        class M(nn.Module):
            def forward(self, x):
                sys.stdout.close()
                sys.stdin.close()
                os.close(0)
                sys.stdout = open(os.devnull, "w")
                return x.sin()
        """
    )
    assert names(found) == ["aten::sin"]
    assert names(run(LINEAR)) == ["aten::t", "aten::addmm"]


# --- models that meddle ---------------------------------------------------------------------------------------


def test_threads_exit_handlers_and_signals(run: Run, tmp_path: Path) -> None:
    found = run(
        """
        import atexit, signal, threading, time
        atexit.register(time.sleep, 600)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.Thread(target=time.sleep, args=(600,)).start()
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        class M(nn.Module):
            def forward(self, x):
                return x.sin()
        """
    )
    assert names(found) == ["aten::sin"]


def test_answers_follow_errors(run: Run) -> None:
    with pytest.raises(LoadError):
        run("nothing = 1")
    with pytest.raises(ModelError):
        run("1 / 0")
    assert names(run(LINEAR)) == ["aten::t", "aten::addmm"]


def test_an_error_brings_its_traceback(run: Run) -> None:
    with pytest.raises(ModelError) as raised:
        run("def build_model():\n    return 1 / 0")
    cause = raised.value.__cause__
    assert isinstance(cause, ChildTraceback)
    assert "ZeroDivisionError" in str(cause)
    assert "build_model" in str(cause)


def test_stages_are_told(shared: Worker, request_for: Callable[..., Scan]) -> None:
    stages: list[str] = []
    shared.scan(request_for(LINEAR, train=True), stages.append)
    assert stages == ["building the model", "tracing", "tracing backward", "tracing the optimizer"]


@pytest.mark.parametrize("interrupt", ["KeyboardInterrupt", "GeneratorExit"])
def test_exceptions_that_are_no_errors_are_the_models_own(run: Run, interrupt: str) -> None:
    with pytest.raises(OpscanError) as raised:
        run(f"class M(nn.Module):\n    def forward(self, x):\n        raise {interrupt}")
    assert "net.py:5" in raised.value.message
    assert names(run(LINEAR)) == ["aten::t", "aten::addmm"]


# --- nothing stays --------------------------------------------------------------------------------------------


def test_no_process_stays_behind(request_for: Callable[..., Scan], tmp_path: Path) -> None:
    source = f"""
    import os, pathlib, subprocess
    helper = subprocess.Popen(["sleep", "600"])
    pathlib.Path({str(tmp_path / "pid")!r}).write_text(str(helper.pid))
    raise RuntimeError("after a helper was started")
    """
    with Worker() as worker:
        pids = [pid_of(worker)]
        with pytest.raises(ModelError):
            worker.scan(request_for(source), lambda stage: None)
    pids.append(int((tmp_path / "pid").read_text()))
    assert not any(map(is_running, pids))


def test_a_worker_that_was_never_asked_leaves_nothing() -> None:
    with Worker() as worker:
        pid = pid_of(worker)
        assert is_running(pid)
    assert not is_running(pid)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, 0)  # reaped


def test_an_error_of_the_callers_own_ends_the_worker() -> None:
    worker = Worker().__enter__()
    pid = pid_of(worker)
    worker.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert not is_running(pid)


# --- an installed torch_npu -----------------------------------------------------------------------------------


def test_an_installed_torch_npu_without_cann_does_not_disturb(
    request_for: Callable[..., Scan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "torch_npu"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "raise ImportError('libhccl.so: cannot open shared object file: No such file or directory')\n"
    )
    info = tmp_path / "site" / "torch_npu-2.13.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_npu\nVersion: 2.13.0\n")
    (info / "entry_points.txt").write_text("[torch.backends]\ntorch_npu = torch_npu:_autoload\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.delenv("TORCH_DEVICE_BACKEND_AUTOLOAD", raising=False)
    with Worker() as worker:
        found = worker.scan(request_for(LINEAR), lambda stage: None).inventory
        assert names(found) == ["aten::t", "aten::addmm"]
        migrated = """
        import importlib.util
        import torch_npu
        import torch_npu.profiler
        from torch_npu.contrib import transfer_to_npu
        from torch_npu.npu.amp import autocast
        assert importlib.util.find_spec("torch_npu") is not None
        assert torch_npu.__version__ == "2.13.0"
        torch_npu.npu.set_device(0)
        torch_npu.npu.set_compile_mode(jit_compile=False)
        torch.npu.config.allow_internal_format = False
        class M(nn.Module):
            def forward(self, x):
                stream = torch.npu.Stream()
                with torch.npu.stream(stream), autocast():
                    x = x.npu() @ x.t()
                torch.npu.synchronize()
                return x.sin()
        """
        found = worker.scan(request_for(migrated), lambda stage: None).inventory
        assert names(found)[-2:] == ["aten::matmul", "aten::sin"]
        assert found.trace.complete


# --- models that nest -----------------------------------------------------------------------------------------

NEST = """
class Nest(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.inner = Nest(depth - 1) if depth else nn.Linear(8, 4)
    def forward(self, x):
        return self.inner(x)
"""


def test_modules_nested_as_deep_as_python_runs_them(run: Run) -> None:
    assert names(run(f"{NEST}model = Nest(250)")) == ["aten::t", "aten::addmm"]


def test_a_recursion_without_end_is_the_models_error(run: Run) -> None:
    with pytest.raises(ModelError, match="RecursionError"):
        run("class M(nn.Module):\n    def forward(self, x):\n        return self.forward(x + 1)")
