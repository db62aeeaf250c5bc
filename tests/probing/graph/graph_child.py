"""Rehearses one model file in the graph route and writes its inventory: run in an environment with torch_npu."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import msgspec


def main(model: str, train: str, result: str) -> None:
    from opscan.loading.python_file import load
    from opscan.loading.reference import PythonFileReference
    from opscan.probing.graph.tracer import GraphTracer
    from opscan.tracing.interface import Recipe, TraceOptions
    from opscan.workload import Workload

    def build() -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        loaded = load(PythonFileReference(model), (), train == "train")
        return loaded.callable, loaded.args, loaded.kwargs

    options = TraceOptions(model, frozenset(), frozenset(), "2.13.0", "2.13.0", Workload(train == "train"))
    inventory = GraphTracer().trace(Recipe(build, Path(model).parent), options, lambda stage: None)
    Path(result).write_bytes(msgspec.json.encode(inventory))
    os._exit(0)


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    main(*sys.argv[1:])
