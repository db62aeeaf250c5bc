"""Definitions of graph-engine operators as a wheel carries them."""

from __future__ import annotations

from pathlib import Path

from opscan.probing.graph.prototypes import UNKNOWN, Prototypes

OPERATORS = '''
def Twofold(x, *, scale=1.0):
    """REG_OP(Twofold)\\n
    .INPUT(x, TensorType({DT_FLOAT, DT_FLOAT16}))\\n
    .OPTIONAL_INPUT(bias, TensorType{DT_FLOAT})\\n
    .DYNAMIC_INPUT(others, TensorType::ALL())\\n
    .OUTPUT(y, TensorType({DT_FLOAT, DT_FLOAT16}))\\n
    .DYNAMIC_OUTPUT(rest, TensorType::ALL())\\n
    .REQUIRED_ATTR(axis, Int)\\n
    .ATTR(mode, String, "INPUT(z, w)")\\n
    """
    return None


def Next(x):
    """REG_OP(Next)\\n
    .INPUT(x, TensorType::ALL())\\n
    """
'''


def test_a_definition_is_read(tmp_path: Path) -> None:
    path = tmp_path / "operators.py"
    path.write_text(OPERATORS, encoding="utf-8")
    assert Prototypes(path).definition("Twofold") == (
        "SUCCESS",
        [("x", "required"), ("bias", "optional"), ("others", "dynamic")],
        [("y", "required"), ("rest", "dynamic")],
        [("axis", "VT_INT"), ("mode", "VT_STRING")],
    )
    assert Prototypes(path).definition("Next")[1] == [("x", "required")]


def test_an_operator_that_the_wheel_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "operators.py"
    path.write_text(OPERATORS, encoding="utf-8")
    assert Prototypes(path).definition("Third") == UNKNOWN
    assert Prototypes(tmp_path / "missing.py").definition("Twofold") == UNKNOWN
