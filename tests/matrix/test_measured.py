from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import adapter, api, cann, native, observed, row, write_matrix

from opscan.errors import MatrixError
from opscan.matrix import Matrix
from opscan.matrix.build.writing import render, write
from opscan.matrix.claims import KernelClaim
from opscan.matrix.files import SCHEMA, MeasuredFile, MeasuredOp, Measurement
from opscan.matrix.holdings import holdings
from opscan.matrix.measured import claim_of, like, over_tables
from opscan.target import Target

TARGET = Target("2.6.0", "8.5.0", "ascend910b")


def measurement(status: str, dtypes: str = "float32 float32", rank: int = 2, **more: object) -> Measurement:
    return Measurement("0" * 32, "8.5.0", status, f"aten::add.Tensor({dtypes})", dtypes, rank, **more)  # type: ignore[arg-type]


def test_a_call_is_like_one_of_the_same_dtypes_and_rank() -> None:
    rows = (measurement("native"), measurement("native", "float16 float16"), measurement("native", rank=3))
    assert like(rows, ("float32", "float32"), 2, "8.5.0") == rows[:1]
    assert like(rows, ("float32", "float32"), None, "8.5.0") == (rows[0], rows[2])
    assert like(rows, ("float32",), 2, "8.5.0") == rows[:1]  # but for repeats
    assert like(rows, ("float32", "int64"), 2, "8.5.0") == ()
    assert like(rows, ("float32", "float32"), 2, "9.1.0") == ()


@pytest.mark.parametrize(
    ("status", "expected", "code"),
    [
        ("native", "supported", "ok"),
        ("fallback", "supported", "ok"),
        ("refused", "unsupported", "raises"),
        ("wrong", "unsupported", "wrong"),
        ("crashed", "unsupported", "crashed"),
    ],
)
def test_each_status_becomes_a_claim(status: str, expected: str, code: str) -> None:
    claim = claim_of((measurement(status, detail="161002"),), "2.6.0", "here")
    assert (claim.status, claim.code) == (expected, code)
    assert claim.cpu_inside == (status == "fallback")
    assert [(e.kind, e.release, e.source) for e in claim.evidence] == [("npu", "2.6.0", "here")]


def test_calls_that_disagree_leave_it_unknown() -> None:
    claim = claim_of((measurement("native"), measurement("refused", detail="too long")), "2.6.0", "here")
    assert (claim.status, claim.code) == ("unknown", "arguments")
    assert "refused (too long)" in claim.detail


def test_what_tables_say_otherwise_is_shown_as_a_conflict() -> None:
    measured = claim_of((measurement("native"),), "2.6.0", "here")
    against = KernelClaim("unsupported", "dtype", "aclnnAdd", "self", "float32")
    claim = over_tables(measured, against)
    assert claim.status == "supported"
    assert claim.conflicts == ("measured on an NPU: supported; by the tables: unsupported (aclnnAdd self float32)",)
    assert over_tables(measured, KernelClaim("unknown")).conflicts == ()


def _matrix(tmp_path: Path, *rows: Measurement) -> Matrix:
    files = (
        adapter("2.6.0", {"aten::add.Tensor": native("aclnnAdd")}),
        observed("2.6.0", {"aten::add.Tensor": (row("float32 float32", "aclnnAdd[T:float32 T:float32 T:float32]"),)}),
        cann("8.5.0", {"aclnnAdd": api("float32", other=("float32",))}),
    )
    write_matrix(tmp_path, *files)
    file = MeasuredFile(SCHEMA, "2.6.0", "ascend910b", (), {"aten::add.Tensor": MeasuredOp(rows)})
    write(tmp_path / "measured" / "2.6.0" / "ascend910b.json", render(file, ("ops",)))
    return Matrix.load(TARGET, tmp_path)


def test_a_measurement_answers_before_the_tables(tmp_path: Path) -> None:
    matrix = _matrix(tmp_path, measurement("wrong", detail="relative error 0.5"))
    claim = matrix.kernels("aten::add.Tensor", ("float32", "float32"), ("float32",), 2)
    assert (claim.status, claim.code, claim.detail) == ("unsupported", "wrong", "relative error 0.5")
    assert [e.kind for e in claim.evidence][:1] == ["npu"]
    assert claim.conflicts


def test_other_ranks_and_releases_are_answered_by_the_tables(tmp_path: Path) -> None:
    matrix = _matrix(tmp_path, measurement("wrong"))
    assert matrix.kernels("aten::add.Tensor", ("float32", "float32"), ("float32",), 4).status == "supported"


def test_a_damaged_row_names_file_and_operator(tmp_path: Path) -> None:
    matrix = _matrix(tmp_path, measurement("native"))
    path = tmp_path / "measured" / "2.6.0" / "ascend910b.json"
    path.write_text(path.read_text().replace('"native"', '"splendid"'))
    with pytest.raises(MatrixError, match=r"ascend910b\.json: key ops\.aten::add\.Tensor"):
        Matrix.load(matrix.target, tmp_path).kernels("aten::add.Tensor", ("float32", "float32"), ("float32",), 2)


def test_holdings_tell_where_something_was_measured(tmp_path: Path) -> None:
    _matrix(tmp_path, measurement("native"))
    (found,) = holdings((tmp_path,)).adapters
    assert (found.observed, found.measured) == (("ascend910b",), ("ascend910b",))
