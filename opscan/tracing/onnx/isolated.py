"""Runs compiled code over an untrusted model where it can do no harm: onnx's C++ may crash on it, or never end."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress

#: Seconds of one step. The largest models take some ten.
PATIENCE = 120

#: Bytes of memory that a step may map beyond what is there already.
_MEMORY = 8 << 30


class Unanswered(Exception):
    """A step that did not end well; ``str`` says how, in a few words."""


def isolated(work: Callable[[bytes], bytes], data: bytes, seconds: int = PATIENCE) -> bytes:
    """``work(data)``, done in a process of its own. Raises Unanswered where it raises, dies or takes too long.

    The process ends by itself when its time is over, whatever becomes of this one.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # on threads: the copy calls only what is given
        process = os.fork()
    if process == 0:
        _run(work, data, seconds, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        code = os.WTERMSIG(status)
        raise Unanswered(f"not done after {seconds} s" if code == signal.SIGALRM else signal.Signals(code).name)
    if not answer.startswith(b"+"):
        raise Unanswered(answer[1:].decode(errors="replace") or "it ended early")
    return answer[1:]


def _run(work: Callable[[bytes], bytes], data: bytes, seconds: int, writing: int) -> None:
    """The copy's whole life. Never returns."""
    answer = b"-"
    try:
        faulthandler.disable()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        _limit_memory()
        answer = b"+" + work(data)
    except MemoryError:
        answer = b"-out of memory"
    except BaseException as error:
        answer = f"-{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}".encode()
    finally:
        with suppress(OSError):
            view = memoryview(answer)
            while view:
                view = view[os.write(writing, view) :]
        os._exit(0)


def _limit_memory() -> None:
    with suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + _MEMORY, mapped + _MEMORY))
