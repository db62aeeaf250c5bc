"""The one way in which files of the matrix are written: sorted keys, one entry of a table a line, LF, UTF-8."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec


def render(document: msgspec.Struct, tables: tuple[str, ...]) -> bytes:
    """``document`` as JSON: every key of ``tables`` with one entry a line, the rest one key a line."""
    plain: dict[str, Any] = msgspec.to_builtins(document)
    lines = ["{"]
    for key in sorted(plain):
        comma = "" if key == max(plain) else ","
        if key in tables:
            entries = [f"{_compact(name)}: {_compact(_lean(plain[key][name]))}" for name in sorted(plain[key])]
            lines += (
                [f"{_compact(key)}: {{", ",\n".join(entries), "}" + comma]
                if entries
                else [f"{_compact(key)}: {{}}{comma}"]
            )
        else:
            lines.append(f"{_compact(key)}: {_compact(plain[key])}{comma}")
    return ("\n".join([*lines, "}"]) + "\n").encode()


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _lean(value: Any) -> Any:
    """Without what a reader fills in by default: empty lists, strings and tables, zeros, and most ``false``."""
    if isinstance(value, dict):
        return {k: _lean(v) for k, v in value.items() if v not in ("", [], (), {}, 0) or k in _KEPT}
    if isinstance(value, (list, tuple)):
        return [_lean(item) for item in value]
    return value


_KEPT = frozenset({"supported", "table"})


def write(path: Path, content: bytes) -> None:
    """Write whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".draft")
    draft.write_bytes(content)
    os.replace(draft, path)
