"""Finding a wheel by pip, and reading parts of it over HTTP. pip itself is played; the server is a real one, local."""

from __future__ import annotations

import io
import json
import re
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from opscan.errors import OpscanError, UsageError
from opscan.matrix.build import wheel_fetch
from opscan.matrix.build.wheel_fetch import RemoteFile, open_wheel, published_for
from tests.matrix.wheels import FUNCTIONS, make_wheel

Pip = Callable[..., subprocess.CompletedProcess[str]]


class Server(ThreadingHTTPServer):
    """Serves one file, by ranges unless ``ranges`` is false; keeps what was asked for."""

    def __init__(self, content: bytes, ranges: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.ranges, self.asked = content, ranges, list[str]()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.headers["Range"])
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]) if self.server.ranges else None
        size = len(self.server.content)
        start, end = (int(match[1]), min(int(match[2]), size - 1)) if match else (0, size - 1)
        self.send_response(206 if match else 200)
        if match:
            self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        self.send_header("Content-Length", str(end - start + 1))
        self.end_headers()
        self.wfile.write(self.server.content[start : end + 1])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(content: bytes, ranges: bool = True) -> Server:
        servers.append(Server(content, ranges))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def _pip_that_finds(url: str, whole: Path | None = None) -> Pip:
    def pip(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        if arguments[0] == "download":
            assert whole is not None
            (Path(arguments[arguments.index("--dest") + 1]) / whole.name).write_bytes(whole.read_bytes())
            return subprocess.CompletedProcess(arguments, 0, "", "")
        found = {"install": [{"download_info": {"url": url, "archive_info": {"hashes": {"sha256": "abc"}}}}]}
        return subprocess.CompletedProcess(arguments, 0, json.dumps(found), "")

    return pip


def _pip_that_says(*complaints: str) -> Pip:
    said = iter(complaints)
    return lambda *arguments, check=True: subprocess.CompletedProcess(arguments, 1, "", next(said, complaints[-1]))


def test_a_remote_file_reads_like_a_local_one(serve: Callable[..., Server]) -> None:
    content = bytes(range(256)) * 40
    remote = io.BufferedReader(RemoteFile(serve(content).url("x")), 1000)
    assert remote.seek(0, io.SEEK_END) == len(content)
    assert remote.read() == b""
    remote.seek(-20, io.SEEK_END)
    assert remote.read() == content[-20:]
    remote.seek(990)
    assert remote.read(2500) == content[990:3490]


def test_only_parts_of_a_remote_wheel_are_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Server]
) -> None:
    path = make_wheel(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("torch_npu/lib/big.so", bytes(range(256)) * 20_000)
    server = serve(path.read_bytes())
    monkeypatch.setattr(wheel_fetch, "_pip", _pip_that_finds(server.url(path.name)))
    monkeypatch.setattr(wheel_fetch, "_CHUNK", 4096)
    said: list[str] = []
    with open_wheel("2.6.0.post9", said.append) as wheel:
        assert wheel.name == path.name
        assert wheel.sha256 == "abc"
        assert b"npu_rotate" in wheel.archive.read(FUNCTIONS)
    asked = [re.findall(r"\d+", text) for text in server.asked]
    assert sum(int(end) - int(start) + 1 for start, end in asked) < path.stat().st_size / 2
    assert "the members needed" in said[0]


def test_without_ranges_pip_downloads_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Server]
) -> None:
    path = make_wheel(tmp_path)
    server = serve(path.read_bytes(), ranges=False)
    monkeypatch.setattr(wheel_fetch, "_pip", _pip_that_finds(server.url(path.name), path))
    said: list[str] = []
    with open_wheel("2.6.0.post9", said.append) as wheel:
        assert FUNCTIONS in wheel.archive.namelist()
    assert "downloading all of it" in said[0]


def test_an_index_of_local_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_wheel(tmp_path)
    monkeypatch.setattr(wheel_fetch, "_pip", _pip_that_finds(path.as_uri()))
    with open_wheel("2.6.0.post9") as wheel:
        assert len(wheel.sha256) == 64


def test_a_release_that_does_not_exist_names_near_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    complaint = "ERROR: Could not find a version (from versions: 2.1.0.post8, 2.6.0.post5, 2.14.0)"
    monkeypatch.setattr(wheel_fetch, "_pip", _pip_that_says(complaint))
    with pytest.raises(UsageError, match=r"there is no torch_npu 2\.6\.0\.post4") as error, open_wheel("2.6.0.post4"):
        pass
    assert error.value.hint.startswith("Near: 2.6.0.post5")


@pytest.mark.parametrize(
    ("complaint", "message"),
    [
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken\nERROR: (from versions: none)",
            "cannot reach its",
        ),
        ("no such option: --report", "cannot report what it would install"),
        ("ERROR: No matching distribution found (from versions: none)", "No matching distribution found"),
    ],
)
def test_why_pip_finds_nothing(monkeypatch: pytest.MonkeyPatch, complaint: str, message: str) -> None:
    monkeypatch.setattr(wheel_fetch, "_pip", _pip_that_says(complaint))
    with pytest.raises(OpscanError, match=message), open_wheel("2.6.0"):
        pass


def test_what_is_no_release_is_not_given_to_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel_fetch, "_pip", lambda *a, **k: pytest.fail("pip was called"))
    with pytest.raises(UsageError, match="is no torch_npu release"), open_wheel("--index-url=x"):
        pass


def test_releases_for_a_python_version(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = subprocess.CompletedProcess((), 0, "torch-npu (2.14.0)\nAvailable versions: 2.14.0, 2.13.0\n", "")
    monkeypatch.setattr(wheel_fetch, "_pip", lambda *a, **k: answer)
    assert published_for("3.14") == ("2.14.0", "2.13.0")
    monkeypatch.setattr(wheel_fetch, "_pip", lambda *a, **k: subprocess.CompletedProcess((), 1, "", "ERROR"))
    assert published_for("3.7") == ()
