"""What ATC says: operators without a parser, and without a kernel on the SoC.

Forms: ``No parser is registered for Op [NAME, optype [ai.onnx::16::GridSample]]`` with E19010 or EZ9010, ``No supported
Ops kernel and engine are found for [NAME], optype [TYPE]`` with EZ3003, ``Optype [TYPE] of Ops kernel [LIBRARY] is
unsupported`` with EZ3002, each behind ``CODE:`` and, in later releases, a time. The templates are in the error code
tables of CANN's graph engine (sources of ``support_matrix/errors.json``). Names of nodes are the user's and left out.
"""

from __future__ import annotations

import re

from opscan.importing import vocabulary
from opscan.importing.collector import Collector
from opscan.importing.observations import FileKind, Key

_OWN = re.compile(r"\bATC (?:start working|run (?:success|failed))|^\s*(?:E1\d{4}|EZ9010|W1\d{4}):")
_NO_PARSER = re.compile(r"No parser is registered for Op \[.{0,4000}?optype \[([^\]\[]{1,200})\]", re.ASCII)
_NO_PARSER_BARE = re.compile(r"No parser is registered for Op \[([^\]\[,]{1,200})\]", re.ASCII)
_NO_ENGINE = re.compile(r"No supported Ops kernel and engine are found for \[.{0,4000}?, ?optype \[([^\]\[]{1,200})\]")
_NO_LIBRARY = re.compile(r"Optype \[([^\]\[]{1,200})\] of Ops kernel \[[^\]\[]{1,200}\] is unsupported")


class AtcLog:
    kind: FileKind = "atc"

    def read(self, line: str, into: Collector) -> bool:
        if "o parser" in line:
            match = _NO_PARSER.search(line) or _NO_PARSER_BARE.search(line)
            if match:
                code = "EZ9010" if "EZ9010" in line else "E19010"
                into.add(Key("no_parser", vocabulary.onnx_operator(match[1].strip()), code=code))
                return True
        if "ptype [" in line:
            match = _NO_ENGINE.search(line)
            if match:
                self._no_kernel(match[1], "EZ3003", into)
                return True
            match = _NO_LIBRARY.search(line)
            if match:
                self._no_kernel(match[1], "EZ3002", into)
                return True
        return ("ATC " in line or line.lstrip()[:1] in ("E", "W")) and bool(_OWN.search(line))

    def _no_kernel(self, named: str, code: str, into: Collector) -> None:
        kernel = vocabulary.kernel(named)
        into.add(Key("no_kernel", "" if kernel else vocabulary.engine_type(named), kernel, code=code))
