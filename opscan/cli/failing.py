"""Errors as a user meets them: what happened, what to do next; a traceback only when asked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opscan.errors import OpscanError

#: Tells processes that are started below to leave torch's own messages on stderr.
DEBUG = "OPSCAN_DEBUG"


def guarded(work: Callable[[], int], debug: bool) -> int:
    """Run ``work`` for its exit code; errors become one message on stderr and their exit code."""
    try:
        with _told_to_children(debug):
            return int(work())
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing may be flushed to the closed pipe at exit.
        sys.stdout = None
        return 0
    except Exception as error:
        return report_error(error, debug)


@contextmanager
def _told_to_children(debug: bool) -> Iterator[None]:
    before = os.environ.get(DEBUG)
    if debug:
        os.environ[DEBUG] = "1"
    try:
        yield
    finally:
        if debug and before is None:
            os.environ.pop(DEBUG, None)


def report_error(error: Exception, debug: bool) -> int:
    """Print an error to stderr and return the exit code."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, OpscanError):
        print(f"opscan: error: {_safe(error.message)}", file=sys.stderr)
        if error.hint:
            print(f"  hint: {_safe(error.hint)}", file=sys.stderr)
        return error.exit_code
    if isinstance(error, OSError) and error.strerror:
        where = f": {_safe(str(error.filename))}" if error.filename else ""
        print(f"opscan: error: {error.strerror}{where}", file=sys.stderr)
        print("  hint: Check the current folder, the disk's free space and the paths given.", file=sys.stderr)
        return 2
    print(f"opscan: internal error: {type(error).__name__}: {_safe(str(error))}", file=sys.stderr)
    print("  hint: Run again with --debug, and report the traceback.", file=sys.stderr)
    return 2


def _safe(text: str) -> str:
    """Messages quote the user's source and paths: no control character of theirs reaches the terminal."""
    from opscan.rendering.inert import inert

    return "\n".join(inert(line) for line in text.splitlines())
