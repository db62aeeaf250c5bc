"""The child's program: the only process that imports torch and the user's file. Started by ``host`` as a script.

What the user's code prints goes to stderr; the protocol has the original stdout to itself.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress

#: Frames of Python that a model may stack up, three times Python's own limit. The usual 8 MiB of a process's stack hold
#: them: a model without end still ends in a RecursionError.
_FRAMES = 3000


def _import_path() -> None:
    """A script's own folder leads the path; the package's parent belongs there instead, and last, in case it is not
    installed.
    """
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != here]
    sys.path.append(os.path.dirname(os.path.dirname(here)))


def main() -> None:
    _import_path()
    from opscan.child_process import die_with_the_parent, own_the_protocol

    # A recorder and its hooks are frames between those of the model, which may come near Python's limit without them.
    sys.setrecursionlimit(_FRAMES)
    die_with_the_parent()
    requests, replies = own_the_protocol()
    from opscan.worker.serving import serve

    code = 0
    try:
        serve(requests, replies, *sys.argv[1:])
    except BrokenPipeError:  # the parent is gone
        code = 1
    except BaseException:
        code = 1
        traceback.print_exc()
    finally:
        with suppress(Exception):  # a model may have closed or replaced them
            sys.stdout.flush()
            sys.stderr.flush()
        # The Python device guard of the virtual npu can abort at interpreter exit.
        os._exit(code)


if __name__ == "__main__":
    main()
