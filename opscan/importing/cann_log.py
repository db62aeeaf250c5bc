"""What CANN logs: lines of ``[LEVEL] MODULE(PID,PROCESS):TIME [FILE:LINE] TEXT``.

The format is in the log reference of CANN (https://www.hiascend.com/document/detail/en/canncommercial/850/maintenref/
logreference/logreference_0001.html). Operators are named in ``Op TYPE does not has any binary``, ``Cannot find bin of
op TYPE`` and ``Kernel Run failed. opType: N, TYPE``; these lines stand without the prefix in what torch_npu prints.
"""

from __future__ import annotations

import re

from opscan.importing import vocabulary
from opscan.importing.collector import Collector
from opscan.importing.observations import FileKind, Key

_CHATTER = ("[INFO]", "[DEBUG]", "[EVENT]", "[TRACE]")

PREFIX = re.compile(r"\[(ERROR|WARNING|INFO|DEBUG|EVENT|TRACE)\] ?[A-Z][A-Z0-9_]{1,31}\(\s*\d+,[^)]{0,64}\):\d{4}-")

_NO_BINARY = re.compile(
    r"\bOp (\w{1,64}) does not ha(?:s|ve) any binary|Cannot find bin(?:ary)? (?:of|for) op[ :\[]{1,3}(\w{1,64})"
)
_NOT_RUN = re.compile(r"Kernel Run failed\. opType: ?\d+, ?(\w{1,64})")


class CannLog:
    kind: FileKind = "cann"

    def read(self, line: str, into: Collector) -> bool:
        if "bin" in line and (match := _NO_BINARY.search(line)):
            into.add(Key("no_kernel", vocabulary.engine_type(match[1] or match[2]), code="EZ9999"))
        elif "opType" in line and (match := _NOT_RUN.search(line)):
            into.add(Key("refused", vocabulary.engine_type(match[1]), code="EZ9999"))
        return "):" in line and bool(PREFIX.search(line))


def is_chatter(line: str) -> bool:
    """Whether a line is one of CANN's below the level of a warning: numbers in it are no errors."""
    if not any(level in line for level in _CHATTER):
        return False
    match = PREFIX.search(line)
    return match is not None and f"[{match[1]}]" in _CHATTER
