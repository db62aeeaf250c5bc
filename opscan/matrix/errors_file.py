"""The error codes that users of an NPU meet: ``support_matrix/errors.json`` and how a code is found in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from opscan.explanation import About
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import load

FILE = "errors.json"


class Words(msgspec.Struct, frozen=True):
    en: str
    zh: str

    def in_(self, lang: str) -> str:
        return self.zh if lang == "zh" else self.en


class ErrorSource(msgspec.Struct, frozen=True):
    """A document: its title, ``repository path @commit``, and the date of the commit."""

    document: str
    where: str
    date: str


class ErrorEntry(msgspec.Struct, frozen=True):
    """One code. ``next`` and ``sources`` are keys of the file's tables of those names.

    ``name``: the symbolic name in the headers. ``meaning``: where the title does not say it all. ``successors``: codes
    that later releases report instead. ``rules``: rules of opscan that speak of the same.
    """

    title: Words
    about: About
    next: str
    sources: tuple[str, ...]
    name: str = ""
    meaning: Words | None = None
    rules: tuple[str, ...] = ()
    successors: tuple[str, ...] = ()


class ErrorFamily(msgspec.Struct, frozen=True):
    """Codes of one origin. In ``pattern`` each ``x`` at the end is one character, ``*`` any number of them."""

    pattern: str
    origin: Words
    title: Words
    about: About
    next: str
    sources: tuple[str, ...]
    rules: tuple[str, ...] = ()

    def matches(self, code: str) -> bool:
        head = self.pattern.rstrip("x*")
        return code.startswith(head) and ("*" in self.pattern or len(code) == len(self.pattern))


class ErrorMessage(msgspec.Struct, frozen=True):
    """A message that says more than the code in front of it. ``text``: any of these words, in any letter case."""

    text: tuple[str, ...]
    entry: ErrorEntry


class Composed(msgspec.Struct, frozen=True):
    """Codes that are put together: ``prefix``, two digits for the module, three for the kind of error."""

    prefix: str
    modules: dict[str, Words]
    kinds: dict[str, ErrorEntry]


class ErrorsFile(msgspec.Struct, frozen=True):
    schema: int
    sources: dict[str, ErrorSource]
    next: dict[str, Words]
    families: tuple[ErrorFamily, ...]
    codes: dict[str, ErrorEntry]
    composed: Composed
    messages: tuple[ErrorMessage, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A code in a text. Without an entry only its family is known; ``module`` is that of a composed code."""

    code: str
    entry: ErrorEntry | None = None
    family: ErrorFamily | None = None
    module: Words | None = None

    @property
    def rank(self) -> int:
        """How little it says, so that the most telling code of a log line comes first."""
        if self.entry is None:
            return 1
        return 2 + (self.module is not None) if self.entry.about == "unclear" else 0


#: What looks like a code: ERR01007, EZ9999, ACL_ERROR_RT_AICPU_EXCEPTION, HCCL_E_REMOTE, 507018.
_TOKEN = re.compile(
    r"(?<![A-Z0-9_])(?:ERR[0-9]{5}|[EW][A-Z0-9][0-9]{4,5}|(?:ACL|HCCL_E_)[A-Z0-9_]*|[0-9]{6})(?![A-Z0-9_])"
)

#: Six digits that are no code: a process or thread, as ``PID:107002`` or ``RUNTIME(107002,python)``.
_PROCESS = re.compile(r"(?:\b[PT]ID\W{0,3}|[A-Z_]\()$")

#: Words after which six digits are a code, even one that the file does not list.
_ANNOUNCED = re.compile(r"(?:CODE|RET|RESULT|STATUS|ERRNO|ERROR)\W{0,3}(?:IS|=|:)?\W{0,3}$")


class ErrorCodes:
    """All codes, and the search for them in what a user pastes."""

    def __init__(self, file: ErrorsFile) -> None:
        self.file = file

    @classmethod
    def load(cls, root: Path | None = None) -> ErrorCodes:
        """Raises MatrixError, with file and key, where the file is missing or damaged."""
        return cls(load((root or support_matrix_dir()) / FILE, ErrorsFile))

    @cached_property
    def names(self) -> dict[str, str]:
        """Symbolic name → code."""
        return {entry.name: code for code, entry in self.file.codes.items() if entry.name}

    def find(self, text: str) -> tuple[Found, ...]:
        """The codes in ``text``, the most telling first, each once."""
        found: dict[str, Found] = {}
        for each in self._tokens(text.upper()):
            found.setdefault(each.code, each)
        return tuple(sorted(found.values(), key=lambda each: each.rank))

    def message(self, text: str) -> ErrorMessage | None:
        """The first known message that ``text`` contains."""
        folded = " ".join(text.lower().split())
        return next((each for each in self.file.messages if any(part.lower() in folded for part in each.text)), None)

    def look_up(self, code: str) -> Found | None:
        """One code, as the documents spell it."""
        family = self.family(code)
        if code in self.file.codes:
            return Found(code, self.file.codes[code], family)
        composed = self.file.composed
        if family and code.startswith(composed.prefix):
            digits = code.removeprefix(composed.prefix)
            module, entry = composed.modules.get(digits[:2]), composed.kinds.get(digits[2:])
            return Found(code, entry if module else None, family, module)
        return Found(code, None, family) if family else None

    def family(self, code: str) -> ErrorFamily | None:
        """The narrowest family that the code belongs to."""
        return max(
            (family for family in self.file.families if family.matches(code)),
            key=lambda family: len(family.pattern.rstrip("x*")),
            default=None,
        )

    def _tokens(self, text: str) -> Iterator[Found]:
        alone = text.strip(" \t\r\n:;,.!'\"`()[]")
        for match in _TOKEN.finditer(text):
            token, before = match.group(), text[max(0, match.start() - 24) : match.start()]
            if token.isdigit() and _PROCESS.search(before):
                continue
            found = self.look_up(self.names.get(token, token))
            listed = found is not None and found.entry is not None
            if found and (listed or not token.isdigit() or token == alone or _ANNOUNCED.search(before)):
                yield found
