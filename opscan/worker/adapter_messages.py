"""What a rehearsal's process prints to stderr: warnings of torch_npu are left out, the rest is for the user."""

from __future__ import annotations

import re
import sys
import threading
from typing import IO

#: A warning of torch's C++ side: ``[W1130 18:50:56.84 File.cpp:168] Warning: …``; a part of torch_npu's wheels names
#: its files ``compiler_depend.ts``.
_WARNING = re.compile(rb"^\[W\d{4} [\d:.]+ \w+\.(?:cpp|h|ts):\d+\] Warning: ")

#: torch_npu says at import that no CANN is set up, which is why there is a simulated one.
_NO_CANN = re.compile(rb"^Warning: ASCEND_\w+ environment variable is not set")


class AdapterMessages:
    """Reads a process's stderr to its end in a thread of its own, and passes on what is not a warning of the adapter:
    what it leaves to the CPU is seen call by call.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until all is passed on; the process has ended."""
        self._thread.join(timeout=5)

    def _read(self) -> None:
        for line in self._stream:
            if not _WARNING.match(line) and not _NO_CANN.match(line):
                sys.stderr.buffer.write(line)
                sys.stderr.flush()
