"""ONNX files, whole, broken and hostile: a model without weights, or a message that names the place."""

from __future__ import annotations

import os
import random
from pathlib import Path

import onnx
import pytest
from onnx import helper
from onnx_models import convolution, model, node, value, weight

from opscan.errors import LoadError
from opscan.loading import onnx_file, onnx_wire
from opscan.loading.onnx_file import load_onnx
from opscan.loading.onnx_reference import OnnxFileReference, recognise


def written(folder: Path, content: bytes | onnx.ModelProto, name: str = "model.onnx") -> OnnxFileReference:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    return OnnxFileReference(str(path))


# --- the reference --------------------------------------------------------------------------------------------


def test_a_file_is_recognised_by_its_name(tmp_path: Path) -> None:
    reference = written(tmp_path, convolution(), "Model.ONNX")
    assert recognise(reference.path) == reference
    assert str(reference) == reference.path


@pytest.mark.parametrize("text", ["model.py", "missing.onnx", "torchvision:resnet50", ""])
def test_what_else_is_named_is_left_to_others(text: str) -> None:
    assert recognise(text) is None


def test_a_folder_is_left_to_others(tmp_path: Path) -> None:
    (tmp_path / "models.onnx").mkdir()
    assert recognise(str(tmp_path / "models.onnx")) is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "pointer of Git LFS"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"PK\x03\x04zip", "a zip archive"),
    ],
)
def test_impostors_are_called_by_their_names(tmp_path: Path, content: bytes, says: str) -> None:
    reference = written(tmp_path, content)
    with pytest.raises(LoadError, match=says):
        recognise(reference.path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(LoadError, match="no regular file"):
        recognise(str(tmp_path / "pipe.onnx"))


# --- whole files ----------------------------------------------------------------------------------------------


def test_weights_are_counted_and_left_out(tmp_path: Path) -> None:
    large = model(node("MatMul", "x w", "y"), weights=(weight("w", 64, 64), weight("b", 3)))
    loaded = load_onnx(written(tmp_path, large))
    assert loaded.parameters == 64 * 64 + 3
    kept = {tensor.name: tensor for tensor in loaded.model.graph.initializer}
    assert list(kept["w"].dims) == [64, 64]
    assert kept["w"].data_type == onnx.TensorProto.FLOAT
    assert not kept["w"].raw_data
    assert len(kept["b"].raw_data) == 12


def test_small_models_are_read_as_they_are(tmp_path: Path) -> None:
    assert load_onnx(written(tmp_path, convolution())).model == convolution()


def test_sparse_weights_count_by_their_values(tmp_path: Path) -> None:
    sparse = helper.make_sparse_tensor(
        weight("s", 2), helper.make_tensor("i", onnx.TensorProto.INT64, [2], [0, 5]), [4, 4]
    )
    made = model(node("MatMul", "x s", "y"))
    made.graph.sparse_initializer.append(sparse)
    assert load_onnx(written(tmp_path, made)).parameters == 2


def test_weights_that_lie_elsewhere_need_not_be_there(tmp_path: Path) -> None:
    made = convolution()
    tensor = made.graph.initializer[0]
    onnx.external_data_helper.set_external_data(tensor, "deep/weights.bin", 0, 48)
    loaded = load_onnx(written(tmp_path, made))
    assert loaded.parameters == 12
    assert loaded.notes == ("Files of weights are not there, nor needed: deep/weights.bin.",)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "weights.bin").write_bytes(b"\0" * 48)
    assert load_onnx(written(tmp_path, made)).notes == ()


# --- broken files ---------------------------------------------------------------------------------------------


def fails(tmp_path: Path, content: bytes | onnx.ModelProto) -> str:
    with pytest.raises(LoadError) as caught:
        load_onnx(written(tmp_path, content))
    assert caught.value.hint
    return caught.value.message


