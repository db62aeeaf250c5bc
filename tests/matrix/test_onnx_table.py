from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from opscan.errors import MatrixError
from opscan.matrix.build.onnx import TARGETS, build
from opscan.matrix.build.writing import render, write
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import SCHEMA, OnnxFile, OnnxOp, Source
from opscan.matrix.onnx_table import OnnxTable, canonical
from opscan.matrix.schema import load_schema


@pytest.fixture
def table(tmp_path: Path) -> OnnxTable:
    ops = {
        "ai.onnx::Upsample": OnnxOp((8, 9, 11), ("Resize",), subgraph=True),
        "ai.onnx::Acos": OnnxOp((8, 9), ("Acos",), borrowed="8.5.0"),
        "npu::NPUMish": OnnxOp((1,), ("Mish",)),
    }
    file = OnnxFile(SCHEMA, "8.1.RC1", (Source("t"),), ops, ("ai.onnx::Bucketize",))
    write(tmp_path / "onnx" / "8.1.RC1.json", render(file, ("ops",)))
    found = OnnxTable.load("8.1.RC1", (tmp_path / "empty", tmp_path))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "opset", "status"),
    [
        ("ai.onnx::Upsample", 11, "accepted"),
        ("ai.onnx::Upsample", 10, "opset"),
        ("ai.onnx::Acos", 11, "doubtful"),  # the list is another release's
        ("ai.onnx::Acos", 19, "opset"),  # nothing standard is read at 19
        ("ai.onnx::Loop", 18, "none"),
        ("ai.onnx::Bucketize", 18, "unknown"),  # only later releases are known to read it
        ("npu::NPUMish", 18, "accepted"),  # the model's opset is of another domain
        ("com.microsoft::Gelu", 18, "none"),
    ],
)
def test_parsers(table: OnnxTable, name: str, opset: int, status: str) -> None:
    assert table.parser_for(name, opset).status == status


def test_a_refusal_names_the_opsets_that_are_accepted(table: OnnxTable) -> None:
    assert table.parser_for("Upsample", 18).opsets == (8, 9, 11)


def test_an_empty_domain_is_the_standard_one() -> None:
    assert canonical("Conv") == canonical("::Conv") == "ai.onnx::Conv"
    assert canonical("mmdeploy::NMSRotated") == "mmdeploy::NMSRotated"


def test_no_table_is_none_and_a_damaged_one_is_an_error(tmp_path: Path) -> None:
    assert OnnxTable.load("9.9.9", (tmp_path,)) is None
    write(tmp_path / "onnx" / "9.9.9.json", b'{"schema": 1, "release": "9.9.9", "sources": [], "ops": {"a::B": {}}}')
    with pytest.raises(MatrixError, match=r"9\.9\.9\.json: key ops\.a::B: "):
        OnnxTable.load("9.9.9", (tmp_path,))


needs_sources = pytest.mark.skipif(
    not (Path(__file__).resolve().parents[2] / "support_matrix" / "sources").is_dir(),
    reason="an installation has no raw tables",
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OnnxTable]:
    """The tables as the raw tables give them."""
    root = tmp_path_factory.mktemp("matrix")
    for name, content in build(support_matrix_dir()).items():
        write(root / name, content)
    validator = jsonschema_rs.validator_for(load_schema(support_matrix_dir(), "onnx"))
    assert all(validator.is_valid(json.loads(path.read_bytes())) for path in root.glob("onnx/*.json"))
    tables = {target: OnnxTable.load(target, (root,)) for target in TARGETS}
    return {target: table for target, table in tables.items() if table is not None}


@needs_sources
@pytest.mark.parametrize("target", TARGETS)
def test_what_every_release_reads(built: dict[str, OnnxTable], target: str) -> None:
    table = built[target]
    for name in ("Conv", "Gemm", "MaxPool", "AveragePool", "ConvTranspose", "LayerNormalization", "Resize", "Concat"):
        assert table.parser_for(name, 18).status == "accepted", name
    assert table.parser_for("LayerNormalization", 16).opsets == (17, 18)
    assert all(max(entry.opsets) <= 18 for name, entry in table.ops.items() if name in ("ai.onnx::Abs", "ai.onnx::If"))
    assert table.parser_for("ai.onnx::Scan", 18).status == "none"


@needs_sources
def test_variants_and_ranges_are_united(built: dict[str, OnnxTable]) -> None:
    # ops-math math/top_k: opsets 8 and 9 by a graph, the others directly (branch 9.1.0 @165d41f02a43).
    top = built["9.1.0"].ops["ai.onnx::TopK"]
    assert (top.opsets, top.ge) == (tuple(range(8, 19)), ("TopK",))
    # ops-cv image/grid_sample: registered at these opsets only (branch 9.1.0 @bb717d075d12).
    assert built["9.1.0"].ops["ai.onnx::GridSample"].opsets == (11, 16, 17, 18)


@needs_sources
def test_what_a_graph_is_made_of(built: dict[str, OnnxTable]) -> None:
    # ops-nn common/src/framework/gemm_onnx_plugin.cpp (branch 9.2.0-beta.1 @b4d1c671b9d4)
    gemm = built["9.1.0"].ops["ai.onnx::Gemm"]
    assert (gemm.subgraph, gemm.ge, gemm.borrowed) == (True, ("Add", "MatMulV2", "Muls"), "9.2.0-beta.1")


@needs_sources
def test_what_is_borrowed(built: dict[str, OnnxTable]) -> None:
    assert {entry.borrowed for entry in built["8.1.RC1"].ops.values()} == {"8.5.0", "9.0.0", "9.2.0-beta.1"}
    # The beta has no attention repository; 9.1.0 has it.
    assert built["9.2.0-beta.1"].ops["npu::NPUFlashAttention"].borrowed == "9.1.0"
    # Public with the beta, and in no older document: nothing tells of the releases before.
    assert built["9.1.0"].parser_for("ai.onnx::Bucketize").status == "unknown"
    # Public since 9.0.0, but listed by the older documents.
    assert built["8.5.0"].ops["ai.onnx::NonMaxSuppression"].borrowed == "9.0.0"
