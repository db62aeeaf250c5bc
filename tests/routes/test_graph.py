"""The graph route over small tables made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import COMPOSITE, CPU_ONLY, adapter, cann, ge, native, open_matrix, releases, torchair

from opscan.matrix import Matrix
from opscan.matrix.files import Converter, GeOp
from opscan.routes.graph import graph


def implemented(*ge_ops: str) -> Converter:
    return Converter("implemented", ge_ops, source="aten/x.py")


OPS = {name: native() for name in ("aten::abs", "aten::add.Tensor", "aten::sub.Tensor", "aten::none", "aten::one")}
OPS |= {"aten::lgamma": CPU_ONLY, "aten::dropout": COMPOSITE}
CONVERTERS = {
    "aten::abs": implemented("Abs"),
    "aten::add.Tensor": implemented("Add", "Cast"),
    "aten::sub.Tensor": implemented("Sub"),
    "aten::mul.Tensor": implemented("Abs", "HalfOnly"),
    "aten::view": implemented("Reshape"),
    "aten::conv3d": implemented("Conv3D"),
    "aten::dark": implemented("NoSuchOperator"),
    "aten::fft": Converter("raises", source="aten/fft.py"),
    "aten::empty": implemented(),
}
ENGINE = {
    "Abs": ge("float16", "float32"),
    "Add": ge("float32", "int32"),
    "Sub": ge("int64", engine="ai_cpu"),
    "HalfOnly": ge("float16"),
    "Reshape": ge("float32"),
    "Conv3D": GeOp(absent=True, source="op-info"),
}


def matrix_in(root: Path, engine: dict[str, GeOp] | None = None) -> Matrix:
    files = adapter("2.13.0", OPS), torchair("2.13.0", CONVERTERS), cann("9.1.0", {}, engine or ENGINE)
    return open_matrix(root, *files)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return matrix_in(tmp_path_factory.mktemp("matrix"))


@pytest.mark.parametrize(
    ("operator", "dtype", "verdict", "rule"),
    [
        ("aten::abs", "float32", "supported", None),
        ("aten::abs", "int8", "unsupported", "OPS104"),
        ("aten::add.Tensor", "int32", "supported", None),  # Cast only carries arguments
        ("aten::sub.Tensor", "int64", "slow", "OPS202"),
        ("aten::mul.Tensor", "float32", "unknown", "OPS304"),  # which of two operators it emits depends on the call
        ("aten::view", "float32", "supported", None),  # nothing but carrying
        ("aten::conv3d", "float32", "unsupported", "OPS105"),
        ("aten::dark", "float32", "unknown", "OPS306"),
        ("aten::fft", "float32", "unsupported", "OPS112"),
        ("aten::empty", "float32", "unknown", "OPS308"),
        ("aten::none", "float32", "unsupported", "OPS111"),
        ("aten::lgamma", "float32", "unsupported", "OPS111"),
        ("aten::dropout", "float32", "unknown", "OPS307"),  # its parts decide
        ("aten::no_such_operator", "float32", "unknown", "OPS301"),
    ],
)
def test_verdicts(matrix: Matrix, operator: str, dtype: str, verdict: str, rule: str | None) -> None:
    ruling = graph(matrix, operator, dtype).ruling
    assert (ruling.verdict, ruling.rule) == (verdict, rule), ruling.reason


def test_what_an_answer_rests_on(matrix: Matrix) -> None:
    answer = graph(matrix, "aten::abs", "float32")
    assert [case.name for case in answer.cases] == ["Abs"]
    assert [(e.kind, e.release, e.source) for e in answer.ruling.evidence] == [
        ("torchair", "2.13.0", "aten/x.py"),
        ("cann", "9.1.0", "op-info"),
    ]


def test_float32_is_not_narrowed_as_atc_does(matrix: Matrix) -> None:
    assert graph(matrix, "aten::mul.Tensor", "float32").cases[1].ruling.verdict == "unsupported"


def test_without_a_table_of_converters_nothing_is_known(tmp_path: Path) -> None:
    matrix = open_matrix(tmp_path, adapter("2.13.0", OPS), cann("9.1.0", {}, ENGINE))
    ruling = graph(matrix, "aten::abs", "float32").ruling
    assert (ruling.verdict, ruling.rule) == ("unknown", "OPS305")


def test_without_a_table_of_the_soc_only_the_converter_tells(tmp_path: Path) -> None:
    files = adapter("2.13.0", OPS), torchair("2.13.0", CONVERTERS), cann("9.1.0", {}, ENGINE)
    matrix = open_matrix(tmp_path, *files, soc="ascend910")
    rulings = {op: graph(matrix, op, "float32").ruling for op in ("aten::abs", "aten::fft", "aten::none")}
    assert {op: (r.verdict, r.rule) for op, r in rulings.items()} == {
        "aten::abs": ("unknown", "OPS305"),
        "aten::fft": ("unsupported", "OPS112"),
        "aten::none": ("unsupported", "OPS111"),
    }


def test_the_nearest_releases_answer_where_they_agree(tmp_path: Path) -> None:
    files = (
        adapter("2.13.0", OPS),
        torchair("2.13.0", CONVERTERS),
        cann("8.1.RC1", {}, {"Abs": ge("float32"), "Sub": ge("float32")}),
        cann("8.5.0", {}, {"Abs": ge("float32"), "Sub": ge("int32")}),
    )
    known = releases(*files, nearest={"8.3.RC1": ("8.1.RC1", "8.5.0")})
    matrix = open_matrix(tmp_path, *files, known, cann="8.3.RC1")
    assert graph(matrix, "aten::abs", "float32").ruling.verdict == "supported"
    differ = graph(matrix, "aten::sub.Tensor", "float32").ruling
    assert (differ.verdict, differ.rule) == ("unknown", "OPS303")
    assert differ.facts["detail"] == "supported at CANN 8.1.RC1; unsupported at CANN 8.5.0"