def test_a_truncated_file_ends_at_a_byte(tmp_path: Path) -> None:
    whole = convolution().SerializeToString()
    assert "is no complete ONNX model: byte " in fails(tmp_path, whole[:-20])


def test_a_text_file_is_no_model(tmp_path: Path) -> None:
    assert "byte 0" in fails(tmp_path, b"this is not a model, whatever its name says")


def test_a_message_of_another_kind_has_no_graph(tmp_path: Path) -> None:
    assert "has no graph" in fails(tmp_path, onnx.ModelProto(ir_version=8).SerializeToString())


def test_the_opset_must_be_said(tmp_path: Path) -> None:
    made = convolution()
    del made.opset_import[:]
    assert "opset_import is empty" in fails(tmp_path, made)
    made.ir_version = 2
    assert load_onnx(written(tmp_path, made)).parameters == 12


def test_a_node_without_an_operator_is_named(tmp_path: Path) -> None:
    assert "node 1 ('second') does not say" in fails(
        tmp_path, model(node("Relu", "x", "y"), node("", "y", "z", "second"))
    )


def test_a_value_that_nothing_makes_is_named(tmp_path: Path) -> None:
    message = fails(tmp_path, model(node("Add", "x ghost", "y", "sum")))
    assert "node 0 (Add 'sum') reads 'ghost', which nothing makes" in message


def test_an_output_that_nothing_makes_is_named(tmp_path: Path) -> None:
    assert "nothing makes the output 'y'" in fails(tmp_path, model(node("Relu", "x", "z")))


def test_a_value_that_is_made_of_itself_is_named(tmp_path: Path) -> None:
    message = fails(tmp_path, model(node("Relu", "y", "y", "own")))
    assert "node 0 (Relu 'own') reads what is made of its own result" in message
    around = model(node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b", "y"))
    assert "reads what is made of its own result" in fails(tmp_path, around)


def test_a_value_that_a_branch_makes_of_itself_is_named(tmp_path: Path) -> None:
    inner = branch(node("Relu", "y", "inner"), output="inner")
    made = model(helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner))
    assert "reads what is made of its own result" in fails(tmp_path, made)


def test_a_value_that_is_made_twice_is_named(tmp_path: Path) -> None:
    message = fails(tmp_path, model(node("Relu", "x", "y"), node("Abs", "x", "y", "again")))
    assert "node 1 (Abs 'again') makes 'y', which something else makes" in message


def test_nodes_may_stand_in_any_order(tmp_path: Path) -> None:
    reference = written(tmp_path, model(node("Relu", "a", "y"), node("Abs", "x", "a")))
    assert len(load_onnx(reference).model.graph.node) == 2


def branch(*nodes: onnx.NodeProto, output: str) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), "branch", [], [value(output, None)])


def test_branches_may_read_what_is_around_them(tmp_path: Path) -> None:
    good = branch(node("Relu", "x", "a"), output="a")
    made = model(node("If", "cond", "y", then_branch=good, else_branch=good), weights=(weight("cond", 1),))
    assert load_onnx(written(tmp_path, made)).parameters == 1
    bad = branch(node("Relu", "ghost", "a"), output="a")
    broken = model(node("If", "cond", "y", then_branch=good, else_branch=bad), weights=(weight("cond", 1),))
    assert "node 0 (If), graph 'branch', node 0 (Relu '') reads 'ghost'" in fails(tmp_path, broken)


# --- hostile files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "location",
    ["/etc/passwd", "../secret", "a/../../secret", "C:\\secret", "..\\secret", "\\\\host\\share", "", "a\0b", "link/x"],
)
def test_data_outside_of_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path)
    made = convolution()
    onnx.external_data_helper.set_external_data(made.graph.initializer[0], location, 0, 48)
    with pytest.raises(LoadError, match="outside of the model's folder"):
        load_onnx(written(tmp_path / "inside", made))


