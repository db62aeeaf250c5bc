"""The generated files are what their raw tables give, byte for byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opscan.matrix.build import build_all, check
from opscan.matrix.build.observed import _row
from opscan.matrix.build.releases import cann_key
from opscan.matrix.build.tables import qualified
from opscan.matrix.files import Row

pytestmark = pytest.mark.skipif(
    not (Path(__file__).resolve().parents[2] / "support_matrix" / "sources").is_dir(),
    reason="an installation has no raw tables",
)


def test_the_tree_is_current(root: Path) -> None:
    assert check(root) == []


def test_a_build_is_repeatable_and_repairs_what_was_edited(tmp_path: Path, root: Path) -> None:
    copy = tmp_path / "support_matrix"
    shutil.copytree(root, copy)
    edited, stray = copy / "socs.json", copy / "cann" / "1.0.0" / "ascend910b.json"
    edited.write_text("{}", encoding="utf-8")
    stray.parent.mkdir()
    stray.write_text("{}", encoding="utf-8")
    assert check(copy) == sorted([edited, stray])
    build_all(copy)
    assert edited.read_bytes() == (root / "socs.json").read_bytes()


def test_files_are_lines_in_order(root: Path) -> None:
    for path in [*root.glob("torch_npu/*.json"), *root.glob("cann/*/*.json"), *root.glob("observed/*/*.json")]:
        content = path.read_bytes()
        assert b"\r" not in content
        assert content.endswith(b"}\n")
        entries = [
            line.split(b'"')[1] for line in content.splitlines() if line.startswith(b'"') and line.count(b'": {')
        ]
        tables = [entry for entry in entries if b"::" in entry or entry.startswith((b"aclnn", b"GE "))]
        assert tables == sorted(tables)
        assert len(tables) > 500


@pytest.mark.parametrize(
    ("overload", "name"),
    [
        ("aten.add.Tensor", "aten::add.Tensor"),
        ("aten.addmm.default", "aten::addmm"),
        ("npu.npu_fusion_attention_v3.default", "npu::npu_fusion_attention_v3"),
    ],
)
def test_overload_names(overload: str, name: str) -> None:
    assert qualified(overload) == name


def test_releases_of_cann_in_order() -> None:
    order = ["8.0.RC1", "8.0.RC3", "8.0.0", "8.1.RC1", "8.5.X", "9.1.0"]
    assert sorted(reversed(order), key=cann_key) == order


def test_raw_rows_are_reduced_to_what_tells() -> None:
    kernels = (
        "aclnnMin[T:int64 T:int64] ; copy ; aclnnMin[T:int64 T:int64] ; H2D ; copy ; aclnnBincount[T:int64 0 v T:int64]"
    )
    row = _row("int64", "int64", "ok", kernels)
    assert row == Row("int64", "int64", ("aclnnMin[T:int64 T:int64]", "aclnnBincount[T:int64 v v T:int64]"), copies=2)


@pytest.mark.parametrize(
    ("outcome", "kept"),
    [
        ("raised: svd_npu only supported Float, but getdouble", True),
        ("raised: \"exponential_\" not implemented for 'Bool'", True),
        ("raised: self scalar_type:UInt64is not surpported.", True),
        ("raised: output with shape [5, 1] doesn't match the broadcast shape [5, 5]", False),
        ("raised: result type Float can't be cast to the desired output type Byte", False),
        ("raised: the type of input must be float16, float32, or int32", True),
        ("raised: adaptive_avg_pool3d only support D=1 && H=1 && W=1 current!", False),
        ("crashed: signal 11 in linalg.solve", False),
    ],
)
def test_only_refusals_of_dtypes_are_kept(outcome: str, kept: bool) -> None:
    assert (_row("float64", "", outcome, "") is not None) is kept
