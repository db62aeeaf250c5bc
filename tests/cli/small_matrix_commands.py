"""``opscan matrix …`` in this process, over a matrix of a few entries."""

from __future__ import annotations

from pathlib import Path

from ended_commands import Ended
from small_matrix import (
    CPU_ONLY,
    adapter,
    api,
    cann,
    ge,
    native,
    observed,
    onnx,
    releases,
    row,
    torchair,
    write_matrix,
)
from typer.testing import CliRunner

import opscan.matrix.schema  # noqa: F401  before a test replaces the folder that schemas are read from
from opscan.cli.main import app
from opscan.matrix.files import SCHEMA, Converter, OnnxOp, Soc, SocsFile

OPS = {"aten::abs": native("aclnnAbs"), "aten::add.Tensor": native("aclnnAdd")}
SEEN = {
    "aten::abs": (row("float32", "aclnnAbs[T:float32 T:float32]"), row("int8", "aclnnAbs[T:int8 T:int8]")),
    "aten::add.Tensor": (row("float32 float32", "aclnnAdd[T:float32 T:float32 T:float32]"),),
}
CONVERTERS = {"aten::abs": Converter("implemented", ("Abs",)), "aten::add.Tensor": Converter("raises")}
SOC = Soc("Atlas A2", ("Ascend910B3", "A2"), {"Ascend910B": "Ascend910B is also a name of the older chip."})


def packaged(root: Path) -> Path:
    files = (
        adapter("2.12.0", {**OPS, "aten::add.Tensor": CPU_ONLY}),
        adapter("2.13.0", OPS),
        torchair("2.13.0", CONVERTERS),
        observed("2.13.0", SEEN),
        cann("8.5.0", {"aclnnAbs": api("float16"), "aclnnAdd": api("float32", other=("float32",))}),
        cann(
            "9.1.0",
            {"aclnnAbs": api("float32"), "aclnnAdd": api("float32", other=("float32",))},
            {"Abs": ge("float32")},
        ),
        onnx("9.1.0", {"ai.onnx::Abs": OnnxOp((17, 18), ("Abs",))}),
    )
    known = releases(*files, nearest={"8.3.RC1": ("8.5.0",), "7.0.0": ()})
    return write_matrix(
        root, *files, known, SocsFile(SCHEMA, (), {"ascend910b": SOC, "ascend910": Soc("910A", ("A1",))})
    )


def run(*arguments: str) -> Ended:
    result = CliRunner().invoke(app, ["matrix", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.stderr
    assert "internal error" not in result.stderr
    return Ended(result.exit_code, result.stdout, result.stderr)
