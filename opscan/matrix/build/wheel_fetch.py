"""Opening a torch_npu wheel: a file, or a release of the index that the user's pip is configured for.

pip finds the wheel, with the user's index, proxy and certificates; this machine's platform and Python need not be the
wheel's. A few members are then read by HTTP range requests (3 to 4 MB of some 40). Where that fails, for whatever
reason, pip downloads the whole wheel into a temporary folder.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from opscan.errors import OpscanError, UsageError

Progress = Callable[[str], None]

#: The x86-64 Linux wheels are the ones that are read; the operators do not depend on the platform.
_PLATFORMS = (
    "manylinux2014_x86_64",
    *(f"manylinux_2_{minor}_x86_64" for minor in (17, 24, 27, 28, 31, 34, 35, 39)),
    "linux_x86_64",
)

#: Python versions for which wheels are sought: first the one that every release so far has.
PYTHONS = ("3.11", "3.10", "3.12", "3.13", "3.14", "3.9", "3.8")

#: Bytes that one request fetches. The members wanted lie close together.
_CHUNK = 1 << 20

_SECONDS = 60


@dataclass(frozen=True, slots=True)
class OpenWheel:
    """``sha256``: of the whole file, as the index states it or as computed; empty where the index does not say."""

    name: str
    archive: zipfile.ZipFile
    sha256: str


@contextmanager
def open_wheel(spec: str, progress: Progress = lambda _: None) -> Iterator[OpenWheel]:
    """The wheel at a path that ends in ``.whl``, or that of a release (``2.6.0.post5``).

    Raises UsageError where there is no such file or release, OpscanError where the index or pip cannot be reached or
    the file is no whole zip archive.
    """
    if spec.endswith(".whl"):
        with _from_file(Path(spec)) as wheel:
            yield wheel
        return
    url, sha256 = _locate(spec)
    location = urllib.parse.urlsplit(url)
    name = Path(urllib.parse.unquote(location.path)).name
    if location.scheme == "file":
        with _from_file(Path(urllib.request.url2pathname(location.path))) as wheel:
            yield wheel
        return
    try:
        file: io.BufferedIOBase = io.BufferedReader(RemoteFile(url), _CHUNK)
        archive = zipfile.ZipFile(file)
    except (OSError, zipfile.BadZipFile) as error:
        progress(f"{name}: the index does not serve parts of it ({error}); downloading all of it")
    else:
        progress(f"{name}: reading the members needed")
        with archive:
            yield OpenWheel(name, archive, sha256)
        return
    with tempfile.TemporaryDirectory() as folder:
        _pip("download", "--dest", folder, *_options(_python_of(name)), f"torch-npu=={spec}")
        with _from_file(Path(folder) / name) as wheel:
            yield wheel


def published_for(python: str) -> tuple[str, ...]:
    """The releases with an x86-64 Linux wheel for a Python version; empty where there is none."""
    report = _pip("index", "versions", *_options(python)[1:], "torch-npu", check=False)
    match = re.search(r"Available versions: (.*)", report.stdout)
    return tuple(match[1].split(", ")) if match else ()


class RemoteFile(io.RawIOBase):
    """A file behind HTTP, read by range requests.

    Raises OSError where the server does not answer with exactly the range asked for.
    """

    def __init__(self, url: str) -> None:
        self._url, self._at, self._size = url, 0, 0
        self._fetch(0, 1)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        end = min(self._at + len(buffer), self._size)
        if self._at >= end:
            return 0
        content = self._fetch(self._at, end)
        buffer[: len(content)] = content
        self._at = end
        return len(content)

    def _fetch(self, start: int, end: int) -> bytes:
        request = urllib.request.Request(self._url, headers={"Range": f"bytes={start}-{end - 1}"})
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            match = re.fullmatch(rf"bytes {start}-{end - 1}/(\d+)", answer.headers.get("Content-Range", ""))
            if answer.status != 206 or match is None:
                raise OSError("no answer to a range request")
            self._size = int(match[1])
            content: bytes = answer.read()
        if len(content) != end - start:
            raise OSError("the connection was cut")
        return content


@contextmanager
def _from_file(path: Path) -> Iterator[OpenWheel]:
    try:
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", "Give the path of a torch_npu wheel.") from error
    except zipfile.BadZipFile as error:
        raise OpscanError(f"{path}: not a whole zip archive ({error})", "Download the wheel again.") from error
    with archive:
        yield OpenWheel(path.name, archive, sha256)


def _locate(release: str) -> tuple[str, str]:
    """URL and sha256 of a release's wheel."""
    if not re.fullmatch(r"\d+(\.\d+)*\w*(\.\w+)*", release):
        raise UsageError(f"{release!r} is no torch_npu release", "Give a release such as 2.6.0.post5, or a .whl file.")
    known: dict[str, None] = {}
    with tempfile.TemporaryDirectory() as target:
        for python in PYTHONS:
            install = ("install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", "--target", target)
            answer = _pip(*install, *_options(python), f"torch-npu=={release}", check=False)
            if answer.returncode == 0:
                found = json.loads(answer.stdout)["install"][0]["download_info"]
                return found["url"], found.get("archive_info", {}).get("hashes", {}).get("sha256", "")
            listed = re.search(r"\(from versions: (\d.*?)\)", answer.stderr)
            if listed is None:
                break
            known |= dict.fromkeys(listed[1].split(", "))
    if known:
        near = difflib.get_close_matches(release, known, n=3, cutoff=0.5) or list(known)[:3]
        raise UsageError(
            f"there is no torch_npu {release} for Linux x86-64 on the index of your pip", f"Near: {', '.join(near)}."
        )
    raise _not_found(release, answer.stderr)


def _not_found(release: str, complaint: str) -> OpscanError:
    """What it means that pip knows no release at all."""
    if "no such option" in complaint:
        return OpscanError("this pip cannot report what it would install", "Upgrade it: pip 22.2 or newer.")
    if "connection" in complaint.lower() or "Retrying" in complaint:
        return OpscanError(
            f"torch_npu {release}: pip cannot reach its index",
            "Check the network and pip's settings (`pip config list`), or give the path of a wheel: --wheel FILE.whl.",
        )
    last = [line for line in complaint.splitlines() if line.startswith("ERROR")] or ["pip found nothing"]
    return OpscanError(
        f"torch_npu {release}: {last[-1].removeprefix('ERROR: ')}",
        "Does the index of your pip hold torch-npu? See `pip config list`, or give the path of a wheel.",
    )


def _options(python: str) -> tuple[str, ...]:
    platforms = (part for name in _PLATFORMS for part in ("--platform", name))
    return "--no-deps", "--only-binary", ":all:", "--python-version", python, *platforms


def _python_of(name: str) -> str:
    """``3.11`` of a wheel that is named ``…-cp311-…``."""
    match = re.search(r"-cp(\d)(\d+)-", name)
    return f"{match[1]}.{match[2]}" if match else PYTHONS[0]


def _pip(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "pip", *arguments, "--retries", "1", "--disable-pip-version-check")
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named pip" in answer.stderr:
        raise OpscanError("this Python has no pip, which finds the wheel", "Run `python -m ensurepip`.")
    if check and answer.returncode:
        raise OpscanError(f"pip {arguments[0]} failed: {answer.stderr.strip().splitlines()[-1:]}", "Try again.")
    return answer
