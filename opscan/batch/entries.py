"""One model of a batch, and the options of its scan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from opscan.errors import UsageError

#: A value of an option: ``True`` for a flag, several for one that repeats.
OptionValue = bool | str | tuple[str, ...]

#: What a batch decides by itself for each scan.
OWN = ("html", "json", "lang", "debug", "help")

#: Options that are about building and running a model. A file that is read and not run takes none of them.
_RUNNING = ("input-shape", "input", "arg", "train", "optimizer", "amp")

_NAMED_INPUT = re.compile(r"\s*[A-Za-z_]\w*\s*=")


@dataclass(frozen=True, slots=True)
class Entry:
    """``folder`` is where the scan runs: references and imports are relative to it."""

    name: str
    reference: str
    folder: Path
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        """The options of its scan, then the reference; no value of them can be taken for an option."""
        words: list[str] = []
        for name, value in sorted(self.options.items()):
            if value is True:
                words.append(f"--{name}")
            elif isinstance(value, str):
                words.append(f"--{name}={value}")
            elif isinstance(value, tuple):
                words += [f"--{name}={each}" for each in value]
        return [*words, "--", self.reference]


def input_options(inputs: Iterable[str]) -> dict[str, OptionValue]:
    """``1,3,224,224`` is a positional input, ``ids=1x128:int64`` a named one."""
    named: list[str] = []
    positional: list[str] = []
    for text in inputs:
        (named if _NAMED_INPUT.match(text) else positional).append(text)
    found: dict[str, OptionValue] = {}
    if positional:
        found["input-shape"] = tuple(positional)
    if named:
        found["input"] = tuple(named)
    return found


def shared_options(reference: str, options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Those of the options that are given for all models and make sense for this one."""
    if reference.lower().endswith(".onnx"):
        return {name: value for name, value in options.items() if name not in _RUNNING}
    return dict(options)


def check_options(options: Mapping[str, OptionValue], known: Mapping[str, bool], where: str) -> None:
    """Raise UsageError for an option that a scan does not have. ``known``: its options, and whether each is a flag."""
    for name, value in options.items():
        if name in OWN:
            raise UsageError(f"{where}: --{name} is decided by the batch.", "Leave it away.")
        if name not in known:
            raise UsageError(
                f"{where}: opscan scan has no option --{name}.", f"It has: {', '.join(sorted(set(known) - set(OWN)))}."
            )
        if known[name] and not isinstance(value, bool):
            raise UsageError(f"{where}: --{name} takes no value.", f"Write {name} = true")
        if not known[name] and isinstance(value, bool):
            raise UsageError(f"{where}: --{name} needs a value.", f'Write {name} = "…"')
