"""Programs of torch.export as graphs that can be run."""

from __future__ import annotations

import inspect
from typing import Any

from torch import fx


def module_of_program(program: Any) -> fx.GraphModule:
    """The program's own module. Its guards are text that would be run: they are left out."""
    if hasattr(program, "_guards_code"):
        program._guards_code = []
    options = {"check_guards": False} if "check_guards" in inspect.signature(program.module).parameters else {}
    return program.module(**options)  # type: ignore[no-any-return]
