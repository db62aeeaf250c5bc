"""A benchmark's work on one model, in a process of its own."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any


def in_child(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``work`` answers in a fork that prints nothing; its error, or that it died, under ``error``."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        try:
            answer = work()
        except BaseException as error:
            at = traceback.extract_tb(error.__traceback__)[-1]
            answer = {"error": f"{type(error).__name__}: {error} ({Path(at.filename).name}:{at.lineno})"[:400]}
        with os.fdopen(write, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "the process died"}
