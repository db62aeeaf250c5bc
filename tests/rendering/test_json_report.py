from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from opscan.assessment import Assessment
from opscan.errors import OpscanError
from opscan.rendering.json import load_assessment, render_json


def test_contract_keys(sample: Assessment) -> None:
    report = json.loads(render_json(sample))
    assert report["schema"] == 1
    assert report["target"] == {"torch_npu": "2.6.0.post5", "cann": "8.5.0", "soc": "ascend910b", "route": "eager"}
    refused = report["ops"][1]
    assert refused["name"] == "aten::index.Tensor"
    assert refused["verdict"] == "unsupported"
    assert refused["rule"] == "OPS104"
    assert refused["dtypes"] == ["complex64", "int64"]
    assert refused["inputs"] == [["complex64", [2048, 64]], ["int64", ["batch", 64]]]
    assert refused["locations"][0] == {"file": "llama_block.py", "line": 31, "module": "layers.0.attention"}
    assert report["ops"][0]["rule"] is None
    assert report["summary"] == {
        "ops": 6,
        "calls": 70,
        "supported": 1,
        "slow": 1,
        "fallback": 1,
        "unsupported": 1,
        "unknown": 2,
    }
    assert report["cost"]["person_days"] == {"low": 1.75, "likely": 3.5, "high": 7.0}
    assert report["gate"] == {"passed": False, "fail_on": "unsupported"}


def test_round_trip_is_stable(sample: Assessment) -> None:
    text = render_json(sample)
    again = load_assessment(text.encode())
    assert again == replace(sample, ops=again.ops)
    assert [op.name for op in again.ops] == [op.name for op in sample.ops]
    assert render_json(again) == text
    assert text.endswith("}\n")


def test_a_report_from_windows_has_a_byte_order_mark(sample: Assessment) -> None:
    assert load_assessment(b"\xef\xbb\xbf" + render_json(sample).encode()).model == sample.model


def test_errors_that_are_not_finite_are_null(sample: Assessment, hostile: Assessment) -> None:
    check = json.loads(render_json(hostile))["ops"][0]["substitutions"][0]["check"]
    assert check["max_abs_error"] is None
    assert check["max_rel_error"] is None
    loaded = load_assessment(render_json(hostile).encode())
    assert loaded.ops[0].substitutions[0].check is not None
    assert loaded.ops[0].substitutions[0].check.max_abs_error is None


def test_hostile_strings_survive(hostile: Assessment, hostile_text: str) -> None:
    name = json.loads(render_json(hostile))["ops"][0]["name"]
    assert name == hostile_text.replace("\udc80", "\\udc80")


def test_keys_of_a_later_version_are_ignored(sample: Assessment) -> None:
    report = json.loads(render_json(sample))
    report["later"] = {"deep": [1]}
    report["ops"][0]["later"] = 1
    assert load_assessment(json.dumps(report).encode()).summary.ops == 6


def _damage(change: Callable[[Any], None], sample: Assessment) -> bytes:
    report = json.loads(render_json(sample))
    change(report)
    return json.dumps(report).encode()


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda report: report["ops"][1].update(count="two"), r"ops\[1\]\.count"),
        (lambda report: report["ops"][1].update(verdict="fine"), r"ops\[1\]\.verdict"),
        (lambda report: report["ops"][1].pop("phase"), r"ops\[1\].*phase"),
        (lambda report: report["ops"][1]["inputs"].append(["float32"]), r"ops\[1\]\.inputs\[2\]"),
        (lambda report: report.pop("gate"), "gate"),
        (lambda report: report["summary"].update(unsupported=0), r"summary\.unsupported.*says 0.*add up to 1"),
        (lambda report: report["ops"].pop(), r"summary\.ops.*says 6.*add up to 5"),
    ],
)
def test_damage_names_the_key(sample: Assessment, change: Callable[[Any], None], key: str) -> None:
    with pytest.raises(OpscanError, match=key) as caught:
        load_assessment(_damage(change, sample))
    assert caught.value.hint


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe{}", b"[]", b"null", b'{"tool": 1}', b"[" * 100_000])
def test_what_is_not_a_report(data: bytes) -> None:
    with pytest.raises(OpscanError, match="The report is"):
        load_assessment(data)


def test_another_schema(sample: Assessment) -> None:
    with pytest.raises(OpscanError, match="schema 2; this opscan reads schema 1"):
        load_assessment(_damage(lambda report: report.update(schema=2), sample))


def test_every_key_is_documented(sample: Assessment, request: pytest.FixtureRequest) -> None:
    page = (request.config.rootpath / "docs" / "json.md").read_text(encoding="utf-8")
    names: set[str] = set()
    pending: list[Any] = [sample]
    while pending:
        value = pending.pop()
        if is_dataclass(value) and not isinstance(value, type):
            names |= {field.name for field in fields(value)}
            pending += [getattr(value, field.name) for field in fields(value)]
        elif isinstance(value, tuple):
            pending += value
    missing = {name for name in names if f"`{name}`" not in page and f".{name}`" not in page}
    assert missing - {"supported", "slow", "fallback", "unsupported", "unknown"} == set()
