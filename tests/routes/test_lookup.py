"""One operator in all routes, and its history over releases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_matrix import (
    COMPOSITE,
    CPU_ONLY,
    adapter,
    api,
    cann,
    ge,
    native,
    observed,
    onnx,
    open_matrix,
    releases,
    row,
    torchair,
    write_matrix,
)

from opscan.errors import UsageError
from opscan.matrix import Matrix
from opscan.matrix.files import Converter, OnnxOp, OpEntry
from opscan.routes.lookup import Span, history, look_up

ABS = "aclnnAbs[T:float32 T:float32]"


def matrix_in(root: Path) -> Matrix:
    files = (
        adapter("2.6.0", {"aten::abs": CPU_ONLY}),
        adapter("2.7.1", {"aten::abs": COMPOSITE, "aten::new": OpEntry(())}),
        adapter("2.8.0", {"aten::abs": native("aclnnAbs", hidden_cpu=True), "aten::new": native()}),
        adapter("2.12.0", {"aten::abs": native("aclnnAbs"), "aten::new": native()}),
        adapter("2.13.0", {"aten::abs": native("aclnnAbs"), "aten::new": native()}),
        torchair("2.7.1", {"aten::abs": Converter("raises")}),
        torchair("2.12.0", {"aten::abs": Converter("implemented", ("Abs",))}),
        torchair("2.13.0", {"aten::abs": Converter("implemented", ("Abs",)), "aten::only_graph": Converter("raises")}),
        observed("2.13.0", {"aten::abs": (row("float32", ABS), row("bool", ABS), row("int8", ABS))}),
        cann("8.5.0", {"aclnnAbs": api("float16")}),
        cann("9.1.0", {"aclnnAbs": api("float32")}, {"Abs": ge("float32")}),
        cann("9.1.0", {}, soc="ascend910"),
        onnx("9.1.0", {"ai.onnx::Abs": OnnxOp((17, 18), ("Abs",))}),
    )
    known = releases(*files, nearest={"8.3.RC1": ("8.5.0",)})
    return open_matrix(root, *files, known)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return matrix_in(tmp_path_factory.mktemp("matrix"))


def test_every_route_that_knows_the_name_answers(matrix: Matrix) -> None:
    answers = look_up(matrix, "aten::abs", ("float32",))
    assert [(a.route, a.dtype, a.ruling.verdict) for a in answers] == [
        ("eager", "float32", "supported"),
        ("graph", "float32", "supported"),
    ]
    assert {a.route for a in look_up(matrix, "ai.onnx::Abs", ("float32",))} == {"offline"}
    assert {a.route for a in look_up(matrix, "aten::only_graph", ("float32",))} == {"eager", "graph"}


def test_without_dtypes_those_that_were_observed_in_the_order_of_a_report(matrix: Matrix) -> None:
    assert [a.dtype for a in look_up(matrix, "aten::abs") if a.route == "eager"] == ["float32", "int8", "bool"]


def test_without_dtypes_and_observations_what_people_compute_in(matrix: Matrix) -> None:
    dtypes = [a.dtype for a in look_up(matrix, "aten::new") if a.route == "eager"]
    assert dtypes == ["float32", "float16", "bfloat16", "float64"]


def test_the_opset_counts_for_the_offline_route(matrix: Matrix) -> None:
    (answer,) = look_up(matrix, "ai.onnx::Abs", ("float32",), opset=11)
    assert (answer.ruling.verdict, answer.ruling.rule) == ("unsupported", "OPS122")


def test_an_operator_that_no_table_knows(matrix: Matrix) -> None:
    with pytest.raises(UsageError, match="aten::abz") as caught:
        look_up(matrix, "aten::abz")
    assert "aten::abs" in caught.value.hint
    with pytest.raises(UsageError) as caught:
        look_up(matrix, "qwertz::uiop")
    assert caught.value.hint == "Names look like aten::add.Tensor or ai.onnx::Add."


def test_history_in_spans(matrix: Matrix) -> None:
    found = history(matrix, "aten::abs")
    assert _plain(found.eager) == (
        ("2.6.0", "2.6.0", "CPU fallback"),
        ("2.7.1", "2.7.1", "composite: its parts decide"),
        ("2.8.0", "2.8.0", "registered (op_api), computes on the CPU"),
        ("2.12.0", "2.13.0", "registered (op_api)"),
    )
    assert _plain(found.graph) == (
        ("2.6.0", "2.6.0", "no table"),
        ("2.7.1", "2.7.1", "converter raises"),
        ("2.8.0", "2.8.0", "no table"),
        ("2.12.0", "2.13.0", "converter implemented"),
    )
    assert (found.soc, found.dtype) == ("ascend910b", "float32")
    assert found.cann == (("8.5.0", "unsupported"), ("9.1.0", "supported"))


def test_history_of_an_operator_that_came_later(matrix: Matrix) -> None:
    found = history(matrix, "aten::new")
    assert _plain(found.eager) == (
        ("2.6.0", "2.6.0", "not in its torch"),
        ("2.7.1", "2.7.1", "no kernel"),
        ("2.8.0", "2.13.0", "registered (op_api)"),
    )
    assert [verdict for _, verdict in found.cann] == ["unknown", "unknown"]


def test_history_opens_tables_of_the_users_own(tmp_path: Path) -> None:
    """A release that the user built lies in another folder than the others."""
    packaged, own = tmp_path / "packaged", tmp_path / "own"
    write_matrix(own, adapter("2.14.0", {"aten::abs": CPU_ONLY}))
    matrix = replace(matrix_in(packaged), roots=(own, packaged))
    assert _plain(history(matrix, "aten::abs").eager)[-1] == ("2.14.0", "2.14.0", "CPU fallback")


def test_history_of_what_no_release_knows(matrix: Matrix) -> None:
    with pytest.raises(UsageError, match="aten::abz"):
        history(matrix, "aten::abz")


def _plain(spans: tuple[Span, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple((span.first, span.last, span.state.en) for span in spans)


def test_a_composition_needs_no_converter(tmp_path: Path) -> None:
    """It is taken apart before torchair sees it; an operator with a kernel is not."""
    ops = {"aten::softmax.int": native(keys=("CompositeImplicitAutograd", "PrivateUse1")), "aten::abs": native()}
    matrix = open_matrix(tmp_path, adapter("2.13.0", ops), torchair("2.13.0", {}))
    states = [history(matrix, operator).graph[0].state.en for operator in ops]
    assert states == ["composite: its parts decide", "no converter"]
