"""``opscan model.onnx``: the command, its options, and names that are made to harm who reads the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ended_commands import Ended
from onnx_models import convolution, model, node, value

Opscan = Callable[..., Ended]
TARGET = ("--torch-npu", "2.13.0", "--cann", "9.1.0", "--soc", "ascend910b")


def test_a_file_is_judged_for_the_offline_route(opscan: Opscan, folder: Path) -> None:
    (folder / "model.onnx").write_bytes(convolution().SerializeToString())
    ended = opscan("model.onnx", "--json", "result.json", *TARGET)
    assert ended.code == 0, ended
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["target"]["route"] == "offline"
    assert result["model"] == {"reference": "model.onnx", "parameters": 12}
    assert (result["trace"]["tracer"], result["trace"]["engine"]) == ("onnx", "file")
    ops = {op["name"]: op for op in result["ops"]}
    assert ops["ai.onnx::Conv"]["routes"]["offline"] == "supported"
    assert ops["ai.onnx::Conv"]["locations"] == [{"file": "model.onnx", "line": 0, "module": "conv"}]
    assert (folder / "opscan-report.html").exists()


def test_an_operator_without_a_parser_fails_the_gate_and_is_named(opscan: Opscan, folder: Path) -> None:
    made = model(node("MMCVModulatedDeformConv2d", "x", "h", "/neck/deform"), node("Relu", "h", "y"))
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    ended = opscan("model.onnx", *TARGET)
    assert ended.code == 1
    assert "OPS121 ATC of CANN 9.1.0 has no parser for ai.onnx::MMCVModulatedDeformConv2d." in ended.out
    assert "model.onnx /neck/deform" in ended.out


def test_open_sizes_are_told_with_what_to_do(opscan: Opscan, folder: Path) -> None:
    made = model(node("Relu", "x", "y"), inputs=(value("x", ("N", 3, "H", "W")),))
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    ended = opscan("model.onnx", *TARGET)
    assert "OPS621 Inputs have sizes that are not fixed: x[N, 3, H, W]." in ended.out
    page = (folder / "opscan-report.html").read_text(encoding="utf-8")
    assert "--dynamic_batch_size" in page


def test_gears_are_proposed_for_the_inputs_of_the_file(opscan: Opscan, folder: Path) -> None:
    made = model(node("Relu", "x", "y"), inputs=(value("x", ("N", 3, 224, 224)),))
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    ended = opscan("model.onnx", *TARGET, "--dynamic", "x:0=1..64")
    said = " ".join(ended.out.split())
    assert '--input_shape="x:-1,3,224,224" --dynamic_batch_size="1,4,16,64"' in said
    assert '--input_shape="x:1~64,3,224,224"' in said


def test_a_dimension_that_the_file_does_not_have_is_refused(opscan: Opscan, folder: Path) -> None:
    made = model(node("Relu", "x", "y"), inputs=(value("x", ("N", 3)),))
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    ended = opscan("model.onnx", *TARGET, "--dynamic", "x:5")
    assert ended.code == 2
    assert "x has 2 dimensions" in ended.err


def test_names_that_would_act_are_shown(opscan: Opscan, folder: Path) -> None:
    odd = "<script>alert(1)</script>\x1b[31m\u202eevil"
    made = model(node(odd, "x", "h", odd, domain=odd), node("Relu", "h", "y"), **{odd: 1})
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    ended = opscan("model.onnx", *TARGET)
    assert ended.code == 1
    page = (folder / "opscan-report.html").read_text(encoding="utf-8")
    for output in (ended.out, ended.err, page):
        assert "\x1b[31m" not in output
        assert "\u202e" not in output
    assert "<script>alert(1)" not in page
    assert "\\x1b[31m" in ended.out


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--input-shape", "1,3"), "--input-shape"),
        (("--train",), "--train"),
        (("--optimizer", "sgd"), "--optimizer"),
        (("--amp", "fp16"), "--amp"),
        (("--rehearse",), "--engine rehearse"),
        (("--probe", "require"), "--probe require"),
        (("--tracer", "fx"), "--tracer fx"),
        (("--cross-check",), "--cross-check"),
    ],
)
def test_options_about_running_do_not_go_with_a_file(
    opscan: Opscan, folder: Path, options: tuple[str, ...], named: str
) -> None:
    (folder / "model.onnx").write_bytes(convolution().SerializeToString())
    ended = opscan("model.onnx", *options)
    assert ended.code == 2
    assert f"{named} does not go with an ONNX file" in ended.err
    assert not (folder / "opscan-report.html").exists()


@pytest.mark.parametrize("content", [b"", b"not a model at all", convolution().SerializeToString()[:-9], b"\x08\x08"])
def test_a_broken_file_is_a_message(opscan: Opscan, folder: Path, content: bytes) -> None:
    (folder / "model.onnx").write_bytes(content)
    ended = opscan("model.onnx")
    assert ended.code == 2
    assert ended.err.count("opscan: error: model.onnx ") == 1
    assert "Traceback" not in ended.err
    assert sorted(path.name for path in folder.iterdir()) == ["model.onnx"]
