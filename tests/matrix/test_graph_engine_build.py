"""From op-info and operator definitions to the kernels of a SoC."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pandas as pd
import pytest

from opscan.matrix.build.graph_engine import GraphEngine, graph_engine, read_kernels
from opscan.matrix.files import GeKernel, GeOp, GeParameter

COLUMNS = (
    *("cann_release", "ge_op", "soc", "dtypes", "n_dtype_combos", "engine", "experimental", "evidence"),
    *("repo", "source", "commit"),
)
INSTALLED = "8.1.RC1"


def definition(
    op: str,
    release: str = INSTALLED,
    soc: str = "ascend910b",
    engine: str = "AICore",
    dtypes: str = "",
    experimental: str = "0",
) -> tuple[str, ...]:
    return (
        release,
        op,
        soc,
        dtypes or "in x=float16;out y=float16",
        "1",
        engine,
        experimental,
        "",
        "repo",
        "def.cpp",
        "0" * 40,
    )


def engine_of(
    tmp_path: Path, *rows: tuple[str, ...], soc: str = "ascend910b", **tables: list[tuple[str, ...]]
) -> GraphEngine:
    def write(name: str, content: list[tuple[str, ...]]) -> None:
        text = io.StringIO()
        csv.writer(text).writerows(content)
        (tmp_path / "sources").mkdir(exist_ok=True)
        (tmp_path / "sources" / f"{name}.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))

    write("ge_ops_by_soc", [COLUMNS, *rows])
    if "filled" in tables:
        header = ("ge_op", "soc", "engine", "dtypes", "how", "repo", "source", "commit")
        write(f"ge_kernels_{INSTALLED}", [header, *tables["filled"]])
    return graph_engine(tmp_path, soc)


def kernels(op: GeOp) -> list[tuple[str, str]]:
    """(engine, release that it is taken from) of each kernel."""
    return [(k.engine, k.borrowed) for k in op.kernels]


# --- one row --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "params"),
    [
        (
            "in x=float16|double:opt;out y=float16",
            (GeParameter("x", "in", ("float16", "float64"), optional=True), GeParameter("y", "out", ("float16",))),
        ),
        ("in x=float16;in x=int8", (GeParameter("x", "in", ("float16", "int8")),)),
        ("in x=?;out y=follow", (GeParameter("x", "in"), GeParameter("y", "out"))),
        ("in x=?;in x=int8", (GeParameter("x", "in"),)),  # one list is open, so all is
        ("in x=follow|int8", (GeParameter("x", "in"),)),
        ("", ()),
    ],
)
def test_dtypes_of_parameters(text: str, params: tuple[GeParameter, ...]) -> None:
    row = dict(zip(COLUMNS, definition("Abs", dtypes=text or ";"), strict=True))
    assert read_kernels(pd.DataFrame([row]))["Abs"][INSTALLED][0].params == params


@pytest.mark.parametrize(
    ("named", "engine"),
    [
        ("AICore", "ai_core"),
        ("AICPU", "ai_cpu"),
        ("AICPU_TF", "ai_cpu"),
        ("DNN_VM_AICPU", "ai_cpu"),
        ("HOSTCPU", "host_cpu"),
    ],
)
def test_engines(named: str, engine: str) -> None:
    (kernel,) = read_kernels(pd.DataFrame([definition("Abs", engine=named)], columns=COLUMNS))["Abs"][INSTALLED]
    assert (kernel.engine, kernel.source) == (engine, "repo def.cpp @000000000000")


def test_an_experimental_definition_counts_only_alone() -> None:
    alone = [definition("Abs", experimental="1")]
    beside = [*alone, definition("Abs", dtypes="in x=int8")]
    (kernel,) = read_kernels(pd.DataFrame(alone, columns=COLUMNS))["Abs"][INSTALLED]
    assert kernel.experimental
    (kernel,) = read_kernels(pd.DataFrame(beside, columns=COLUMNS))["Abs"][INSTALLED]
    assert kernel == GeKernel("ai_core", (GeParameter("x", "in", ("int8",)),), False, "", "repo def.cpp @000000000000")


# --- over releases --------------------------------------------------------------------------------------------


def test_what_a_release_leaves_out_is_the_newest_earlier_ones(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, definition("Abs"), definition("Abs", "8.5.0"), definition("Neg", "9.1.0"))
    assert kernels(engine.ops("8.5.0")["Abs"]) == [("ai_core", "")]
    assert kernels(engine.ops("9.1.0")["Abs"]) == [("ai_core", "8.5.0")]
    assert "Neg" not in engine.ops("9.0.0")


def test_beside_an_experimental_definition_the_earlier_one_stands_too(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, definition("Abs"), definition("Abs", "9.1.0", experimental="1"))
    assert [(k.experimental, k.borrowed) for k in engine.ops("9.1.0")["Abs"].kernels] == [
        (True, ""),
        (False, INSTALLED),
    ]


@pytest.mark.parametrize("soc", ["ascend310b", "ascend310p", "ascend910"])
def test_what_left_the_public_repositories_is_unknown_later(tmp_path: Path, soc: str) -> None:
    rows = definition("Abs", soc=soc), definition("Neg", "9.1.0", soc=soc)
    engine = engine_of(tmp_path, *rows, soc=soc)
    assert set(engine.ops(INSTALLED)) == {"Abs"}
    assert set(engine.ops("9.1.0")) == {"Neg"}


def test_the_ai_cpu_comes_beside_and_is_borrowed_for_every_soc(tmp_path: Path) -> None:
    slow = definition("Abs", soc="any(aicpu)", engine="AICPU")
    assert kernels(engine_of(tmp_path, definition("Abs"), slow).ops("9.1.0")["Abs"]) == [
        ("ai_core", INSTALLED),
        ("ai_cpu", INSTALLED),
    ]


# --- absence --------------------------------------------------------------------------------------------------


def test_absent_is_what_an_exhaustive_list_lacks_and_others_have(tmp_path: Path) -> None:
    rows = definition("Abs", soc="ascend310p"), definition("Neg", soc="ascend910b")
    engine = engine_of(tmp_path, *rows, soc="ascend310p")
    neg = engine.ops(INSTALLED)["Neg"]
    assert (neg.absent, neg.kernels) == (True, ())
    assert neg.source == "the AI Core op-info of an installed CANN 8.1.RC1 for ascend310p"
    assert "Neg" not in engine.ops("9.1.0")  # no list of later releases is exhaustive


def test_what_no_soc_of_the_installed_release_has_is_unknown_there(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, definition("Abs"), definition("New", "9.1.0"))
    assert set(engine.ops(INSTALLED)) == {"Abs"}


def test_the_graph_engines_own_operators_are_never_absent(tmp_path: Path) -> None:
    engine = engine_of(tmp_path, definition("Abs"), definition("Const", soc="ascend910"))
    assert "Const" not in engine.ops(INSTALLED)


def test_a_soc_that_the_installed_release_does_not_know_lacks_nothing(tmp_path: Path) -> None:
    rows = definition("Abs"), definition("Neg", "9.1.0", soc="ascend950")
    engine = engine_of(tmp_path, *rows, soc="ascend950pr")
    assert set(engine.ops("9.1.0")) == {"Neg"}


@pytest.mark.parametrize("named", ["ascend950", "ascend910_95"])
@pytest.mark.parametrize("soc", ["ascend950pr", "ascend950dt"])
def test_names_under_which_the_newest_socs_are_listed(tmp_path: Path, soc: str, named: str) -> None:
    assert kernels(engine_of(tmp_path, definition("Abs", "9.1.0", soc=named), soc=soc).ops("9.1.0")["Abs"]) == [
        ("ai_core", "")
    ]


def test_the_ai_cpu_alone_is_an_answer_only_where_there_is_no_ai_core_kernel_for_sure(tmp_path: Path) -> None:
    slow = [definition(op, soc="any(aicpu)", engine="AICPU") for op in ("Nowhere", "Elsewhere", "Abs")]
    rows = *slow, definition("Abs"), definition("Elsewhere", "9.1.0", soc="ascend950")
    open_soc = engine_of(tmp_path, *rows)
    assert kernels(open_soc.ops("9.1.0")["Nowhere"]) == [("ai_cpu", INSTALLED)]
    assert kernels(open_soc.ops("9.1.0")["Elsewhere"]) == [("ai_cpu", INSTALLED)]  # the list lacks it
    assert kernels(open_soc.ops(INSTALLED)["Elsewhere"]) == [("ai_cpu", "")]
    closed = engine_of(tmp_path, *rows, definition("Abs", soc="ascend310p"), soc="ascend310p")
    assert kernels(closed.ops("9.1.0")["Nowhere"]) == [("ai_cpu", INSTALLED)]
    assert "Elsewhere" not in closed.ops("9.1.0")  # the closed part may have brought one
    unknown = engine_of(tmp_path, *rows, soc="ascend910_93")
    assert "Elsewhere" not in unknown.ops("9.1.0")


# --- open dtypes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("how", "bound"), [("kernel_config", False), ("prototype", True)])
def test_open_dtypes_are_filled_at_the_installed_release(tmp_path: Path, how: str, bound: bool) -> None:
    filled = ("Abs", "ascend910b", "AICore", "in x=int8", how, "repo", "other", "1" * 40)
    rows = definition("Abs", dtypes="in x=?"), definition("Abs", "8.5.0", dtypes="in x=?")
    engine = engine_of(tmp_path, *rows, filled=[filled])
    (kernel,) = engine.ops(INSTALLED)["Abs"].kernels
    assert kernel.params == (GeParameter("x", "in", ("int8",), bound=bound),)
    assert engine.ops("8.5.0")["Abs"].kernels[0].params == (GeParameter("x", "in"),)


def test_what_is_filled_for_another_soc_or_engine_is_not_taken(tmp_path: Path) -> None:
    filled = [
        ("Abs", "ascend910", "AICore", "in x=int8", "kernel_config", "repo", "other", "1" * 40),
        ("Abs", "ascend910b", "AICPU", "in x=int8", "kernel_config", "repo", "other", "1" * 40),
    ]
    engine = engine_of(tmp_path, definition("Abs", dtypes="in x=?"), filled=filled)
    assert engine.ops(INSTALLED)["Abs"].kernels[0].params == (GeParameter("x", "in"),)
