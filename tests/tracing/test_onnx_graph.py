"""ONNX models to inventories: names, types, opsets, subgraphs, functions, places; and what a broken one leaves."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import convolution, model, node, value, weight

from opscan.inventory import Finding, Inventory, Location, OpCall, TensorSpec
from opscan.tracing.onnx.file import inventory_of
from opscan.tracing.onnx.graph import calls_of
from opscan.tracing.onnx.isolated import Unanswered, isolated
from opscan.tracing.onnx.metadata import location_of, origin_of
from opscan.tracing.onnx.types import dtype_of, spec_of_type


def listed(made: onnx.ModelProto) -> Inventory:
    return inventory_of(made, "folder/model.onnx", 0, (), lambda stage: None)


def by_name(inventory: Inventory) -> dict[str, OpCall]:
    return {call.name: call for call in inventory.calls}


def rules(inventory: Inventory) -> dict[str, Finding]:
    return {finding.rule: finding for finding in inventory.findings}


def test_a_node_is_a_call_with_its_types_and_its_opset() -> None:
    inventory = listed(convolution())
    conv = by_name(inventory)["ai.onnx::Conv"]
    assert conv.inputs == (TensorSpec("float32", (1, 3, 8, 8)), TensorSpec("float32", (4, 3, 1, 1)))
    assert conv.outputs == (TensorSpec("float32", (1, 4, 8, 8)),)
    assert conv.parameters == ("X", "W")
    assert conv.attributes == (("opset", "18"), ("kernel_shape", "[1, 1]"))
    assert conv.location == Location("model.onnx", 0, "conv")
    assert conv.phase == "forward"
    assert (inventory.trace.tracer, inventory.trace.engine, inventory.trace.complete) == ("onnx", "file", True)
    assert inventory.findings == ()


def test_symbolic_sizes_keep_their_names_and_are_a_finding() -> None:
    nodes = (node("Slice", "x a b", "s"), node("Relu", "s", "y"))
    constants = [helper.make_tensor(name, TensorProto.INT64, [1], [number]) for name, number in (("a", 0), ("b", 2))]
    inventory = listed(model(*nodes, inputs=(value("x", ("batch", 3, None)),), weights=constants))
    assert by_name(inventory)["ai.onnx::Slice"].inputs[0].shape == ("batch", 3, "?")
    assert by_name(inventory)["ai.onnx::Relu"].inputs[0].shape[1:] == (3, "?")
    assert rules(inventory)["OPS621"].facts == {"inputs": "x[batch, 3, ?]"}


def test_inputs_that_are_left_out_have_no_spec() -> None:
    inventory = listed(model(helper.make_node("Clip", ["x", "", "m"], ["y"]), weights=(weight("m"),)))
    call = by_name(inventory)["ai.onnx::Clip"]
    assert call.parameters == ("input", "max")
    assert [spec.shape for spec in call.inputs] == [(1, 3, 8, 8), ()]


def test_a_list_of_inputs_is_numbered() -> None:
    inventory = listed(model(node("Concat", "x x", "y", axis=1)))
    assert by_name(inventory)["ai.onnx::Concat"].parameters == ("inputs[0]", "inputs[1]")


def test_subgraphs_are_walked_with_the_types_around_them() -> None:
    branch = helper.make_graph([node("Relu", "h", "a", "inner")], "branch", [], [value("a", None)])
    nodes = (node("Neg", "x", "h"), node("If", "cond", "y", then_branch=branch, else_branch=branch))
    condition = helper.make_tensor("cond", TensorProto.BOOL, [], [True])
    inventory = listed(model(*nodes, weights=(condition,)))
    relu = by_name(inventory)["ai.onnx::Relu"]
    assert relu.count == 2
    assert relu.inputs == (TensorSpec("float32", (1, 3, 8, 8)),)
    assert dict(by_name(inventory)["ai.onnx::If"].attributes)["then_branch"] == "graph('branch')"


def test_local_functions_are_written_out() -> None:
    own = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Relu", "a", "m"), node("Relu", "m", "b")], [helper.make_opsetid("", 18)]
    )
    inventory = listed(model(node("Twice", "x", "y", domain="own"), functions=(own,), own=1))
    assert sum(call.count for call in inventory.calls) == 2
    assert {call.name for call in inventory.calls} == {"ai.onnx::Relu"}
    assert rules(inventory)["OPS624"].facts == {"functions": "own::Twice"}
    assert rules(inventory)["OPS623"].facts == {"domains": "ai.onnx 18, own 1"}


def test_a_newer_opset_is_converted_to_one_that_atc_reads() -> None:
    inventory = listed(model(node("Relu", "x", "y"), opset=21))
    assert dict(inventory.calls[0].attributes)["opset"] == "18"
    assert rules(inventory)["OPS622"].facts == {"opset": "21", "converted": "18"}


def test_what_cannot_be_converted_stays_as_it_is() -> None:
    inventory = listed(model(node("Gelu", "x", "y"), opset=20))
    assert dict(inventory.calls[0].attributes)["opset"] == "20"
    assert "OPS622" not in rules(inventory)
    (note,) = inventory.trace.unseen
    assert note.startswith("The model at opset 18: onnx's version converter refuses it")
    assert note.endswith("(RuntimeError: No Previous Version of Gelu exists).")


def test_operators_that_onnx_does_not_know_are_listed_all_the_same() -> None:
    inventory = listed(model(node("MMCVModulatedDeformConv2d", "x", "h"), node("Relu", "h", "y")))
    call = by_name(inventory)["ai.onnx::MMCVModulatedDeformConv2d"]
    assert call.inputs[0].dtype == "float32"
    assert call.outputs[0].dtype == "unknown"
    assert call.parameters == ()


def test_a_model_of_constants_has_no_inputs() -> None:
    inventory = listed(model(node("Relu", "w", "y"), inputs=(), weights=(weight("w", 2),)))
    assert "OPS625" in rules(inventory)


def test_equal_nodes_are_named_a_hundred_times_and_then_counted() -> None:
    nodes = [node("Relu", "x", f"v{i}", f"relu{i}") for i in range(150)]
    calls = listed(model(*nodes, outputs=(value("v0", None),))).calls
    assert sum(call.count for call in calls) == 150
    assert sum(call.location is not None for call in calls) == 100


def test_long_attributes_are_cut() -> None:
    text = "x" * 5000
    calls = calls_of(model(node("Relu", "x", "y", odd=text, many=list(range(5000)))), "model.onnx")
    assert all(len(entry) <= 200 for _, entry in calls[0].attributes)


def test_dtypes_have_their_names_in_torch() -> None:
    names = {dtype_of(getattr(TensorProto, name)) for name in ("FLOAT", "DOUBLE", "BFLOAT16", "BOOL", "FLOAT8E4M3FN")}
    assert names == {"float32", "float64", "bfloat16", "bool", "float8_e4m3fn"}
    assert dtype_of(TensorProto.UNDEFINED) == dtype_of(999) == "unknown"


def test_a_sequence_is_what_it_holds() -> None:
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.INT64, [1]))
    assert spec_of_type(kind) == TensorSpec("int64", ("?",))


# --- where a node comes from ----------------------------------------------------------------------------------

TRACE = """File "/u/model.py", line 13, in forward
    return self.b(x)
  File "/u/parts.py", line 7, in forward
    y = self.conv(x)
  File "/lib/python3/site-packages/torch/nn/modules/conv.py", line 565, in forward
    return self._conv_forward(input, self.weight, self.bias)"""


def of_the_exporter(**metadata: str) -> onnx.NodeProto:
    made = node("Conv", "x w", "y", "node_conv2d")
    for key, text in metadata.items():
        made.metadata_props.add(key=f"pkg.torch.onnx.{key}", value=text)
    return made


def test_the_newer_exporter_tells_operator_line_and_module() -> None:
    made = of_the_exporter(
        stack_trace=TRACE,
        name_scopes="['', 'b', 'b.conv', 'conv2d']",
        fx_node="%conv2d : [num_users=1] = call_function[target=torch.ops.aten.conv2d.default](args = ())",
    )
    assert location_of(made, "model.onnx", Path("/u")) == Location("parts.py", 7, "b.conv")
    assert location_of(made, "model.onnx", None) == Location("/u/parts.py", 7, "b.conv")
    assert origin_of(made) == "aten::conv2d"
    add = of_the_exporter(fx_node="%a : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = ())")
    assert origin_of(add) == "aten::add.Tensor"
    assert (
        dict(calls_of(model(made, weights=(weight("w", 4, 3, 1, 1),)), "m")[0].attributes)["origin"] == "aten::conv2d"
    )


def test_the_older_exporter_tells_the_line_in_its_text() -> None:
    made = node("Relu", "x", "y", "/layer1/act/Relu")
    made.doc_string = (
        "/lib/site-packages/torch/nn/functional.py(9): relu\n/u/model.py(12): forward\n/u/model.py(20): forward"
    )
    assert location_of(made, "model.onnx", Path("/u")) == Location("model.py", 12, "layer1.act")


@pytest.mark.parametrize("scopes", ["[", "__import__('os').abort()", "{}", "['alone']", "[[" * 5000])
def test_metadata_that_is_none_is_no_module(scopes: str) -> None:
    assert location_of(of_the_exporter(name_scopes=scopes), "model.onnx", None) == Location(
        "model.onnx", 0, "node_conv2d"
    )


# --- compiled code over untrusted models ----------------------------------------------------------------------


def test_work_is_done_elsewhere() -> None:
    assert isolated(lambda data: data * 2, b"ab") == b"abab"
    assert int(isolated(lambda data: str(os.getpid()).encode(), b"")) != os.getpid()


def test_an_error_of_the_work_is_told_in_a_line() -> None:
    def work(data: bytes) -> bytes:
        raise ValueError("first\nsecond")

    with pytest.raises(Unanswered, match=r"^ValueError: first$"):
        isolated(work, b"")


def test_a_crash_of_the_work_is_no_crash_here() -> None:
    def work(data: bytes) -> bytes:
        os.kill(os.getpid(), signal.SIGSEGV)
        return data

    with pytest.raises(Unanswered, match="SIGSEGV"):
        isolated(work, b"")


def test_work_without_end_is_ended() -> None:
    def work(data: bytes) -> bytes:
        time.sleep(60)
        return data

    with pytest.raises(Unanswered, match="not done after 1 s"):
        isolated(work, b"", seconds=1)


def test_memory_without_end_is_refused() -> None:
    with pytest.raises(Unanswered, match="out of memory"):
        isolated(lambda data: b"x" * (64 << 30), b"")
