"""The generated files are what their raw tables give, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from opscan.matrix.build import _GENERATED, BUILDERS, build_all, check
from opscan.matrix.build.observed import _row
from opscan.matrix.build.tables import qualified
from opscan.matrix.build.writing import write
from opscan.matrix.files import Row
from opscan.matrix.releases import cann_key

pytestmark = pytest.mark.skipif(
    not (Path(__file__).resolve().parents[2] / "support_matrix" / "sources").is_dir(),
    reason="an installation has no raw tables",
)


@pytest.fixture(scope="session")
def built(root: Path) -> dict[str, bytes]:
    """Every generated file, built once in this session: it takes a minute."""
    return {name: content for builder in BUILDERS for name, content in builder(root).items()}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files two builders make of nothing."""
    made = {"socs.json": b"socs"}, {"cann/9.1.0/ascend910b.json": b"table", "onnx/9.1.0.json": b"parser"}
    monkeypatch.setattr("opscan.matrix.build.BUILDERS", [lambda root, files=files: files for files in made])
    return tmp_path


def test_the_tree_is_current(root: Path, built: dict[str, bytes]) -> None:
    now = {name: path.read_bytes() for name in built if (path := root / name).is_file()}
    assert [name for name, content in built.items() if now.get(name) != content] == []
    generated = {path for folder in _GENERATED for path in (root / folder).rglob("*.json")}
    assert generated <= {root / name for name in built}


def test_every_folder_that_a_builder_fills_holds_nothing_else(built: dict[str, bytes]) -> None:
    assert {name.partition("/")[0] for name in built if "/" in name} == set(_GENERATED)


def test_a_build_writes_what_a_check_misses(small: Path) -> None:
    paths = [small / name for name in ("cann/9.1.0/ascend910b.json", "onnx/9.1.0.json", "socs.json")]
    assert check(small) == paths
    assert build_all(small) == paths
    assert [path.read_bytes() for path in paths] == [b"table", b"parser", b"socs"]
    assert check(small) == []


def test_a_check_finds_what_was_edited_lost_or_added_and_a_build_repairs_it(small: Path) -> None:
    build_all(small)
    edited, lost, stray = small / "socs.json", small / "onnx/9.1.0.json", small / "cann/1.0.0/ascend910b.json"
    edited.write_bytes(b"{}")
    lost.unlink()
    stray.parent.mkdir()
    stray.write_bytes(b"{}")
    assert check(small) == sorted([edited, lost, stray])
    build_all(small)
    assert check(small) == [stray]  # to delete is left to people


def test_a_check_leaves_alone_what_people_write(small: Path) -> None:
    build_all(small)
    for name in ("overrides/x.json", "schema/x.schema.json", "sources/x.json", "errors.json"):
        (small / name).parent.mkdir(exist_ok=True)
        (small / name).write_bytes(b"{}")
    assert check(small) == []


def test_nothing_half_written_is_left(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_all(small)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    (small / "socs.json").write_bytes(b"as it was")
    with pytest.raises(OSError, match="No space left"):
        write(small / "socs.json", b"new")
    assert (small / "socs.json").read_bytes() == b"as it was"


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
        assert len(tables) > (500 if path.parent.name == "torch_npu" else 40)


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
