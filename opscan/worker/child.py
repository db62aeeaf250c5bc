"""The child's program: the only process that imports torch and the user's file. Started by ``host`` as a script.

What the user's code prints goes to stderr; the protocol has the original stdout to itself.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def _own_the_protocol() -> tuple[int, int]:
    """Move the protocol off the standard descriptors before anything can print or read there."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return requests, replies


def _import_path() -> None:
    """A script's own folder leads the path; the package's parent belongs there instead, and last, in case it is not
    installed.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != here]
    sys.path.append(os.path.dirname(os.path.dirname(here)))


def _die_with_the_parent() -> None:
    """A parent that is killed cannot end this process, and a model may never come to an end of its own. Linux only."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import signal

    parent_dies = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(parent_dies, signal.SIGKILL)


def main() -> None:
    _die_with_the_parent()
    requests, replies = _own_the_protocol()
    _import_path()
    from opscan.worker.serving import serve

    code = 0
    try:
        serve(requests, replies, *sys.argv[1:])
    except BrokenPipeError:  # the parent is gone
        code = 1
    finally:
        with suppress(Exception):  # a model may have closed or replaced them
            sys.stdout.flush()
            sys.stderr.flush()
        # The Python device guard of the virtual npu can abort at interpreter exit.
        os._exit(code)


if __name__ == "__main__":
    main()
