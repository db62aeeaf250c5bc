"""The command in this process with one shared child, and the installed command in processes of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from ended_commands import COMMAND, Ended
from typer.testing import CliRunner

from opscan.assessment import Assessment
from opscan.cli.main import app
from opscan.scan import ScanRequest, scan_with
from opscan.worker.host import Worker


@pytest.fixture(scope="session")
def cli_worker() -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def opscan(folder: Path, cli_worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """``opscan("model.py", "--json", "-")`` in this process: the whole command, but for the start of its child."""

    def scan(request: ScanRequest, progress: Callable[[str], None]) -> Assessment:
        # The shared child was started in another folder.
        named = request.reference
        absolute = replace(request, reference=msgspec.structs.replace(named, path=str(folder / named.path)))
        assessment = scan_with(cli_worker, absolute, progress)
        return replace(assessment, model=replace(assessment.model, reference=str(named)))

    monkeypatch.setattr("opscan.scan.scan", scan)

    def run(*arguments: str) -> Ended:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def installed(folder: Path) -> Callable[..., Ended]:
    """The same with the installed command in a process of its own."""

    def run(*arguments: str, env: dict[str, str] | None = None) -> Ended:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "NO_COLOR"))}
        done = subprocess.run(
            [COMMAND, *arguments],
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            env={**plain, "LANG": "C.UTF-8", **(env or {})},
            timeout=120,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