def test_data_of_a_constant_within_a_branch_is_looked_at_too(tmp_path: Path) -> None:
    constant = weight("c", 1)
    onnx.external_data_helper.set_external_data(constant, "../../etc/passwd", 0, 4)
    inner = branch(node("Constant", "", "a", value=constant), output="a")
    made = model(node("If", "cond", "y", then_branch=inner, else_branch=inner), weights=(weight("cond", 1),))
    assert "outside of the model's folder" in fails(tmp_path, made)


def test_more_nodes_than_any_model_has_are_refused_before_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_wire, "MOST_NODES", 10)
    chain = [node("Relu", "x" if i == 0 else f"v{i}", f"v{i + 1}") for i in range(11)]
    assert "has more than 10 nodes" in fails(tmp_path, model(*chain, outputs=(value("v11", None),)))


def test_nodes_hidden_in_a_branch_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_wire, "MOST_NODES", 10)
    monkeypatch.setattr(onnx_wire, "_LONG_NODE", 100)
    inner = branch(*(node("Relu", "x", f"v{i}") for i in range(11)), output="v10")
    made = model(node("If", "cond", "y", then_branch=inner, else_branch=inner), weights=(weight("cond", 1),))
    assert "has more than 10 nodes" in fails(tmp_path, made)


def test_more_kinds_of_operators_than_there_are_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_file, "_MOST_OPERATORS", 1)
    assert "has 2 different operators" in fails(tmp_path, convolution())


def doubling(index: int, last: int) -> onnx.FunctionProto:
    calls = [node("Relu", "a", "b")] if index == last else []
    calls = calls or [node(f"f{index + 1}", "a", "m", domain="own"), node(f"f{index + 1}", "m", "b", domain="own")]
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    return helper.make_function("own", f"f{index}", ["a"], ["b"], calls, imports)


def test_functions_that_double_each_other_are_not_written_out(tmp_path: Path) -> None:
    bomb = [doubling(i, 40) for i in range(41)]
    message = fails(tmp_path, model(node("f0", "x", "y", domain="own"), functions=bomb, own=1))
    assert "with its functions written out it has 1,099,511,627,776 nodes" in message


def test_a_function_that_calls_itself_is_refused(tmp_path: Path) -> None:
    own = [doubling(0, 1)]
    own[0].node[0].op_type = "f0"
    assert "the function 'f0' calls itself" in fails(
        tmp_path, model(node("f0", "x", "y", domain="own"), functions=own, own=1)
    )


def test_structure_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_wire, "MOST_STRUCTURE", 100)
    assert "besides its weights" in fails(tmp_path, convolution())


def test_a_file_beyond_protobuf_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_file, "_LARGEST", 10)
    assert "cannot have more than 10" in fails(tmp_path, convolution())


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """A thousand files with bytes changed, lost and repeated: a model, or a message; nothing else."""
    chance = random.Random(5)
    inner = branch(node("Relu", "x", "a"), output="a")
    whole = model(
        node("If", "cond", "y", then_branch=inner, else_branch=inner),
        node("f1", "y", "z", domain="own"),
        weights=(weight("cond", 1), weight("w", 40, 40)),
        functions=[doubling(1, 1)],
        own=1,
    ).SerializeToString()
    outcomes = {"read": 0, "refused": 0}
    for _ in range(1000):
        content = mutated(whole, chance)
        try:
            load_onnx(written(tmp_path, content))
        except LoadError as error:
            assert error.hint  # noqa: PT017
            outcomes["refused"] += 1
        else:
            outcomes["read"] += 1
    assert min(outcomes.values()) > 50


def mutated(content: bytes, chance: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 3, 20))):
        at = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del data[at : at + chance.randrange(1, 30)]
        else:
            data[at:at] = data[at : at + chance.randrange(1, 30)]
        data = data or bytearray(b"\0")
    return bytes(data[: chance.randrange(1, len(data) + 1)] if chance.random() < 0.2 else data)
