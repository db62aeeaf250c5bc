"""In a process of its own: whether a package is loaded is a fact about a process."""

from __future__ import annotations

import json
import subprocess
import sys

_PROGRAM = """
import json, sys
import torch
from opscan.tracing.deferred_compiler import defer_compiler

defer_compiler()
from torch._subclasses.fake_tensor import FakeTensorMode

facts = {}
with FakeTensorMode():
    layer = torch.nn.BatchNorm1d(4)
    layer(torch.tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]))
    facts["loaded by a trace"] = "torch._dynamo.utils" in sys.modules

    @torch.compiler.disable
    def plain(x):
        return x + 1

    @torch._dynamo.disable(recursive=False)
    def with_arguments(x):
        return x + 2

    facts["disabled functions"] = [plain(1), with_arguments(1)]
    facts["loaded by disable"] = "torch._dynamo.utils" in sys.modules
    from torch._dynamo.source import LocalSource

    facts["loaded by a submodule"] = "torch._dynamo.utils" in sys.modules
    facts["a real source"] = LocalSource("x").name in ("x", "L['x']")
    torch._dynamo.mark_dynamic(torch.ones(3), 0)
    facts["disable is the real one"] = torch._dynamo.disable.__module__.startswith("torch._dynamo")
    facts["one package"] = torch._dynamo is sys.modules["torch._dynamo"]
print(json.dumps(facts))
sys.stdout.flush()
"""


def test_compiler_loads_only_when_something_asks_for_it() -> None:
    answer = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == {
        "loaded by a trace": False,
        "disabled functions": [2, 3],
        "loaded by disable": False,
        "loaded by a submodule": True,
        "a real source": True,
        "disable is the real one": True,
        "one package": True,
    }
