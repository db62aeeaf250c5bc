"""What one family of stand-ins is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from opscan.tracing.cuda.extensions.calls import Calls


@dataclass(frozen=True, slots=True)
class StandIns:
    """Of one package, by the last part of a name, wherever in the package it is imported from.

    ``functions`` and ``modules`` compute results of the right shapes and dtypes, in place of a kernel; ``plain`` are
    helpers without a kernel; ``factories`` make what has to know of the run. ``source``: where the signatures are from.
    """

    package: str
    source: str
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    modules: Mapping[str, type[nn.Module]] = field(default_factory=dict)
    plain: Mapping[str, Any] = field(default_factory=dict)
    factories: Mapping[str, Callable[[Calls], Any]] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return any(name in kind for kind in (self.functions, self.modules, self.plain, self.factories))
