"""What an error of the device means: the code that it names, and whether it is a refusal, a crash or a lost device."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec.structs import replace

from opscan.errors import MatrixError
from opscan.matrix.errors_file import ErrorCodes
from opscan.probing.protocol import Outcome, Status

#: Kernels that crashed or stopped at a trap on the AI Core, the vector core or the AI CPU, by the runtime's error codes
#: (``support_matrix/errors.json`` has their sources).
_KERNEL_CRASHED = frozenset({"507015", "507016", "507018", "507035", "507036", "507042", "507043", "507044", "507045"})
_KERNEL_TIMED_OUT = frozenset({"507014", "507017", "507034", "507046"})
_MEMORY = frozenset({"207001", "207018"})

_OUT_OF_MEMORY = re.compile(r"out of memory|\bMemoryError\b", re.IGNORECASE)
_FELL_BACK = re.compile(r"CAUTION: The operator '([^']{1,200})' is not currently supported on the NPU backend")


def fallbacks_in(printed: str) -> tuple[str, ...]:
    """The operators of torch_npu's warning that it runs them on the CPU."""
    return tuple(dict.fromkeys(_FELL_BACK.findall(printed)))


def judged(outcome: Outcome, healthy: bool) -> Outcome:
    """The outcome of an operator that raised, with the error code of its message and what that makes of it.

    ``healthy``: whether the device still computed afterwards.
    """
    if outcome.status != "refused":
        return outcome
    codes = error_codes(outcome.message)
    return replace(outcome, status=_status(outcome.message, frozenset(codes), healthy), code=next(iter(codes), ""))


def _status(message: str, codes: frozenset[str], healthy: bool) -> Status:
    if codes & _MEMORY or _OUT_OF_MEMORY.search(message):
        return "out_of_memory"
    if codes & _KERNEL_TIMED_OUT:
        return "timeout"
    if codes & _KERNEL_CRASHED:
        return "crashed"
    return "refused" if healthy else "device_lost"


def error_codes(message: str) -> tuple[str, ...]:
    """The codes in a message, the most telling first; none where the table of codes is damaged: what was seen on a
    device is worth more than its name."""
    table = _table()
    return tuple(found.code for found in table.find(message)) if table is not None else ()


@lru_cache(maxsize=1)
def _table() -> ErrorCodes | None:
    try:
        return ErrorCodes.load()
    except MatrixError:
        return None
