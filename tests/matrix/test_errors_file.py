"""The table of error codes is whole, and codes are found in what users paste."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opscan.errors import MatrixError
from opscan.matrix.errors_file import FILE, ErrorCodes, ErrorEntry
from opscan.rules.registry import RULES

CODES = ErrorCodes.load()
ENTRIES: dict[str, ErrorEntry] = {
    **CODES.file.codes,
    **{f"ERR..{kind}": entry for kind, entry in CODES.file.composed.kinds.items()},
    **{message.text[0]: message.entry for message in CODES.file.messages},
}


@pytest.mark.parametrize("code", ENTRIES)
def test_every_entry_has_both_languages_a_next_step_and_sources(code: str) -> None:
    entry = ENTRIES[code]
    assert entry.title.en
    assert re.search(r"[\u4e00-\u9fff]", entry.title.zh), entry.title.zh
    if entry.meaning:
        assert entry.meaning.en
        assert re.search(r"[\u4e00-\u9fff]", entry.meaning.zh)
    assert entry.next in CODES.file.next
    assert entry.sources
    assert set(entry.sources) <= set(CODES.file.sources)
    assert set(entry.rules) <= set(RULES)
    assert set(entry.successors) <= set(CODES.file.codes) - {code}


def test_every_code_stands_once_and_has_a_family(root: Path) -> None:
    raw = (root / FILE).read_text(encoding="utf-8")
    keys = re.findall(r'^"([^"]+)": \{"', raw, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)), "a code twice, or a kind or source of the same name"
    assert [code for code in CODES.file.codes if CODES.family(code) is None] == []
    names = [entry.name for entry in CODES.file.codes.values() if entry.name]
    assert len(names) == len(set(names))


def test_families_do_not_overlap_but_for_narrower_ones() -> None:
    patterns = [family.pattern for family in CODES.file.families]
    heads = [pattern.rstrip("x*") for pattern in patterns]
    assert len(set(heads)) == len(heads)
    for family in CODES.file.families:
        assert set(family.sources) <= set(CODES.file.sources)
        assert family.next in CODES.file.next
        assert set(family.rules) <= set(RULES)


def test_one_entry_is_one_line_in_order(root: Path) -> None:
    raw = (root / FILE).read_text(encoding="utf-8")
    lines = [line for line in raw.splitlines() if re.match(r'^"([1-5]\d{5}|[EWH]\w+)": ', line)]
    assert len(lines) == len(CODES.file.codes)
    assert list(CODES.file.codes) == sorted(CODES.file.codes)
    assert list(json.loads(raw)) == sorted(json.loads(raw))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("161001", "ACLNN_ERR_PARAM_NULLPTR"),
        ("161002", "ACLNN_ERR_PARAM_INVALID"),
        ("361001", "ACLNN_ERR_RUNTIME_ERROR"),
        ("561003", "ACLNN_ERR_INNER_FIND_KERNEL_ERROR"),
        ("561112", "ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND"),
        ("100024", "ACL_ERROR_OP_NOT_FOUND"),
        ("107002", "ACL_ERROR_RT_CONTEXT_NULL"),
        ("207018", "ACL_ERROR_RT_DEVICE_OOM"),
        ("507015", "ACL_ERROR_RT_AICORE_EXCEPTION"),
        ("507018", "ACL_ERROR_RT_AICPU_EXCEPTION"),
        ("500002", "ACL_ERROR_GE_FAILURE"),
        ("145022", "ACL_ERROR_GE_DATATYPE_INVALID"),
    ],
)
def test_names_in_the_headers(code: str, name: str) -> None:
    assert CODES.file.codes[code].name == name
    assert [found.code for found in CODES.find(name)] == [code]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("161002", ["161002"]),
        ("ez9999", ["EZ9999"]),
        ("EZ9999: Inner Error!", ["EZ9999"]),
        ("error code is 507018", ["507018"]),
        (
            "NPU function error: x, error code is 507000 [ERROR] (PID:107002, Device:0) ERR00100 PTA",
            ["507000", "ERR00100"],
        ),
        ("EZ9999: Inner Error! runtime result = 507015, ret: 361001", ["507015", "EZ9999", "361001"]),
        ("[ERROR] RUNTIME(107002,python3):2026", []),
        ("retCode=507999", ["507999"]),
        ("a tensor of 507999 elements", []),
        ("E50099", ["E50099"]),
        ("HCCL_E_REMOTE", ["HCCL_E_REMOTE"]),
        ("aten::add.Tensor", []),
        ("E1901", []),
        ("XE19010", []),
        ("", []),
    ],
)
def test_codes_in_a_text(text: str, codes: list[str]) -> None:
    assert [found.code for found in CODES.find(text)] == codes


@pytest.mark.parametrize(
    ("code", "pattern"), [("507999", "507xxx"), ("E19999", "E19xxx"), ("E18888", "E1xxxx"), ("EG10000", "EG*")]
)
def test_the_narrowest_family_is_named(code: str, pattern: str) -> None:
    family = CODES.family(code)
    assert family is not None
    assert family.pattern == pattern


def test_any_composed_code_is_explained() -> None:
    for module in CODES.file.composed.modules:
        for kind in CODES.file.composed.kinds:
            found = CODES.look_up(f"ERR{module}{kind}")
            assert found is not None
            assert found.entry is CODES.file.composed.kinds[kind]
    unknown = CODES.look_up("ERR77001")
    assert unknown is not None
    assert unknown.entry is None


@given(st.text(alphabet=st.sampled_from("EZR0123456789: ()_xACL\n\x1b"), max_size=60) | st.text())
def test_any_text_can_be_searched(text: str) -> None:
    for found in CODES.find(text):
        assert found.entry or found.family
    CODES.message(text)


def test_a_damaged_file_names_its_key(tmp_path: Path, root: Path) -> None:
    document = json.loads((root / FILE).read_text(encoding="utf-8"))
    document["codes"]["161002"]["about"] = "weather"
    (tmp_path / FILE).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(MatrixError, match=r"errors\.json: key codes\.161002"):
        ErrorCodes.load(tmp_path)


def test_the_schema_holds(tmp_path: Path, root: Path) -> None:
    from opscan.matrix.schema import check_schemas

    (tmp_path / "schema").mkdir()
    for schema in (root / "schema").glob("*.json"):
        shutil.copy(schema, tmp_path / "schema")
    shutil.copy(root / FILE, tmp_path)
    assert check_schemas(tmp_path) == []
