"""Tables whose entries are decoded when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small_matrix import adapter, api, cann, ge, native, observed, row, torchair, write_matrix

from opscan.errors import MatrixError
from opscan.matrix.files import Api, Converter, Row
from opscan.matrix.tables import open_cann, open_observed, open_registrations
from opscan.matrix.torchair_table import TorchairTable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_matrix(
        tmp_path,
        adapter("2.13.0", {"aten::abs": native("aclnnAbs")}),
        observed("2.13.0", {"aten::abs": (row("float32", "aclnnAbs[T:float32]"),)}),
        cann("9.1.0", {"aclnnAbs": api("float32"), "aclnnNeg": api("int8")}, {"Abs": ge("float32")}),
        torchair("2.13.0", {"aten::abs": Converter("raises")}),
    )


def test_entries_by_name(root: Path) -> None:
    table = open_cann(root / "cann/9.1.0/ascend910b.json")
    assert (table.release, table.soc) == ("9.1.0", "ascend910b")
    assert sorted(table.apis) == ["aclnnAbs", "aclnnNeg"]
    assert len(table.apis) == 2
    assert "aclnnAbs" in table.apis
    assert "aclnnSin" not in table.apis
    found = table.apis.get("aclnnAbs")
    assert isinstance(found, Api)
    assert found.params["self"].dtypes == ("float32",)
    assert table.apis.get("aclnnAbs") is found  # decoded once
    assert table.apis.get("aclnnSin") is None
    assert table.ge.get("Abs") == ge("float32")


def test_the_other_tables(root: Path) -> None:
    registrations = open_registrations(root / "torch_npu/2.13.0.json")
    assert (registrations.release, registrations.torch) == ("2.13.0", "2.13.0")
    assert registrations.ops.get("aten::abs") == native("aclnnAbs")
    seen = open_observed(root / "observed/2.13.0/ascend910b.json").ops.get("aten::abs")
    assert seen is not None
    assert seen.rows == (Row("float32", "float32", ("aclnnAbs[T:float32]",)),)
    converters = TorchairTable.load("2.13.0", (root,))
    assert converters is not None
    assert converters.ops.get("aten::abs") == Converter("raises")
    assert TorchairTable.load("2.12.0", (root,)) is None


def edit(path: Path, change: Callable[[dict[str, object]], None]) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def test_a_faulty_entry_is_named_when_it_is_asked_for_and_spoils_no_other(root: Path) -> None:
    path = root / "cann/9.1.0/ascend910b.json"
    edit(path, lambda d: d["apis"]["aclnnAbs"].update(supported="yes"))  # type: ignore[index]
    table = open_cann(path)
    assert table.apis.get("aclnnNeg") == api("int8")
    with pytest.raises(MatrixError) as caught:
        table.apis.get("aclnnAbs")
    assert caught.value.message.startswith(f"{path}: key apis.aclnnAbs: ")
    assert "supported" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("cann/9.1.0/ascend910b.json", {"apis": []}, "apis"),
        ("cann/9.1.0/ascend910b.json", {"ge": 3}, "ge"),
        ("cann/9.1.0/ascend910b.json", {"schema": 2}, "schema is 2, this opscan reads 1"),
        ("observed/2.13.0/ascend910b.json", {"ops": "x"}, "ops"),
        ("torch_npu/2.13.0.json", {"torch": None}, "torch"),
    ],
)
def test_a_faulty_file_is_named(root: Path, name: str, change: dict[str, object], said: str) -> None:
    edit(root / name, lambda d: d.update(change))
    openers = {"cann": open_cann, "observed": open_observed, "torch_npu": open_registrations}
    with pytest.raises(MatrixError) as caught:
        openers[name.partition("/")[0]](root / name)  # type: ignore[operator]
    assert str(root / name) in caught.value.message
    assert said in caught.value.message


def test_the_last_of_two_equal_keys_counts(root: Path) -> None:
    """As in every JSON reader; ``opscan matrix lint`` complains."""
    path = root / "torch_npu/2.13.0.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"ops": {', '"ops": {"aten::abs": {"keys":["CPU"]},'), encoding="utf-8")
    entry = open_registrations(path).ops.get("aten::abs")
    assert entry is not None
    assert entry.keys == ("PrivateUse1", "CPU")
