"""Raw tables of observations are found by name and merged into one file a release and SoC."""

from __future__ import annotations

import csv
import gzip
import io
import shutil
from pathlib import Path

import msgspec
import pytest

from opscan.matrix.build.observed import ObservedTable, build, observed_tables
from opscan.matrix.files import ObservedFile, Row

HEADER = ("phase", "overload", "tensor_dtypes", "results", "outcome", "kernels", "seen")

pytestmark = pytest.mark.skipif(
    not (Path(__file__).resolve().parents[2] / "support_matrix" / "sources").is_dir(),
    reason="an installation has no raw tables",
)


def write_table(root: Path, name: str, *rows: tuple[str, ...]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows((HEADER, *rows))
    (root / "sources").mkdir(exist_ok=True)
    (root / "sources" / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


@pytest.fixture
def small(tmp_path: Path, root: Path) -> Path:
    """A matrix with the real list of SoCs and no observations."""
    (tmp_path / "sources").mkdir()
    shutil.copy(root / "sources" / "socs.csv", tmp_path / "sources")
    return tmp_path


def test_names_tell_release_soc_and_what_the_runtime_lacked(small: Path) -> None:
    for name in ("kernels_2.13.0_Ascend910_9392", "calls_2.6.0.post5_Ascend310P3", "without_8.5.0_2.13.0_Ascend910B3"):
        write_table(small, f"observed_{name}")
    write_table(small, "versions")
    assert observed_tables(small) == (
        ObservedTable("observed_without_8.5.0_2.13.0_Ascend910B3", "2.13.0", "Ascend910B3", "8.5.0"),
        ObservedTable("observed_kernels_2.13.0_Ascend910_9392", "2.13.0", "Ascend910_9392", ""),
        ObservedTable("observed_calls_2.6.0.post5_Ascend310P3", "2.6.0.post5", "Ascend310P3", ""),
    )


def test_one_file_a_release_and_soc_and_one_name_may_be_two_socs(small: Path) -> None:
    row = ("forward", "aten.relu.default", "float16", "float16", "ok", "aclnnRelu[T:float16 T:float16]", "1")
    write_table(small, "observed_kernels_2.13.0_Ascend950", row)
    write_table(small, "observed_kernels_2.9.0.post9_Ascend910B3", row)
    files = build(small)
    assert sorted(files) == [
        "observed/2.13.0/ascend950dt.json",
        "observed/2.13.0/ascend950pr.json",
        "observed/2.9.0.post9/ascend910b.json",
    ]
    file = msgspec.json.decode(files["observed/2.9.0.post9/ascend910b.json"], type=ObservedFile)
    assert (file.release, file.soc) == ("2.9.0.post9", "ascend910b")
    assert file.ops["aten::relu"].rows == (Row("float16", "float16", ("aclnnRelu[T:float16 T:float16]",)),)


def test_a_refusal_counts_only_where_the_arguments_were_made_for_the_call(small: Path) -> None:
    refusal = "raised: Input data type should not be float64"
    write_table(
        small,
        "observed_calls_2.13.0_Ascend310P3",
        ("forward", "aten.roll.default", "float64", "", refusal, "", "1"),
        ("derived", "aten.stack.out", "float64 float64", "", refusal, "", "1"),
        ("derived", "aten.neg.out", "int8 int8", "int8", "ok", "GE Neg[int8 > int8]", "1"),
        ("derived", "c10d.barrier.default", "", "", "skipped: needs a process group", "", "1"),
    )
    file = msgspec.json.decode(build(small)["observed/2.13.0/ascend310p.json"], type=ObservedFile)
    assert sorted(file.ops) == ["aten::neg.out", "aten::roll"]
    assert file.ops["aten::roll"].rows == (Row("float64", refused="Input data type should not be float64"),)
    assert file.ops["aten::neg.out"].rows == (Row("int8 int8", "int8", ("GE Neg[int8 > int8]",)),)


def test_a_runtime_without_apis_tells_of_operators_that_launch_them_and_adds_the_rest_as_plain_rows(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opscan.matrix.build.observed.documented", lambda *_: frozenset({"aclnnTopk", "aclnnMul"}))
    write_table(
        small,
        "observed_calls_2.13.0_Ascend910B3",
        ("forward", "aten.topk.default", "float16", "float16 int64", "ok", "aclnnTopkV2[T:float16 T:int64]", "1"),
        ("forward", "aten.mul.Tensor", "int8 int8", "int8", "ok", "aclnnMul[T:int8 T:int8]", "1"),
    )
    write_table(
        small,
        "observed_without_9.1.0_2.13.0_Ascend910B3",
        ("forward", "aten.topk.default", "float16", "float16 int64", "ok", "aclnnTopk[T:float16 T:int64]", "1"),
        ("forward", "aten.mul.Tensor", "int8 int8", "int8", "ok", "aclnnMul[T:int8 T:int8]", "1"),
        ("forward", "npu.npu_gru.default", "float16", "float16", "ok", "GE DynamicGRUV2[float16 > float16]", "1"),
    )
    ops = msgspec.json.decode(build(small)["observed/2.13.0/ascend910b.json"], type=ObservedFile).ops
    assert [(row.kernels, row.cann) for row in ops["aten::topk"].rows] == [
        (("aclnnTopkV2[T:float16 T:int64]",), ()),
        (("aclnnTopk[T:float16 T:int64]",), ("9.1.0",)),
    ]
    assert [row.cann for row in ops["aten::mul.Tensor"].rows] == [()]
    assert [row.cann for row in ops["npu::npu_gru"].rows] == [()]


def test_a_setting_that_precedes_the_first_random_operator_is_no_launch_of_it(small: Path) -> None:
    first, later = "aclnnSetPytorchRandom[?] ; aclnnInplaceNormal[T:float16 0 0]", "aclnnInplaceNormal[T:float16 0 0]"
    write_table(
        small,
        "observed_calls_2.13.0_Ascend950",
        *(("forward", "aten.randn_like.default", "float16", "float16", "ok", events, "1") for events in (first, later)),
    )
    ops = msgspec.json.decode(build(small)["observed/2.13.0/ascend950pr.json"], type=ObservedFile).ops
    assert ops["aten::randn_like"].rows == (Row("float16", "float16", ("aclnnInplaceNormal[T:float16 v v]",)),)
