"""The program of a probe's worker: one process, one device, operators one after the other. Started by ``pool`` as a
script with ``BACKEND INDEX PARENT``.

torch_npu and CANN print on both standard descriptors; the protocol has the original stdout to itself.
"""

from __future__ import annotations

import json
import os
import sys
import traceback


def _import_path() -> None:
    """A script's own folder leads the path; the package's parent belongs there instead, and last, in case it is not
    installed.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != here]
    sys.path.append(os.path.dirname(os.path.dirname(here)))


def _say(replies: int, message: dict[str, object]) -> None:
    """A reply without msgspec, which may be what is missing."""
    os.write(replies, json.dumps(message).encode() + b"\n")


def main() -> None:
    backend, index, parent = sys.argv[1:4]
    _import_path()
    from opscan.child_process import die_with_the_parent, own_the_protocol

    die_with_the_parent(int(parent))
    requests, replies = own_the_protocol()
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
