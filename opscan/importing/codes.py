"""Error codes in the lines of a log. Unlike what is typed to ``opscan explain``, most of a log is not about errors: a
number alone is no code here, only one that is announced as an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opscan.matrix.errors_file import ErrorCodes

_LETTERS = re.compile(
    r"(?<![\w./-])(?:ERR[0-9]{5}|[EW](?:[1-9]|[A-Z])[0-9]{4})(?=[:\[\])\s(]|$)"
    r"|(?<![\w./-])(?:ACL_ERROR_[A-Z0-9_]{3,60}|HCCL_E_[A-Z_]{2,30})(?!\w)",
    re.ASCII,
)
_NUMBER = re.compile(
    r"(?:error code|errcode|err code|errorcode|errno|errorno|ret|retcode|result|status)\W{0,3}(?:is|=|:)?\W{0,3}"
    r"([1-5][0-9]{5})(?!\w)",
    re.ASCII | re.IGNORECASE,
)

#: What a line must hold to be looked at closely.
_HINT = re.compile(r"[EW][A-Z0-9][0-9]{4}|ERR[0-9]|ACL_ERROR|HCCL_E_|[1-5][0-9]{5}")


class CodeFinder:
    def __init__(self, codes: ErrorCodes) -> None:
        self._codes = codes

    def find(self, line: str) -> tuple[str, ...]:
        """The codes that are known or of a known family, each once."""
        if not _HINT.search(line):
            return ()
        return tuple(dict.fromkeys(self._known(line)))

    def _known(self, line: str) -> Iterator[str]:
        tokens = [match.group() for match in _LETTERS.finditer(line)]
        for token in [*tokens, *_NUMBER.findall(line)]:
            found = self._codes.look_up(self._codes.names.get(token, token))
            if found is not None:
                yield found.code
