"""What ``opscan explain`` says of a rule or an error code, in one language; frozen, without any I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["rule", "code", "family", "message"]

#: What a code speaks of: an operator, dtype or shape that is not supported; wrong arguments, files or options;
#: installation, driver, configuration, network; memory and other resources; something that broke while it ran; or,
#: where the code alone does not say, the rest of the message.
About = Literal["coverage", "arguments", "environment", "resources", "fault", "unclear"]


@dataclass(frozen=True, slots=True)
class Related:
    """A rule or code that is worth looking at as well."""

    code: str
    title: str


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a fact comes from: the document, ``repository path @commit``, and the date of that commit."""

    document: str
    where: str
    date: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Empty texts do not apply: a code has no example, a rule no origin.

    ``subject`` is the code as it is spelled in the documents, ``name`` its symbolic name. ``successors`` are codes that
    later releases report instead; ``also`` are other codes found in the text that was asked about.
    """

    kind: Kind
    subject: str
    title: str
    name: str = ""
    origin: str = ""
    about: About | None = None
    verdict: str = ""
    severity: str = ""
    status: str = ""
    meaning: str = ""
    next: str = ""
    message: str = ""
    example: str = ""
    page: str = ""
    rules: tuple[Related, ...] = ()
    successors: tuple[Related, ...] = ()
    also: tuple[Related, ...] = ()
    sources: tuple[Citation, ...] = ()
