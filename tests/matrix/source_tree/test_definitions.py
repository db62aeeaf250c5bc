"""Operator definitions and ONNX plugins."""

from __future__ import annotations

from opscan.matrix.build.source_tree.cpp import dtype_list, statements, without_comments
from opscan.matrix.build.source_tree.definitions import read_ai_cpu_json, read_definition
from opscan.matrix.build.source_tree.onnx_plugins import Registration, read_plugin
from tests.matrix.source_tree.pages import AI_CPU_DEFINITION, DEFINITION, PLUGIN


def test_every_soc_with_its_own_dtypes() -> None:
    kernels = {kernel.soc: kernel for kernel in read_definition(DEFINITION)}
    common = "in x=float32|bfloat16;in scale=float32:opt;out y=float32|bfloat16:dyn"
    assert {soc: (k.dtypes(), k.evidence) for soc, k in kernels.items()} == {
        "ascend910b": (common, "base"),
        "ascend910_93": (common, "base"),
        "ascend310p": ("in x=float16;in scale=float32:opt;out y=float16:dyn", "config"),
        "ascend950": ("in x=float32|int32;in scale=float32:opt;out y=float32|int32:dyn", "config"),
        "kirin1": ("in x=float16;in scale=float32:opt;out y=float16:dyn", "config"),
        "kirin2": ("in x=float16;in scale=float32:opt;out y=float16:dyn", "config"),
    }
    assert {k.op for k in kernels.values()} == {"Fold"}
    assert kernels["ascend910b"].combinations() == 2


def test_a_configuration_counts_as_it_is_when_it_is_added() -> None:
    text = """class Fold : public OpDef { public:
    explicit Fold(const char* name) : OpDef(name) {
        this->Input("x").DataType({ge::DT_FLOAT, ge::DT_BF16});
        OpAICoreConfig config;
        config.DynamicRankSupportFlag(true);
        this->AICore().AddConfig("ascend910b", config);
        config.Input("x").DataType({ge::DT_FLOAT16});
        this->AICore().AddConfig("ascend310p", config);
        OpAICoreConfig copy = config;
        config.Input("x").DataType({ge::DT_INT8});
        this->AICore().AddConfig("ascend950", config);
        this->AICore().AddConfig("ascend310b", copy);
        OpAICoreConfig made = Make();
        this->AICore().AddConfig("kirin1", made);
    }
    OpAICoreConfig Make() { OpAICoreConfig config; config.Input("x").DataType({ge::DT_INT32}); return config; } };"""
    assert {kernel.soc: (kernel.dtypes(), kernel.evidence) for kernel in read_definition(text)} == {
        "ascend910b": ("in x=float32|bfloat16", "base"),
        "ascend310p": ("in x=float16", "config"),
        "ascend950": ("in x=int8", "config"),
        "ascend310b": ("in x=float16", "config"),
        "kirin1": ("in x=int32", "config"),
    }


def test_ai_cpu_kernels_are_for_every_soc_and_placeholders_no_list() -> None:
    (kernel,) = read_definition(AI_CPU_DEFINITION, ai_cpu=True)
    assert (kernel.soc, kernel.engine, kernel.dtypes()) == ("any(aicpu)", "AICPU", "in x=float64|qint8;out y=")


def test_ai_cpu_kernels_in_json() -> None:
    text = '{"Fold": {"opInfo": {"engine": "DNN_VM_AICPU"}, "input0": {"name": "x", "type": "DT_FLOAT,DT_INT8"}}}'
    (kernel,) = read_ai_cpu_json(text)
    assert (kernel.op, kernel.engine, kernel.dtypes()) == ("Fold", "DNN_VM_AICPU", "in x=float32|int8")
    assert read_ai_cpu_json("[1]") == []
    assert read_ai_cpu_json("{") == []


def test_what_is_no_definition_yields_nothing() -> None:
    assert read_definition("class Fold : public Something { int x; };") == []
    assert read_definition(DEFINITION.replace("OP_ADD(Fold)", "OP_ADD(Other)")) == []


def test_pieces_of_cpp() -> None:
    assert without_comments('a("//no"); // yes\n/* yes */b') == 'a("//no");  \n b'
    assert statements("{ a.b({1, 2}); if (x) { c(); } }") == ["{", "a.b({1, 2})", "if (x) {", "c()"]
    assert dtype_list("{ge::DT_FLOAT, ge::DT_BF16, ge::DT_FLOAT}") == ("float32", "bfloat16", "float32")
    assert dtype_list("{ge::DT_FLOAT, ge::DT_UNDEFINED}") == ()


def test_onnx_operators_with_their_opsets() -> None:
    assert read_plugin(PLUGIN) == [
        Registration("ai.onnx", "Bend", (9,), "BendV2", False),
        Registration("ai.onnx", "Fold", (11, 12), "Fold", False),
        Registration("ai.onnx", "Fold", (8,), "PartitionedCall", True),
        Registration("npu", "NPUFold", (1,), "Fold", False),
    ]
