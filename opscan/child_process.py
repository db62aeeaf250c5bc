"""What the programs of child processes do first. Nothing but the standard library: the rest may be missing there."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def own_the_protocol() -> tuple[int, int]:
    """Move the protocol, requests and replies, off the standard descriptors before anything can print or read there."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return requests, replies


def die_with_the_parent(parent: int | None = None) -> None:
    """A parent that is killed cannot end this process, and what it runs may never come to an end. Linux only.

    ``parent``: the process id that it had, where this process was told: it may have died before this call.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)
