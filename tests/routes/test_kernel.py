"""What the matrix says of one kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import ABSENT, adapter, api, cann, ge_kernel, open_matrix, releases

from opscan.matrix import Matrix
from opscan.matrix.files import Api, GeKernel, GeOp, GeParameter, Parameter
from opscan.routes.kernel import kernel

INDEX = Api(
    True,
    ((("T", "self"), ("L", "indices"), ("T", "out")),),
    {
        "self": Parameter("in", ("float32",), disputed=("complex64",), ranks="0-8"),
        "indices": Parameter("in", ("int64",), borrowed="9.0.0"),
        "out": Parameter("out", ("float32",), contested=("bool",), corrected="index-bool"),
    },
    ai_cpu=("float64",),
    borrowed="9.0.0",
    source="ops-nn index.md @0123",
)
APIS = {"aclnnIndex": INDEX, "aclnnAbs": api("float32"), "aclnnGone": ABSENT}
ENGINE = {
    "Index": GeOp((ge_kernel("float32"), ge_kernel("int64", engine="ai_cpu", borrowed="8.5.0"))),
    "New": GeOp((ge_kernel("float32", experimental=True),)),
    "Gone": GeOp(absent=True, source="the op-info"),
    "Bound": GeOp((GeKernel("ai_core", (GeParameter("x", "in", ("float32",), optional=True, bound=True),)),)),
}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return open_matrix(tmp_path_factory.mktemp("matrix"), adapter("2.13.0", {}), cann("9.1.0", APIS, ENGINE))


def test_an_api_in_the_order_of_its_call_with_what_is_doubtful_in_it(matrix: Matrix) -> None:
    found = kernel(matrix, "aclnnIndex")
    assert found is not None
    assert (found.name, found.cann, found.soc, found.state) == ("aclnnIndex", "9.1.0", "ascend910b", "supported")
    assert [(p.name, p.io, p.dtypes, p.ranks, p.note) for p in found.parameters] == [
        ("self", "in", ("float32",), "0-8", "disputed: complex64"),
        ("indices", "in", ("int64",), "", "from CANN 9.0.0"),
        ("out", "out", ("float32",), "", "doubted by a note: bool; corrected: index-bool"),
    ]
    assert found.notes == ("on the AI CPU, slowly: float64", "from CANN 9.0.0")
    assert found.sources == ("ops-nn index.md @0123",)


def test_a_graph_engine_operator_with_its_engines(matrix: Matrix) -> None:
    found = kernel(matrix, "GE Index")
    assert found is not None
    assert [(p.kernel, p.name, p.dtypes, p.note) for p in found.parameters] == [
        ("ai core", "x", ("float32",), ""),
        ("ai core", "y", ("float32",), ""),
        ("ai cpu", "x", ("int64",), "from CANN 8.5.0"),
        ("ai cpu", "y", ("int64",), "from CANN 8.5.0"),
    ]


def test_an_optional_parameter_that_only_the_prototype_bounds(matrix: Matrix) -> None:
    found = kernel(matrix, "GE Bound")
    assert found is not None
    assert [(p.name, p.note) for p in found.parameters] == [("x?", "a bound, not for every SoC and shape")]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("aclnnAbs", "supported"),
        ("aclnnGone", "not on this SoC"),
        ("aclnnNever", "unknown"),
        ("GE Gone", "not on this SoC"),
        ("GE New", "experimental"),
        ("GE Never", "unknown"),
    ],
)
def test_states(matrix: Matrix, name: str, state: str) -> None:
    found = kernel(matrix, name)
    assert found is not None
    assert found.state == state


@pytest.mark.parametrize(("name", "near"), [("aclnnIndexx", "aclnnIndex"), ("GE index", "GE Index")])
def test_a_name_that_may_be_mistyped(matrix: Matrix, name: str, near: str) -> None:
    found = kernel(matrix, name)
    assert found is not None
    assert found.notes == ("no table lists it", f"look-alikes: {near}")


def test_other_names_are_no_kernels(matrix: Matrix) -> None:
    assert kernel(matrix, "aten::index.Tensor") is None
    assert kernel(matrix, "Index") is None


def test_the_nearest_release_answers_under_its_own_name(tmp_path: Path) -> None:
    files = adapter("2.13.0", {}), cann("8.5.0", APIS)
    known = releases(*files, nearest={"8.3.RC1": ("8.5.0",)})
    found = kernel(open_matrix(tmp_path, *files, known, cann="8.3.RC1"), "aclnnAbs")
    assert found is not None
    assert (found.cann, found.state) == ("8.5.0", "supported")


def test_a_soc_without_a_table(matrix: Matrix, tmp_path: Path) -> None:
    found = kernel(open_matrix(tmp_path, adapter("2.13.0", {}), cann("9.1.0", APIS), soc="ascend910"), "aclnnAbs")
    assert found is not None
    assert (found.state, found.notes) == (
        "unknown",
        ("the matrix holds no table of this CANN release on this SoC",),
    )
