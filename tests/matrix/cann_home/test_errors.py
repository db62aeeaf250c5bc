from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from opscan.errors import MatrixError, UsageError
from opscan.matrix.data import support_matrix_dir

from .trees import AI_CPU, CORE, build, old_toolkit, put, tensor, written

LIST = f"{CORE}/config/ascend910b/aic-ascend910b-ops-info.json"
CPU = f"{AI_CPU}/aicpu_kernel/config/aicpu_kernel.json"


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        (LIST, '{"Add": ', "aic-ascend910b-ops-info.json: Input data was truncated"),
        (LIST, "[]", "expected an object"),
        (LIST, {"Add": 3}, "key Add: expected an object"),
        (LIST, {"Add": {"input0": {"dtype": "float"}}}, "key Add.input0: expected an object with a name"),
        (LIST, {"Add": {"input0": {"name": "x", "dtype": 3}}}, "key Add.input0.dtype: expected dtypes"),
        (CPU, {"Add": {"input0": {"name": "x", "type": "DT_INT8"}}}, "key Add.opInfo.engine: expected an engine"),
        (CPU, {"Add": {"input0": 3, "opInfo": {"engine": "DNN_VM_AICPU"}}}, "key Add.input0: expected"),
        (f"{CORE}/kernel/config/ascend910b/add.json", {"binList": [3]}, "key binList: expected a list of kernels"),
    ],
)
def test_a_damaged_file_is_named_with_its_key_and_nothing_is_written(
    tmp_path: Path, name: str, content: Any, what: str
) -> None:
    root = old_toolkit(tmp_path)
    put(root, name, content)
    with pytest.raises(MatrixError, match=what) as error:
        build(root, tmp_path)
    assert str(root / name) in str(error.value)
    assert "install it again" in error.value.hint
    assert not (tmp_path / "user").exists()


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    put(root, LIST, b"\xff\xfe{}")
    with pytest.raises(MatrixError, match=r"aic-ascend910b-ops-info\.json"):
        build(root, tmp_path)


def test_unknown_socs_are_left_out_and_told(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    put(root, f"{CORE}/config/hi3796cv300cs/aic-hi3796cv300cs-ops-info.json", {"Add": {"input0": tensor("x", "int8")}})
    told = build(root, tmp_path)
    assert "left out, for the matrix does not know these SoCs: hi3796cv300cs" in told
    assert written(tmp_path) == ["cann/8.1.RC1/ascend310p.json", "cann/8.1.RC1/ascend910b.json", "releases.json"]


def test_no_known_soc_at_all(tmp_path: Path) -> None:
    put(tmp_path / "8.1.RC1", f"{CORE}/config/bs9sx1a/aic-bs9sx1a-ops-info.json", {})
    with pytest.raises(UsageError, match=r"no list of AI Core operators of a known SoC .*it has bs9sx1a") as error:
        build(tmp_path / "8.1.RC1", tmp_path)
    assert "Install the operators of your SoC" in error.value.hint


def test_a_toolkit_without_operators(tmp_path: Path) -> None:
    (tmp_path / "8.1.RC1" / "opp" / "built-in" / "op_impl").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"aic-\*-ops-info\*\.json\)$"):
        build(tmp_path / "8.1.RC1", tmp_path)


def test_files_fit_the_schema_name_no_place_and_come_out_the_same_twice(tmp_path: Path) -> None:
    root = old_toolkit(tmp_path)
    schema = json.loads((support_matrix_dir() / "schema" / "cann.schema.json").read_text())
    build(root, tmp_path)
    first = {name: (tmp_path / "user" / name).read_bytes() for name in written(tmp_path)}
    for name, content in first.items():
        if name.startswith("cann/"):
            jsonschema_rs.validate(schema, json.loads(content))
        assert str(tmp_path).encode() not in content
    build(root, tmp_path)
    assert {name: (tmp_path / "user" / name).read_bytes() for name in written(tmp_path)} == first
