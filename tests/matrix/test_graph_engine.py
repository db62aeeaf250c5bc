from __future__ import annotations

import pytest

from opscan.matrix.files import GeKernel, GeOp, GeParameter
from opscan.matrix.graph_engine import LOCAL, accepts, judge_launch
from opscan.matrix.launches import parse_launch


def param(name: str, *dtypes: str, optional: bool = False, bound: bool = False) -> GeParameter:
    return GeParameter(name, "in", dtypes, optional, bound)


def kernel(engine: str, *params: GeParameter, **more: object) -> GeKernel:
    return GeKernel(engine, params, **more)  # type: ignore[arg-type]


TOPK = GeOp((kernel("ai_core", param("x", "float16", "float32"), param("k", "int32")),))
SELECT = GeOp(
    (
        kernel(
            "ai_core",
            param("condition", "bool"),
            param("then", "float16", "float32", "int32"),
            param("else", "float16", "float32", "int32"),
        ),
    )
)
CUMSUM = GeOp(
    (
        kernel("ai_core", param("x", "float16", "float32", "int32"), param("axis", "int32", "int64")),
        kernel("ai_cpu", param("x", "float64", "int64", "complex64"), param("axis", "int32", "int64")),
        kernel("host_cpu", param("x", "bool")),
    )
)


@pytest.mark.parametrize(
    ("dtype", "status", "engine"),
    [
        ("float32", "supported", "ai_core"),
        ("int64", "supported", "ai_cpu"),  # the axis lists it for the AI Core, x does not
        ("complex64", "supported", "ai_cpu"),
        ("bool", "unsupported", ""),  # the host only folds constants
        ("bfloat16", "supported", "ai_core"),  # widened to float32
    ],
)
def test_the_engine_that_takes_a_dtype(dtype: str, status: str, engine: str) -> None:
    found = accepts(CUMSUM, dtype)
    assert (found.status, found.engine) == (status, engine)


def test_a_refusal_names_the_input_of_the_ai_core() -> None:
    found = accepts(CUMSUM, "bool")
    assert (found.code, found.parameter, found.dtype) == ("dtype", "x", "bool")


@pytest.mark.parametrize(
    ("dtypes", "status"),
    [
        (("float32",), "supported"),
        (("float32", "int64"), "supported"),  # k comes as int64 and is a constant
        (("int32",), "unsupported"),  # k lists it, but k carries no data
    ],
)
def test_sizes_and_indices_carry_no_data(dtypes: tuple[str, ...], status: str) -> None:
    assert accepts(TOPK, *dtypes).status == status


@pytest.mark.parametrize(
    ("dtypes", "status"),
    [
        (("bool", "float32"), "supported"),
        (("bool", "int32"), "supported"),
        (("bool", "int64"), "unsupported"),
        (("bool",), "unsupported"),
    ],
)
def test_a_mask_beside_data(dtypes: tuple[str, ...], status: str) -> None:
    assert accepts(SELECT, *dtypes).status == status


def test_an_operator_on_bool_alone() -> None:
    both = GeOp((kernel("ai_core", param("x1", "bool"), param("x2", "bool")),))
    assert accepts(both, "bool").status == "supported"
    assert accepts(both, "float32").status == "unsupported"


def test_an_optional_input_need_not_take_the_dtype() -> None:
    op = GeOp((kernel("ai_core", param("x", "int8"), param("scale", "float32", optional=True)),))
    assert accepts(op, "int8").status == "supported"


def test_narrowing_is_for_compilers_that_do_not_keep_dtypes() -> None:
    op = GeOp((kernel("ai_core", param("x", "float16")),))
    assert accepts(op, "float32").status == "unsupported"
    narrowed = accepts(op, "float32", narrows=True)
    assert (narrowed.status, narrowed.narrowed) == ("supported", "float16")
    assert accepts(GeOp((kernel("ai_core", param("x", "float16", "float32")),)), "float32", narrows=True).narrowed == ""
    assert accepts(op, "float64", narrows=True).status == "unsupported"


def test_a_prototype_only_bounds() -> None:
    op = GeOp((kernel("ai_core", param("x", "float32", bound=True)),))
    found = accepts(op, "float32")
    assert (found.status, found.code) == ("unknown", "undocumented")
    assert "x lists float32" in found.detail
    assert accepts(op, "complex64").status == "unsupported"


