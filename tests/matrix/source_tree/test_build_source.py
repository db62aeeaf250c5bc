"""A source tree becomes tables in the user's folder, over the packaged ones."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from opscan.errors import UsageError
from opscan.matrix.build.source_tree import build_source, read_source
from opscan.matrix.build.writing import render, write
from opscan.matrix.files import (
    SCHEMA,
    Api,
    CannFile,
    CannRelease,
    GeKernel,
    GeOp,
    GeParameter,
    OnnxFile,
    OnnxOp,
    OverridesFile,
    Parameter,
    ReleasesFile,
    load,
)
from tests.matrix.source_tree.pages import AI_CPU_DEFINITION, BULLET_PAGE, DEFINITION, PLUGIN, TABLE_PAGE

FILES = {
    "math/fold/docs/aclnnFold&aclnnInplaceFold.md": TABLE_PAGE,
    "math/bend/docs/aclnnBend.md": BULLET_PAGE,
    "experimental/math/bend/docs/aclnnBend.md": TABLE_PAGE,
    "math/odd/docs/aclnnOdd.md": "# aclnnOdd\n",
    "math/fold/op_host/fold_def.cpp": DEFINITION,
    "math/fold/op_kernel_aicpu/fold_aicpu_def.cpp": AI_CPU_DEFINITION,
    "math/fold/tests/ut/other_def.cpp": DEFINITION,
    "math/fold/framework/fold_onnx_plugin.cpp": PLUGIN,
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    top = tmp_path / "ops-math"
    for name, text in FILES.items():
        write(top / name, text.encode())
    return top


@pytest.fixture
def packaged(tmp_path: Path) -> Path:
    """A matrix with one packaged release: an API and an operator that the tree lacks, and older words on others."""
    root = tmp_path / "packaged"
    pair = (("T", "self"),)
    apis = {
        "aclnnElsewhere": Api(True, (pair,), {"self": Parameter("in", ("float32",))}),
        "aclnnBend": Api(
            True, (pair,), {"self": Parameter("in", ("float64",), disputed=("bool",))}, ai_cpu=("float16", "float64")
        ),
    }
    core = GeKernel("ai_core", (GeParameter("x", "in", ("int8",)),))
    ge = {"Elsewhere": GeOp((core,)), "Fold": GeOp((core, GeKernel("host_cpu")))}
    table = CannFile(SCHEMA, "9.0.0", "ascend910b", (), apis, ge)
    write(root / "cann/9.0.0/ascend910b.json", render(table, ("apis", "ge")))
    onnx = OnnxFile(SCHEMA, "9.0.0", (), {"ai.onnx::Old": OnnxOp((9,), ("Old",))})
    write(root / "onnx/9.0.0.json", render(onnx, ("ops",)))
    releases = ReleasesFile(SCHEMA, (), (), ("9.0.0",), {}, {"9.0.0": CannRelease(("ascend910b",))})
    write(root / "releases.json", render(releases, ("cann", "torch_npu")))
    correction = {
        "id": "c1",
        "api": "aclnnBend",
        "socs": ["ascend910b"],
        "parameters": ["out"],
        "add": ["int8"],
        "evidence": "e",
        "source": "s",
        "date": "2026-01-01",
    }
    overrides = {"schema": SCHEMA, "corrections": [correction]}
    write(root / "overrides/own.json", json.dumps(overrides).encode())
    assert load(root / "overrides/own.json", OverridesFile).corrections
    return root


def _build(source: Path, packaged: Path, release: str = "9.0.0") -> tuple[Path, list[str]]:
    told: list[str] = []
    destination = packaged.parent / "user"
    written = build_source(source, release, destination, told.append, packaged)
    assert written == sorted(p for p in destination.rglob("*") if p.is_file())
    return destination, told


def test_rows_have_the_columns_of_the_raw_tables(checkout: Path) -> None:
    rows = read_source(checkout, "9.0.0")
    row = next(r for r in rows.aclnn if r["aclnn_api"] == "aclnnFold" and r["soc"] == "ascend910")
    assert row == {
        "cann_release": "9.0.0",
        "aclnn_api": "aclnnFold",
        "soc": "ascend910",
        "supported": "1",
        "param_dtypes": "in self=float32|float16|int32;in other=float32;out out=-",
        "ranks": "self:0-8",
        "repo": "ops-math",
        "source": "math/fold/docs/aclnnFold&aclnnInplaceFold.md",
        "commit": "",
    }
    assert {r["soc"] for r in rows.ge if r["engine"] == "AICore"} >= {"ascend910b", "ascend310p", "ascend950"}
    assert [r["opsets"] for r in rows.onnx if r["op"] == "Fold"] == ["11 12", "8"]
    assert rows.summary.lines() == [
        "API pages: 2 read, not used: 1 no product table",
        "ONNX plugins: 1 read",
        "notes of API pages: 2 read, not used: 1 condition",
        "operator definitions: 2 read",
        "repositories: 1 read",
    ]


def test_tables_of_every_soc_that_the_tree_names(checkout: Path, packaged: Path) -> None:
    destination, told = _build(checkout, packaged)
    assert sorted(p.name for p in (destination / "cann/9.0.0").iterdir()) == [
        *(f"{soc}.json" for soc in ("ascend310b", "ascend310p", "ascend910", "ascend910_93", "ascend910b")),
        *("ascend950dt.json", "ascend950pr.json"),
    ]
    assert any("1 no product table" in line for line in told)
    fold = load(destination / "cann/9.0.0/ascend950pr.json", CannFile).ge["Fold"]
    assert [(k.engine, k.params[0].dtypes) for k in fold.kernels] == [
        ("ai_core", ("float32", "int32")),
        ("ai_cpu", ("float64", "qint8")),
    ]


def test_the_packaged_table_answers_for_the_rest(checkout: Path, packaged: Path) -> None:
    destination, _ = _build(checkout, packaged)
    table = load(destination / "cann/9.0.0/ascend910b.json", CannFile)
    assert table.apis["aclnnElsewhere"].params["self"].dtypes == ("float32",)
    bend = table.apis["aclnnBend"]
    assert bend.params["self"].dtypes == ("float16", "float32")
    assert bend.params["self"].disputed == ("bool",)
    assert bend.ai_cpu == ("float16",)  # float64 is not listed by the page
    assert (bend.params["out"].dtypes, bend.params["out"].corrected) == (("float32", "int8"), "c1")
    assert [k.engine for k in table.ge["Fold"].kernels] == ["ai_core", "ai_cpu", "host_cpu"]
    assert table.ge["Fold"].kernels[0].params[0].dtypes == ("bfloat16", "float32")
    assert "Elsewhere" in table.ge
    onnx = load(destination / "onnx/9.0.0.json", OnnxFile)
    assert onnx.ops["ai.onnx::Fold"].opsets == (8, 11, 12)
    assert onnx.ops["ai.onnx::Old"].borrowed == ""


def test_a_new_release_borrows_from_the_nearest(checkout: Path, packaged: Path) -> None:
    destination, _ = _build(checkout, packaged, "9.9.0")
    table = load(destination / "cann/9.9.0/ascend910b.json", CannFile)
    assert (table.release, table.apis["aclnnElsewhere"].borrowed, table.apis["aclnnBend"].borrowed) == (
        "9.9.0",
        "9.0.0",
        "",
    )
    assert table.ge["Elsewhere"].kernels[0].borrowed == "9.0.0"
    releases = load(destination / "releases.json", ReleasesFile)
    assert "ascend910b" in releases.cann["9.9.0"].socs


def test_building_twice_gives_the_same_bytes(checkout: Path, packaged: Path) -> None:
    destination, _ = _build(checkout, packaged)
    first = {p: p.read_bytes() for p in destination.rglob("*.json")}
    _build(checkout, packaged)
    assert first == {p: p.read_bytes() for p in destination.rglob("*.json")}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_bare_snapshots_are_read_at_the_tag_of_the_release(checkout: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, "-C", str(checkout), *arguments], check=True, capture_output=True)

    git("init", "-q", "-b", "master")
    git("add", "-A")
    git("commit", "-q", "-m", "one")
    git("tag", "v9.0.0")
    (checkout / "math/bend/docs/aclnnBend.md").unlink()
    git("commit", "-q", "-a", "-m", "two")
    bare = tmp_path / "snapshots" / "ops-math.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(checkout), str(bare)], check=True, capture_output=True)
    tagged, newest = read_source(bare.parent, "9.0.0"), read_source(bare.parent, "9.1.0")
    assert "aclnnBend" in {row["aclnn_api"] for row in tagged.aclnn}
    assert "aclnnBend" not in {row["aclnn_api"] for row in newest.aclnn}
    assert tagged.trees[0][0] == "ops-math"
    assert len(tagged.trees[0][1]) == 40
    assert read_source(checkout, "9.0.0").trees[0][1] == newest.trees[0][1]


def test_what_is_no_source_tree_is_told_before_anything_is_written(tmp_path: Path, packaged: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="no CANN operator repository"):
        _build(empty, packaged)
    with pytest.raises(UsageError, match="not a folder"):
        _build(tmp_path / "nowhere", packaged)
    write(empty / "math/odd/op_host/readme.txt", b"")
    with pytest.raises(UsageError, match="neither an API page nor an operator definition"):
        _build(empty, packaged)
    assert not (tmp_path / "user").exists()
