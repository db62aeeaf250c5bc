from __future__ import annotations

import gzip
import json

import jsonschema_rs
import pytest

from opscan.matrix.build.onnx_exports import build
from opscan.matrix.build.writing import write
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.exports_table import Export, ExportsTable, OnnxNode
from opscan.matrix.schema import load_schema

RAW = """overload,exporter,opset,dtypes,outcome,onnx_ops,seen
aten::add.Tensor,dynamo,18,float32,ok,ai.onnx::Add[float32],3
aten::add.Tensor,dynamo,18,int64,ok,ai.onnx::Add[int64],1
aten::add.Tensor,torchscript,18,complex64,refused: RuntimeError,,1
aten::where.self,dynamo,18,bool float32,ok,"ai.onnx::Where[bool,float32]",1
aten::where.self,dynamo,18,bool,ok,ai.onnx::Where[bool],1
aten::exp2,torchscript,18,float32,ok,ai.onnx::Pow[float32],1
aten::exp2,torchscript,18,float32,refused: UnsupportedOperatorError,,1
aten::sum,dynamo,18,float32,ok,,1
aten::sum,dynamo,18,float32,ok,"ai.onnx::ReduceSum[float32,int64] ai.onnx::Cast[?]",1
aten::gelu,dynamo,20,float32,ok,ai.onnx::Gelu[float32],1
aten::zeros,dynamo,18,,ok,,1
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ExportsTable:
    root = tmp_path_factory.mktemp("matrix")
    (root / "sources").mkdir()
    (root / "sources" / "onnx_exports_2.13.0.csv.gz").write_bytes(gzip.compress(RAW.encode()))
    files = build(root)
    assert build(root) == files
    for name, content in files.items():
        write(root / name, content)
        jsonschema_rs.validate(load_schema(support_matrix_dir(), "onnx_exports"), json.loads(content))
    found = ExportsTable.load(roots=(root,))
    assert found is not None
    return found


def test_dtypes_that_export_alike_are_one_entry(table: ExportsTable) -> None:
    entry = table.ops.get("aten::add.Tensor")
    assert entry is not None
    assert [(e.dtypes, e.ops) for e in entry.dynamo] == [(("float32", "int64"), ("ai.onnx::Add[T]",))]
    assert table.exports("aten::add.Tensor", "int64", "dynamo") == (Export((OnnxNode("ai.onnx::Add", ("int64",)),)),)
    assert table.exports("aten::add.Tensor", "float64", "dynamo") == ()
    assert table.exports("aten::add.Tensor", "complex64", "torchscript") == (Export((), "RuntimeError"),)


def test_a_mask_is_not_the_data(table: ExportsTable) -> None:
    where = OnnxNode("ai.onnx::Where", ("bool", "float32"))
    assert table.exports("aten::where.self", "float32", "dynamo") == (Export((where,)),)
    assert table.exports("aten::where.self", "bool", "dynamo") == (Export((OnnxNode("ai.onnx::Where", ("bool",)),)),)


def test_an_alias_without_translation_says_nothing_of_the_overload(table: ExportsTable) -> None:
    assert [e.refused for e in table.exports("aten::exp2", "float32", "torchscript")] == [""]


def test_calls_that_leave_nothing_and_dtypes_that_are_not_known(table: ExportsTable) -> None:
    nodes = (OnnxNode("ai.onnx::Cast", ()), OnnxNode("ai.onnx::ReduceSum", ("float32", "int64")))
    assert table.exports("aten::sum", "float32", "dynamo") == (Export(nodes),)


def test_a_newer_opset_is_a_refusal(table: ExportsTable) -> None:
    assert [e.refused for e in table.exports("aten::gelu", "float32", "dynamo")] == ["opset 20"]


def test_calls_in_place_and_calls_without_tensors(table: ExportsTable) -> None:
    assert "aten::add_.Tensor" in table
    assert table.exports("aten::add_.Tensor", "float32", "dynamo") == table.exports(
        "aten::add.Tensor", "float32", "dynamo"
    )
    assert table.exports("aten::zeros", "float16", "dynamo") == (Export(()),)
    assert "aten::never_seen" not in table
