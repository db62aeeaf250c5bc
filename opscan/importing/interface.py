"""What the readers of text share: a line in, observations out."""

from __future__ import annotations

from typing import Protocol

from opscan.importing.collector import Collector
from opscan.importing.observations import FileKind


class LineReader(Protocol):
    """Looks for the messages of one program. A file is given to all readers of text, since one capture often holds the
    output of several.
    """

    kind: FileKind

    def read(self, line: str, into: Collector) -> bool:
        """Whether the line is one of this program's."""
