"""Processes that a test may have left behind, found by a mark in their environment."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path

NAME = "OPSCAN_TEST_MARK"


def new_mark() -> str:
    return uuid.uuid4().hex


def marked(mark: str) -> set[int]:
    """Living processes whose environment held the mark when they began; those that wait to be reaped have ended."""
    wanted = f"{NAME}={mark}".encode()
    found = set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with suppress(OSError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX" and wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found


def all_ended(mark: str) -> bool:
    """Whether they are gone, or go within a few seconds: the system ends children of a killed parent by itself."""
    for _ in range(100):
        if not marked(mark):
            return True
        time.sleep(0.05)
    return False