def test_what_is_open_on_the_ai_core_and_listed_for_the_ai_cpu_runs_somewhere() -> None:
    op = GeOp((kernel("ai_core", param("x")), kernel("ai_cpu", param("x", "float32"))))
    found = accepts(op, "float32")
    assert (found.status, found.engine) == ("supported", "")
    assert accepts(op, "int8").status == "unknown"


def test_an_experimental_yes_and_a_borrowed_no_are_open() -> None:
    experimental = accepts(GeOp((kernel("ai_core", param("x", "int8"), experimental=True),)), "int8")
    assert (experimental.status, experimental.detail) == ("unknown", "its only definition is experimental")
    borrowed = GeOp((kernel("ai_core", param("x", "int8"), borrowed="8.1.RC1"),))
    assert accepts(borrowed, "int16").status == "unknown"
    assert (accepts(borrowed, "int8").status, accepts(borrowed, "int8").borrowed) == ("supported", {"8.1.RC1"})


def test_absence() -> None:
    assert accepts(None, "float32").status == "unknown"
    gone = accepts(GeOp(absent=True, source="the op-info of an installed CANN"), "float32")
    assert (gone.status, gone.code, gone.sources) == ("unsupported", "soc", ("the op-info of an installed CANN",))
    # Only an AI CPU kernel is known, and nothing says that the AI Core has none.
    assert accepts(GeOp((kernel("ai_cpu", param("x", "int8")),)), "int16").status == "unknown"
    listed = GeOp((kernel("ai_cpu", param("x", "int8")),), source="the op-info of an installed CANN")
    assert accepts(listed, "int16").status == "unsupported"
    # Sequences are kept on the host.
    host = GeOp((kernel("host_cpu", param("x", "int8")),), source="the op-info of an installed CANN")
    assert (accepts(host, "int8").status, accepts(host, "int8").detail) == ("unknown", "only the host has a kernel")


def test_operators_that_need_no_kernel() -> None:
    assert {"Reshape", "Squeeze", "Const"} <= LOCAL
    assert accepts(None, "complex64", name="Reshape").engine == "local"


@pytest.mark.parametrize(
    ("launch", "status", "parameter"),
    [
        ("GE SelectV2[bool float32 float32 > float32]", "supported", ""),
        ("GE SelectV2[bool bool bool > bool]", "unsupported", "then"),
        ("GE SelectV2[float32 float32 float32 > float32]", "unsupported", "condition"),
        ("GE SelectV2[bool null int32 > int32]", "supported", ""),
        ("GE SelectV2[bool > bool]", "supported", ""),  # trailing inputs left out
    ],
)
def test_launches_are_matched_by_position(launch: str, status: str, parameter: str) -> None:
    parsed = parse_launch(launch)
    assert parsed is not None
    found = judge_launch(parsed, SELECT, "8.1.RC1")
    assert (found.status, found.parameter, found.api) == (status, parameter, "GE SelectV2")


def test_one_input_takes_a_list() -> None:
    parsed = parse_launch("GE AddN[float32 float32 int64 > float32]")
    assert parsed is not None
    addn = GeOp((kernel("ai_core", param("x", "float32")),))
    assert judge_launch(parsed, addn, "8.1.RC1").dtype == "int64"


def test_a_launch_on_the_ai_cpu_is_marked() -> None:
    parsed = parse_launch("GE Cumsum[int64 int32 > int64]")
    assert parsed is not None
    assert judge_launch(parsed, CUMSUM, "8.1.RC1").ai_cpu == "int64"
    unknown = judge_launch(parsed, None, "9.1.0")
    assert (unknown.code, unknown.detail) == ("undocumented", "GE Cumsum has no entry at CANN 9.1.0")


@pytest.mark.parametrize(
    ("launch", "status"), [("GE Eye[ > float32]", "supported"), ("GE Eye[ > float64]", "unsupported")]
)
def test_an_operator_without_inputs_is_judged_by_its_outputs(launch: str, status: str) -> None:
    eye = GeOp((kernel("ai_core", GeParameter("y", "out", ("float16", "float32"))),))
    parsed = parse_launch(launch)
    assert parsed is not None
    assert judge_launch(parsed, eye, "8.1.RC1").status == status
