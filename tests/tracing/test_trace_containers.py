"""Inputs and outputs in whatever a model wraps them in."""

from __future__ import annotations

import pytest
from traced_files import Trace


def test_nested_inputs(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, batch, options=None):
                return batch["a"][0] + batch["b"] * options[1]["k"]
        def example_inputs():
            return ({"a": [torch.ones(2)], "b": torch.ones(2)},), {"options": (None, {"k": torch.ones(2)})}
        """
    )
    assert found.names() == ["aten::mul.Tensor", "aten::add.Tensor"]
    assert found.findings() == []


@pytest.mark.parametrize(
    "wrapper",
    [
        "Batch = dataclass(type('Batch', (), {'__annotations__': {'x': object, 'more': object}}))",
        "Batch = collections.namedtuple('Batch', 'x more')",
        "class Batch:\n"
        "    def __init__(self, x, more): self.x, self.more = x, more\n"
        "    def to(self, device): return Batch(self.x.to(device), [m.to(device) for m in self.more])",
    ],
    ids=["dataclass", "namedtuple", "to"],
)
def test_inputs_in_an_object(trace: Trace, wrapper: str) -> None:
    source = f"""\
import collections
from dataclasses import dataclass
{wrapper}
class M(nn.Module):
    def forward(self, batch):
        return batch.x.sin() + batch.more[0]
def example_inputs():
    return (Batch(torch.ones(3), [torch.ones(3)]),)
"""
    found = trace(source)
    assert found.names() == ["aten::sin", "aten::add.Tensor"]
    assert found.findings() == []


@pytest.mark.parametrize(
    "result",
    [
        "y",
        "(y, None)",
        "[y, {'a': 1}]",
        "{'logits': y, 'n': 3}",
        "Out(y)",
        "{'nested': [Out(y)]}",
        "Mapped({'logits': y})",
        "types.SimpleNamespace()",
        "None",
        "'text'",
    ],
)
def test_outputs_of_any_kind(trace: Trace, result: str) -> None:
    source = f"""
    import types
    from collections import UserDict
    from dataclasses import dataclass
    class Mapped(UserDict): pass
    @dataclass
    class Out:
        logits: torch.Tensor
        other: object = None
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 4)
        def forward(self, x):
            y = self.linear(x)
            return {result}
    """
    found = trace(source, "2,8", train=True)
    assert found.names() == ["aten::t", "aten::addmm"]
    if "y" in result.replace("types", ""):
        assert "aten::mm" in found.names("backward")
        assert found.names("optimizer")
        assert found.complete
    else:
        assert found.names("backward") == []
        assert not found.complete
        assert "requires a gradient" in found.inventory.trace.unseen[0]


def test_keyword_inputs(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, ids, mask=None, *, scale):
                assert ids.dtype is torch.int64 and mask.dtype is torch.bool
                return (ids * mask) * scale
        """,
        "ids=2,3:int64",
        "mask=2,3:bool",
        "scale=3",
    )
    assert [c.dtypes for c in found.calls] == [("int64", "bool"), ("int64", "float32")]


def test_a_scalar_input(trace: Trace) -> None:
    found = trace("def build_model():\n    return lambda x: x + 1", "[]")
    assert found.only("aten::add.Tensor").inputs[0].shape == ()


def test_an_empty_input(trace: Trace) -> None:
    found = trace("def build_model():\n    return lambda x: x + 1", "0,3")
    assert found.only("aten::add.Tensor").inputs[0].shape == (0, 3)


def test_inputs_that_require_gradients_keep_it(trace: Trace) -> None:
    found = trace(
        """
        class M(nn.Module):
            def forward(self, x):
                assert x.requires_grad
                return x.sin()
        def example_inputs():
            return torch.ones(3, requires_grad=True)
        """,
        train=True,
    )
    assert "aten::cos" in found.names("backward")
