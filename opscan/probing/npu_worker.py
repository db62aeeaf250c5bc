"""The program of a probe's worker: one process, one device, operators one after the other. Started by ``pool`` as a
script with ``BACKEND INDEX PARENT``.

torch_npu and CANN print on both standard descriptors; the protocol has the original stdout to itself.
"""

from __future__ import annotations

import json
import os
import sys
import traceback


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


def _die_with_the_parent(parent: int) -> None:
    """A parent that is killed cannot end this process, and a kernel may never come to an end. Linux only."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import signal

    parent_dies = 1  # PR_SET_PDEATHSIG
    ctypes.CDLL(None).prctl(parent_dies, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call above
        os._exit(1)


def _say(replies: int, message: dict[str, object]) -> None:
    """A reply without msgspec, which may be what is missing."""
    os.write(replies, json.dumps(message).encode() + b"\n")


def main() -> None:
    backend, index, parent = sys.argv[1:4]
    _die_with_the_parent(int(parent))
    requests, replies = _own_the_protocol()
    _import_path()
    code = 0
    try:
        from opscan.probing.serving import serve

        serve(backend, int(index), requests, replies)
    except ImportError as error:
        _say(replies, {"type": "unable", "reason": f"{sys.executable}: {error}", "for_good": True})
    except BrokenPipeError:  # the parent is gone
        code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        # torch_npu may hang or abort at interpreter exit.
        os._exit(code)


if __name__ == "__main__":
    main()
