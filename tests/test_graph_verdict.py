"""Rehearsed calls of the graph route judged over small tables made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import SOCS, adapter, cann, ge, native, open_matrix, statement, torchair

from opscan.graph_verdict import GraphJudge
from opscan.inventory import KernelArgument, KernelLaunch, Observed, OpCall, TensorSpec
from opscan.matrix import Matrix
from opscan.matrix.files import Converter, GeKernel, GeOp, GeParameter, OverridesFile
from opscan.matrix.torchair_table import NO_CONVERTER, WITH_CALLBACK
from opscan.verdict import Ruling

GATHER = GeOp(
    (
        GeKernel(
            "ai_core",
            (
                GeParameter("x", "in", ("float16", "float32")),
                GeParameter("indices", "in", ("int32",)),
                GeParameter("axis", "in", ("int32",)),
                GeParameter("y", "out", ("float16", "float32")),
            ),
            source="op-info",
        ),
    )
)
CAST = GeOp(
    (
        GeKernel(
            "ai_core",
            (GeParameter("x", "in", ("float32", "int64")), GeParameter("y", "out", ("float16", "float32"))),
            source="op-info",
        ),
        GeKernel(
            "ai_cpu",
            (GeParameter("x", "in", ("float32",)), GeParameter("y", "out", ("float64",))),
            source="op-info",
        ),
    )
)
ENGINE = {
    "Abs": ge("float16", "float32"),
    "Add": ge("float32", "int32"),
    "Sort": ge("int64", engine="ai_cpu"),
    "GatherV2": GATHER,
    "Cast": CAST,
    "Conv3D": GeOp(absent=True, source="op-info"),
    "StridedSliceV2": ge("float32", engine="ai_cpu"),
    "StridedSliceD": ge("float32"),
}
CONVERTERS = {"aten::abs": Converter("implemented", ("Abs",), source="aten/x.py")}


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> GraphJudge:
    return GraphJudge(matrix_in(tmp_path_factory.mktemp("matrix")), "2.13.0")


def matrix_in(root: Path, soc: str = "ascend910b") -> Matrix:
    half = statement("no-bf16", "unsupported", dtypes=("bfloat16",), socs=SOCS, detail="no unit for it")
    files = (
        adapter("2.13.0", {"aten::abs": native()}),
        torchair("2.13.0", CONVERTERS),
        cann("9.1.0", {}, ENGINE),
        OverridesFile(1, statements=(half,)),
    )
    return open_matrix(root, *files, soc=soc)


def launch(operator: str, *inputs: tuple[str, str], results: tuple[str, ...] = ("float32",)) -> KernelLaunch:
    """Inputs are (name, dtype); a name that begins with ``=`` is that of a constant, ``none`` is a dtype left out."""
    arguments = tuple(_argument(name, dtype) for name, dtype in inputs)
    return KernelLaunch(f"GE {operator}", arguments, tuple(TensorSpec(dtype, ("?",)) for dtype in results))


def _argument(name: str, dtype: str) -> KernelArgument:
    if dtype == "none":
        return KernelArgument("0", name=name)
    kind = "I" if name.startswith("=") else "T"
    return KernelArgument(kind, (TensorSpec(dtype, ("?",)),), ("ND",), name.lstrip("="))


def ruling(judge: GraphJudge, *launches: KernelLaunch, raised: str = "", name: str = "aten::abs") -> Ruling:
    spec = (TensorSpec("float32", (2,)),)
    return judge.call(OpCall(name, "forward", spec, spec, observed=Observed(launches, raised=raised)))


@pytest.mark.parametrize(
    ("launches", "verdict", "rule"),
    [
        ((), "supported", None),  # a view: nothing is computed
        ((launch("Abs", ("x", "float32")),), "supported", None),
        ((launch("Abs", ("x", "int8")),), "unsupported", "OPS104"),
        ((launch("Abs", ("x", "bfloat16")),), "supported", None),  # widened to float32
        ((launch("Abs", ("x", "unknown")),), "unknown", "OPS306"),
        ((launch("Conv3D", ("x", "float32")),), "unsupported", "OPS105"),
        ((launch("NoSuchOperator", ("x", "float32")),), "unknown", "OPS306"),
        ((launch("Sort", ("x", "int64")),), "slow", "OPS202"),
        ((launch("Reshape", ("x", "complex64")),), "supported", None),  # the graph engine needs no kernel
        ((launch("Abs", ("x", "float32")), launch("Add", ("x", "float32"))), "supported", None),
        ((launch("Abs", ("x", "float32")), launch("Add", ("x", "bool"))), "unsupported", "OPS104"),
        ((launch("Sort", ("x", "int64")), launch("Abs", ("x", "unknown"))), "unknown", "OPS306"),
    ],
)
def test_verdicts(judge: GraphJudge, launches: tuple[KernelLaunch, ...], verdict: str, rule: str | None) -> None:
    found = ruling(judge, *launches)
    assert (found.verdict, found.rule) == (verdict, rule), found.reason


def test_the_parameter_that_refuses_is_named(judge: GraphJudge) -> None:
    found = ruling(judge, launch("GatherV2", ("x", "float32"), ("indices", "int64"), ("=axis", "int64")))
    assert found.reason == "GatherV2 does not list int64 for its parameter indices at CANN 9.1.0 on ascend910b."
    assert found.kernels == ("GE GatherV2",)


def test_inputs_are_matched_by_name(judge: GraphJudge) -> None:
    found = ruling(judge, launch("GatherV2", ("axis", "int32"), ("indices", "int32"), ("x", "float16")))
    assert found.verdict == "supported"


def test_inputs_of_other_names_are_matched_by_position(judge: GraphJudge) -> None:
    assert (
        ruling(judge, launch("GatherV2", ("params", "int8"), ("at", "int32"), ("=dim", "int32"))).facts["dtype"]
        == "int8"
    )


def test_what_the_converter_writes_for_an_axis_does_not_decide(judge: GraphJudge) -> None:
    assert (
        ruling(judge, launch("GatherV2", ("x", "float32"), ("indices", "int32"), ("=axis", "int64"))).verdict
        == "supported"
    )
    assert ruling(judge, launch("GatherV2", ("=x", "int64"), ("indices", "int32"))).verdict == "unsupported"


def test_a_slice_is_slow_only_where_its_positions_are_data(judge: GraphJudge) -> None:
    assert ruling(judge, launch("StridedSliceV2", ("x", "float32"), ("=begin", "int64"))).verdict == "supported"
    assert ruling(judge, launch("StridedSliceV2", ("x", "float32"), ("begin", "int64"))).verdict == "unknown"


def test_an_input_left_out_says_nothing(judge: GraphJudge) -> None:
    assert (
        ruling(judge, launch("GatherV2", ("x", "float32"), ("indices", "none"), ("axis", "none"))).verdict
        == "supported"
    )


def test_an_input_that_no_definition_has_leaves_it_open(judge: GraphJudge) -> None:
    found = ruling(judge, launch("Abs", ("x", "float32"), ("bias", "float32")))
    assert found.verdict == "unknown"
    assert found.facts["detail"] == "its ai core kernel documents no input bias"


def test_a_conversion_is_judged_by_its_result_too(judge: GraphJudge) -> None:
    assert ruling(judge, launch("Cast", ("x", "float32"), results=("float16",))).verdict == "supported"
    assert ruling(judge, launch("Cast", ("x", "float32"), results=("float64",))).verdict == "slow"
    assert ruling(judge, launch("Cast", ("x", "int64"), results=("float64",))).verdict == "unsupported"


def test_a_converter_s_own_words(judge: GraphJudge) -> None:
    found = ruling(judge, raised="RuntimeError: only 4D is converted")
    assert (found.verdict, found.rule) == ("unsupported", "OPS112")
    assert "only 4D is converted" in (found.reason or "")


def test_a_callback_to_the_eager_kernel(judge: GraphJudge) -> None:
    found = ruling(judge, raised=WITH_CALLBACK, name="npu::npu_fusion_attention_v3")
    assert (found.verdict, found.rule) == ("unknown", "OPS308")
    assert "makes a callback" in (found.reason or "")


def test_no_converter(judge: GraphJudge, tmp_path: Path) -> None:
    assert ruling(judge, raised=NO_CONVERTER).rule == "OPS111"
    assert ruling(judge, raised=NO_CONVERTER, name="mine::op").rule == "OPS111"
    automatic = torchair("2.13.0", CONVERTERS)
    files = (
        adapter("2.13.0", {}),
        type(automatic)(1, "2.13.0", (), CONVERTERS, automatic=True),
        cann("9.1.0", {}, ENGINE),
    )
    own = GraphJudge(open_matrix(tmp_path, *files), "2.13.0")
    assert (ruling(own, raised=NO_CONVERTER, name="mine::op").rule) == "OPS308"
    assert (ruling(own, raised=NO_CONVERTER, name="aten::op").rule) == "OPS111"


def test_a_dtype_that_the_soc_does_not_have(judge: GraphJudge) -> None:
    spec = (TensorSpec("bfloat16", (2,)),)
    observed = Observed((launch("Abs", ("x", "bfloat16"), results=("bfloat16",)),))
    found = judge.call(OpCall("aten::abs", "forward", spec, spec, observed=observed))
    assert (found.verdict, found.rule) == ("unsupported", "OPS107")


def test_without_a_table_of_the_soc_nothing_is_known(tmp_path: Path) -> None:
    found = ruling(GraphJudge(matrix_in(tmp_path, "ascend910"), "2.13.0"), launch("Abs", ("x", "float32")))
    assert (found.verdict, found.rule) == ("unknown", "OPS305")


def test_a_call_that_was_not_rehearsed_is_answered_by_the_tables(judge: GraphJudge) -> None:
    spec = (TensorSpec("float32", (2,)),)
    found = judge.call(OpCall("aten::abs", "forward", spec, spec))
    assert (found.verdict, [e.kind for e in found.evidence]) == ("supported", ["torchair", "cann"])


def test_arguments_decide_where_tables_alone_do_not(tmp_path: Path) -> None:
    converters = {
        "aten::mean.dim": Converter("implemented", ("ReduceMean", "ReduceMeanWithCast"), source="aten/mean.py"),
        "aten::_native_batch_norm_legit": Converter("implemented", ("BatchNormV3",), source="aten/norm.py"),
    }
    engine = {"ReduceMean": ge("float32"), "BatchNormV3": ge("float32")}
    files = (
        adapter("2.13.0", {name: native() for name in converters}),
        torchair("2.13.0", converters),
        cann("9.1.0", {}, engine),
    )
    judge = GraphJudge(open_matrix(tmp_path, *files), "2.13.0")
    spec = (TensorSpec("float32", (2, 3)),)
    plain = judge.call(OpCall("aten::mean.dim", "forward", spec, spec, (("dim", "[1]"),)))
    assert (plain.verdict, plain.kernels) == ("supported", ("ReduceMean",))
    cast = judge.call(OpCall("aten::mean.dim", "forward", spec, spec, (("dtype", "torch.float32"),)))
    assert (cast.verdict, cast.rule) == ("unknown", "OPS306")
    norm = judge.call(OpCall("aten::_native_batch_norm_legit", "forward", spec, spec, (("training", "True"),)))
    assert (norm.verdict, norm.rule) == ("unsupported", "OPS112")
    assert "Ascend950 only" in (norm.reason or "")


def test_what_a_ruling_rests_on(judge: GraphJudge) -> None:
    evidence = ruling(judge, launch("Abs", ("x", "float32"))).evidence
    assert [(e.kind, e.release) for e in evidence] == [("observed", "2.13.0"), ("cann", "9.1.0")]
    assert evidence[0].detail == "torchair's conversion of this release, on a simulated runtime: converted to Abs"
