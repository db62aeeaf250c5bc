"""Dtypes that op-info leaves open are taken from kernels, then implementations, then prototypes."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from opscan.matrix.build.graph_engine import graph_engine
from opscan.matrix.files import GeOp, GeParameter
from opscan.matrix.graph_engine import judge_launch
from opscan.matrix.launches import parse_launch

OPS = ("cann_release", "ge_op", "soc", "dtypes", "engine", "experimental", "repo", "source", "commit")
FILLING = ("ge_op", "soc", "engine", "dtypes", "how", "repo", "source", "commit")


def write(root: Path, name: str, columns: tuple[str, ...], *rows: tuple[str, ...]) -> None:
    (root / "sources").mkdir(exist_ok=True)
    with gzip.open(root / "sources" / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def filling(op: str, how: str, dtypes: str, source: str = "impl/x.py") -> tuple[str, ...]:
    return (op, "ascend310p", "AICore", dtypes, how, "cann", source, "0123456789abcdef")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    info = ("AICore", "0", "cann", "ops-info.json", "0123456789abcdef")
    write(
        tmp_path,
        "ge_ops_by_soc",
        OPS,
        *[("8.1.RC1", op, "ascend310p", "in x=?;out y=?", *info) for op in ("Conv2D", "Cos", "MatMul", "Pack")],
        ("8.1.RC1", "Abs", "ascend310p", "in x=float16;out y=float16", *info),
        ("8.5.0", "Cos", "ascend310p", "in x=int8;out y=int8", *info),
    )
    write(
        tmp_path,
        "ge_kernels_8.1.RC1",
        FILLING,
        filling("Cos", "prototype", "in x=float16|float64;out y=float16|float64"),
        filling("Pack", "prototype", "in x=bool;out y=bool"),
        filling("Conv2D", "kernel_config", "in x=float16;out y=float16"),
    )
    write(
        tmp_path,
        "ge_implementations_8.1.RC1",
        FILLING,
        filling("Cos", "implementation", "in x=float16|float32;out y=float16|float32", "impl/cos.py"),
        filling("Conv2D", "implementation", "in x=int8;out y=int8"),
        filling("MatMul", "implementation", "in x=float16;out y=float16"),
        filling("MatMul", "shapes", "in x=float16|int32;out y=float16|int32"),
    )
    return tmp_path


def ops(root: Path, release: str = "8.1.RC1") -> dict[str, GeOp]:
    return graph_engine(root, "ascend310p").ops(release)


def status(root: Path, launch: str) -> str:
    parsed = parse_launch(launch)
    assert parsed is not None
    return judge_launch(parsed, ops(root)[parsed.api.removeprefix("GE ")], "8.1.RC1").status


def test_an_implementation_comes_before_the_prototype_and_is_cited(root: Path) -> None:
    (kernel,) = ops(root)["Cos"].kernels
    assert kernel.params[0] == GeParameter("x", "in", ("float16", "float32"))
    assert kernel.source == "cann impl/cos.py @0123456789ab"


def test_precompiled_kernels_come_before_an_implementation(root: Path) -> None:
    assert [k.params[0].dtypes for k in ops(root)["Conv2D"].kernels] == [("float16",)]


def test_without_an_implementation_the_prototype_is_a_bound(root: Path) -> None:
    (kernel,) = ops(root)["Pack"].kernels
    assert kernel.params[0].bound
    assert kernel.source == "cann ops-info.json @0123456789ab"


@pytest.mark.parametrize(
    ("dtype", "expected"), [("float16", "supported"), ("int32", "unknown"), ("float64", "unsupported")]
)
def test_what_only_some_shapes_take_is_open(root: Path, dtype: str, expected: str) -> None:
    assert status(root, f"GE MatMul[{dtype} > {dtype}]") == expected


def test_other_operators_and_releases_keep_their_lists(root: Path) -> None:
    assert ops(root)["Abs"].kernels[0].params[0].dtypes == ("float16",)
    assert ops(root, "8.5.0")["Cos"].kernels[0].params[0].dtypes == ("int8",)


def test_the_tables_are_optional(root: Path) -> None:
    (root / "sources" / "ge_implementations_8.1.RC1.csv.gz").unlink()
    assert ops(root)["Cos"].kernels[0].params[0].bound
