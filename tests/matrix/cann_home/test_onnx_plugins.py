from __future__ import annotations

from pathlib import Path

import pytest

from opscan.errors import MatrixError
from opscan.matrix.files import OnnxFile, load

from .trees import build, library, old_toolkit, put, written

PLUGIN = "opp/built-in/framework/onnx/libops_all_onnx_plugin.so"
STRINGS = b"\x00ai.onnx::11::Relu\x00Relu\x00ai.onnx::13::Relu\x00npu::1::NPUFastGelu\x00see ai.onnx::9::Gemm\x00"


def test_opsets_from_the_strings_of_a_library(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    put(root, PLUGIN, library(STRINGS, writable=b"\x00ai.onnx::11::Writable\x00"))
    build(root, tmp_path)
    file = load(tmp_path / "user" / "onnx" / "8.1.RC1.json", OnnxFile)
    assert {name: op.opsets for name, op in file.ops.items()} == {
        "ai.onnx::Celu": (12,),
        "ai.onnx::Relu": (11, 13),
        "npu::NPUFastGelu": (1,),
    }
    assert file.ops["ai.onnx::Relu"].ge == ("Relu",)
    assert file.ops["ai.onnx::Relu"].source == f"{PLUGIN} of the installed toolkit"
    assert file.ops["npu::NPUFastGelu"].ge == (), "what it becomes is unknown"
    assert file.ops["ai.onnx::Celu"].borrowed == "8.1.RC1", "a string that is not found proves nothing"


def test_custom_plugins_in_json(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    put(root, "opp/vendors/acme/framework/onnx/plugin.json", {"ops": ["ai.onnx::16::Mine"]})
    build(root, tmp_path)
    file = load(tmp_path / "user" / "onnx" / "8.1.RC1.json", OnnxFile)
    assert file.ops["ai.onnx::Mine"].opsets == (16,)


def test_without_a_plugin_no_table_is_written(tmp_path: Path) -> None:
    told = build(old_toolkit(tmp_path), tmp_path)
    assert written(tmp_path) == ["cann/8.1.RC1/ascend310p.json", "cann/8.1.RC1/ascend910b.json", "releases.json"]
    assert any("no ONNX plugin is installed" in line for line in told)


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"", "not a 64-bit ELF library"), (library(STRINGS)[:-9], "cut short"), (library(b"")[:100], "cut short")],
)
def test_a_damaged_library_is_named(tmp_path: Path, content: bytes, what: str) -> None:
    root = old_toolkit(tmp_path)
    put(root, PLUGIN, content)
    with pytest.raises(MatrixError, match=what) as error:
        build(root, tmp_path)
    assert str(root / PLUGIN) in str(error.value)
    assert not (tmp_path / "user").exists()
