"""Errors as a user meets them: what happened, what to do next; a traceback only when asked for."""

from __future__ import annotations

import sys
import traceback

from opscan.errors import OpscanError
from opscan.rendering.inert import inert


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
    return "\n".join(inert(line) for line in text.splitlines())
