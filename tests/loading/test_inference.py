"""Dtypes that nobody gave, by what a model says to float32."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opscan.errors import ModelError
from opscan.inventory import Inventory, OpCall, TensorSpec, Trace
from opscan.loading.inference import with_inferred_dtypes
from opscan.loading.inputs import Input, InputSpec, parse_input, parse_input_shape
from opscan.loading.nested_inputs import tensors_of
from opscan.loading.preparation import Preparation
from opscan.loading.reference import PythonFileReference

SOURCE = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(9, 4)
    def forward(self, {parameters}):
        {body}
"""
EMPTY = Inventory("m", 0, Trace("dispatch", "cpu", "2.0", False, True), ())


@pytest.fixture(autouse=True)
def clean_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The files of these tests do not stay imported."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "argv", sys.argv[:])
    yield
    sys.modules.pop("net", None)


Infer = Callable[..., tuple[dict[str, str], list[str]]]


@pytest.fixture
def infer(tmp_path: Path) -> Infer:
    """dtypes of the inputs after all retries, and the notes."""

    def run(parameters: str, body: str, *given: str) -> tuple[dict[str, str], list[str]]:
        path = tmp_path / "net.py"
        path.write_text(SOURCE.format(parameters=parameters, body=body))
        inputs: tuple[Input, ...] = tuple(parse_input(g) if "=" in g else parse_input_shape(g) for g in given)
        prepared = Preparation(PythonFileReference(str(path)), inputs, train=False)

        def trace() -> Inventory:
            model, args, kwargs = prepared.build()
            try:
                model(*args, **kwargs)
            except Exception as error:
                raise ModelError(str(error)) from error
            return EMPTY

        _, notes = with_inferred_dtypes(prepared, trace)
        names = [n.strip() for n in parameters.split(",")]
        found = {
            spec.name or names[i]: ",".join(t.dtype for t in tensors_of(spec)) for i, spec in enumerate(prepared.inputs)
        }
        return found, [note.en for note in notes]

    return run


def test_the_input_that_the_embedding_refuses(infer: Infer) -> None:
    found, notes = infer("values, ids", "return self.table(ids) * values[..., None]", "1,3", "1,3")
    assert found == {"values": "float32", "ids": "int64"}
    assert len(notes) == 1
    assert "ids" in notes[0]
    assert "int64 was taken" in notes[0]


def test_one_after_the_other(infer: Infer) -> None:
    found, notes = infer("a, b", "return self.table(a).sum() + self.table(b).sum()", "1,4", "1,2")
    assert found == {"a": "int64", "b": "int64"}
    assert len(notes) == 2


def test_by_its_name_where_the_tensor_is_derived(infer: Infer) -> None:
    found, _ = infer("x, token_ids", "return self.table(token_ids[:, 0]) + x", "2,4", "2,3")
    assert found == {"x": "float32", "token_ids": "int64"}


def test_masks_become_boolean(infer: Infer) -> None:
    found, _ = infer("x, mask", "return x.masked_fill(mask, 0.0)", "2,4", "mask=2x4")
    assert found == {"x": "float32", "mask": "bool"}


def test_inside_containers(infer: Infer) -> None:
    found, _ = infer("batch", "return self.table(batch['ids'])", "{ids: 1x3, more: 1x3:float16}")
    assert found == {"batch": "int64,float16"}


def test_what_was_said_is_left_alone(infer: Infer) -> None:
    with pytest.raises(ModelError, match="indices"):
        infer("ids", "return self.table(ids)", "1,3:float32")


def test_other_errors_pass(infer: Infer) -> None:
    with pytest.raises(ModelError, match="shapes cannot be multiplied"):
        infer("x", "return x @ torch.ones(9, 9)", "1,3")


def test_an_adapter_that_launches_all_the_same(tmp_path: Path) -> None:
    """A real adapter may not refuse: then the call tells."""
    (tmp_path / "net.py").write_text(SOURCE.format(parameters="ids", body="return self.table(ids)"))
    prepared = Preparation(PythonFileReference(str(tmp_path / "net.py")), (parse_input_shape("1,3"),), train=False)

    def trace() -> Inventory:
        prepared.build()
        (spec,) = prepared.inputs
        assert isinstance(spec, InputSpec)
        indices = TensorSpec(spec.dtype, spec.shape)
        call = OpCall(
            "aten::embedding", "forward", (TensorSpec("float32", (9, 4)), indices), (), parameters=("weight", "indices")
        )
        return Inventory("m", 0, EMPTY.trace, (call,))

    inventory, notes = with_inferred_dtypes(prepared, trace)
    assert inventory.calls[0].inputs[1].dtype == "int64"
    assert len(notes) == 1
