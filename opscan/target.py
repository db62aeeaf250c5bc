"""What a model is judged for: a torch_npu release, a CANN release, a SoC, and a migration route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Route = Literal["eager", "graph", "offline"]


@dataclass(frozen=True, slots=True)
class Target:
    """Canonical spellings only: ``opscan.matrix`` resolves aliases and defaults before it builds one."""

    torch_npu: str
    cann: str
    soc: str
    route: Route = "eager"

    def __str__(self) -> str:
        return f"torch_npu {self.torch_npu}, CANN {self.cann}, {self.soc}, {self.route}"
