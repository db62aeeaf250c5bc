"""Writes outputs whole or not at all, and finds out early whether they can be written."""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

from opscan.errors import UsageError
from opscan.rendering.inert import inert

#: The path that means standard output.
STDOUT = "-"


def check_writable(path: str) -> None:
    """Raise a UsageError if ``path`` cannot be written: asked before a long scan rather than after it.

    A file is created beside the target and removed, since permission bits alone say nothing for root, on a read-only
    file system or over the network.
    """
    if path == STDOUT:
        return
    target = _target(path)
    if not _replaceable(target):
        return
    try:
        temporary = _temporary(target)
        temporary.touch(exist_ok=False)
        temporary.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


def write_text(path: str, text: str) -> None:
    """Write ``text`` as UTF-8. The target is replaced only when all of it is on the disk; ``-`` is standard output."""
    data = text.encode("utf-8")
    if path == STDOUT:
        _write_stdout(text, data)
        return
    target = _target(path)
    try:
        if _replaceable(target):
            _replace(target, data)
        else:
            target.write_bytes(data)
    except OSError as error:
        raise _unwritable(path, error) from error


def _target(path: str) -> Path:
    """The file that ``path`` stands for, links followed so that a link stays one. UsageError where it cannot be."""
    target = Path(os.path.realpath(path))
    try:
        if path == "" or path.endswith(("/", os.sep)) or target.is_dir():
            raise UsageError(
                f"Cannot write to {inert(path)!r}: it names a folder, not a file.",
                "Add a file name, for example " + os.path.join(inert(path), "opscan-report.html"),
            )
        target.lstat()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _unwritable(path, error) from error
    if not target.parent.is_dir():
        raise UsageError(
            f"Cannot write {inert(path)}: the folder {inert(str(target.parent))} does not exist.",
            "Create the folder first, or choose another path.",
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise UsageError(
            f"Cannot write {inert(path)}: the file exists and is read-only.", "Remove it, or choose another path."
        )
    return target


def _replaceable(target: Path) -> bool:
    """False for a device or a pipe, such as ``/dev/null``: replacing one by a file would destroy it."""
    return target.is_file() or not target.exists()


def _temporary(target: Path) -> Path:
    return target.with_name(f".opscan-{secrets.token_hex(6)}.tmp")


def _replace(target: Path, data: bytes) -> None:
    temporary = _temporary(target)
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:  # an interrupt, too, must leave nothing behind
        with suppress(OSError):
            temporary.unlink()
        raise


def _write_stdout(text: str, data: bytes) -> None:
    """UTF-8 whatever the locale, where standard output has bytes below it (a test's replacement may not)."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        buffer.write(data)
    sys.stdout.flush()


def _unwritable(path: str, error: OSError) -> UsageError:
    return UsageError(
        f"Cannot write {inert(path)}: {error.strerror or error}.",
        "Choose a path in a folder where you may create files, with enough space.",
    )
