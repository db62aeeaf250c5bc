"""What a scan writes and prints, and the exit code it ends with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ended_commands import Ended

Opscan = Callable[..., Ended]

HEADER = "import torch\nfrom torch import nn\n"
#: One operator of each verdict, by the functions that the test below names.
SOURCES = {
    "supported": "x.relu()",
    "slow": "x[x > 0]",
    "fallback": "torch.lgamma(x)",
    "unsupported": "torch.ops.aten._scaled_dot_product_efficient_attention(x[None], x[None], x[None], None, False)[0]",
}


def write(folder: Path, *expressions: str) -> None:
    lines = "".join(f"    {e}\n" for e in expressions)
    (folder / "net.py").write_text(f"{HEADER}def build_model():\n    return run\n\ndef run(x):\n{lines}")


def scan(opscan: Opscan, *options: str) -> Ended:
    return opscan("net.py", "--input-shape", "2,4,8", "--torch-npu", "2.13.0", "--cann", "9.1.0", *options)


def result(opscan: Opscan, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scan(opscan, "--json", "-", *options).out)
    return found


# --- exit codes -----------------------------------------------------------------------------------------------

TABLE = {
    "unsupported": {"unsupported"},
    "fallback": {"unsupported", "fallback"},
    "slow": {"unsupported", "fallback", "slow"},
    "unknown": {"unsupported"},
    "never": set(),
}


@pytest.mark.parametrize("verdict", SOURCES)
def test_fail_on(opscan: Opscan, folder: Path, verdict: str) -> None:
    write(folder, SOURCES[verdict])
    assert result(opscan, "--fail-on", "never")["summary"][verdict] == 1
    for fail_on, failing in TABLE.items():
        ended = scan(opscan, "--fail-on", fail_on)
        assert ended.code == (1 if verdict in failing else 0), fail_on


def test_an_unknown_operator_fails_on_unknown_alone(opscan: Opscan, folder: Path) -> None:
    write(folder, "x.relu()")
    codes = [scan(opscan, "--soc", "ascend310p", "--fail-on", fail_on).code for fail_on in TABLE]
    assert codes == [0, 0, 0, 1, 0]


def test_the_default_fails_on_unsupported(opscan: Opscan, folder: Path) -> None:
    write(folder, SOURCES["unsupported"])
    assert scan(opscan).code == 1
    write(folder, SOURCES["fallback"])
    assert scan(opscan).code == 0


def test_strict_wants_a_complete_trace(opscan: Opscan, folder: Path) -> None:
    write(folder, "x.relu()")
    assert scan(opscan, "--strict").code == 0
    write(folder, "x.relu().sum().item()")
    assert scan(opscan).code == 0
    assert scan(opscan, "--strict").code == 3
    write(folder, SOURCES["unsupported"], "x.sum().item()")
    assert scan(opscan).code == 1
    assert scan(opscan, "--strict").code == 3


def test_a_trace_that_ended_is_reported_and_incomplete(opscan: Opscan, folder: Path) -> None:
    write(folder, "x = x.relu()", "library.op(x)")
    source = (folder / "net.py").read_text()
    library = (
        'fragment = torch.library.Library("scanresults", "DEF")\nfragment.define("op(Tensor x) -> Tensor")\n'
        'fragment.impl("op", lambda x: x, "CUDA")\nlibrary = torch.ops.scanresults\n'
    )
    (folder / "net.py").write_text(source.replace(HEADER, HEADER + library))
    ended = scan(opscan, "--json", "result.json", "--fail-on", "never")
    assert ended.code == 3
    found = json.loads((folder / "result.json").read_text())
    assert {op["name"]: op["verdict"] for op in found["ops"]} == {
        "aten::relu": "supported",
        "scanresults::op": "unsupported",
    }
    assert not found["trace"]["complete"]
    assert found["trace"]["attempts"][0]["ok"] is False
    assert "scanresults::op" in ended.out
    assert (folder / "opscan-report.html").exists()


# --- the result as JSON ---------------------------------------------------------------------------------------


def test_the_contract(opscan: Opscan, folder: Path) -> None:
    write(folder, *SOURCES.values(), "x.cuda().sum().item()")
    found = result(opscan, "--fail-on", "slow")
    assert set(found) == {
        "schema", "tool", "model", "target", "trace", "ops", "findings", "summary", "cost", "gate",
        "warnings", "warnings_zh", "routes", "cross_check", "workload", "notes",
    }  # fmt: skip
    assert found["schema"] == 1
    assert found["model"] == {"reference": "net.py", "parameters": 0}
    assert found["target"] == {"torch_npu": "2.13.0", "cann": "9.1.0", "soc": "ascend910b", "route": "eager"}
    assert set(found["trace"]) == {
        "tracer", "engine", "host_torch", "approximate", "complete", "unseen", "attempts",
        "values", "values_note", "sizes",
    }  # fmt: skip
    assert (found["trace"]["tracer"], found["trace"]["complete"]) == ("dispatch", False)
    op = found["ops"][0]
    assert {
        "name", "verdict", "rule", "reason", "phase", "count", "dtypes", "inputs", "outputs", "kernels", "locations",
        "evidence", "conflicts", "substitutions", "routes",
    } <= set(op)  # fmt: skip
    assert (op["name"], op["verdict"], op["rule"]) == (
        "aten::_scaled_dot_product_efficient_attention", "unsupported", "OPS101",
    )  # fmt: skip
    assert op["inputs"][0] == ["float32", [1, 2, 4, 8]]
    assert op["locations"] == [{"file": "net.py", "line": 10, "module": ""}]
    assert set(op["routes"]) == {"eager", "graph", "offline"}
    finding = next(f for f in found["findings"] if f["rule"] == "OPS601")
    assert finding["severity"] == "warning"
    assert finding["locations"] == [{"file": "net.py", "line": 11, "module": ""}]
    assert "Tensor.cuda()" in finding["message"]
    assert found["summary"]["ops"] == len(found["ops"])
    assert set(found["cost"]["person_days"]) == {"low", "likely", "high"}
    assert found["gate"] == {"passed": False, "fail_on": "slow"}


def test_json_on_stdout_is_json_alone(opscan: Opscan, folder: Path) -> None:
    write(folder, 'print("from the model", flush=True)', "x.relu()")
    ended = scan(opscan, "--json", "-")
    assert json.loads(ended.out)["summary"]["ops"] == 1
    assert "aten::relu" not in ended.err  # supported operators are counted, not listed
    assert "ascend910b" in ended.err
    assert (folder / "opscan-report.html").exists()


def test_the_same_scan_gives_the_same_bytes(opscan: Opscan, folder: Path) -> None:
    write(folder, *SOURCES.values())
    scan(opscan, "--json", "a.json", "--html", "a.html")
    scan(opscan, "--json", "b.json", "--html", "b.html")
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()
    assert (folder / "a.html").read_bytes() == (folder / "b.html").read_bytes()


def test_files_replace_files_whole(opscan: Opscan, folder: Path) -> None:
    write(folder, "x.relu()")
    (folder / "a.json").write_text("before" * 100_000)
    (folder / "link.html").symlink_to("a.html")
    scan(opscan, "--json", "a.json", "--html", "link.html")
    assert json.loads((folder / "a.json").read_text())["schema"] == 1
    assert (folder / "link.html").is_symlink()
    assert (folder / "a.html").read_text().startswith("<!doctype html>")
    assert sorted(p.name for p in folder.iterdir()) == ["a.html", "a.json", "link.html", "net.py"]


def test_html_on_stdout(opscan: Opscan, folder: Path) -> None:
    write(folder, "x.relu()")
    ended = scan(opscan, "--html", "-")
    assert ended.out.startswith("<!doctype html>")
    assert ended.out.rstrip().endswith("</html>")
    assert [p.name for p in folder.iterdir()] == ["net.py"]


# --- the summary ----------------------------------------------------------------------------------------------


def test_the_summary_names_operator_verdict_and_line(opscan: Opscan, folder: Path) -> None:
    write(folder, SOURCES["fallback"])
    ended = scan(opscan)
    assert ended.err == ""
    assert "\x1b" not in ended.out
    (line,) = (line for line in ended.out.splitlines() if "aten::lgamma" in line and "net.py:7" in line)
    assert line.split()[0] == "fallback"
    assert "opscan-report.html" in ended.out


def test_chinese_on_request(opscan: Opscan, folder: Path) -> None:
    write(folder, SOURCES["fallback"])
    ended = scan(opscan, "--lang", "zh")
    assert "回退" in ended.out
    html = (folder / "opscan-report.html").read_text(encoding="utf-8")
    assert '<html lang="zh' in html


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_ALL": "zh_TW.UTF-8", "LANG": "C"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "de_DE.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_locale_chooses_the_language(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    from opscan.cli.choices import language

    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language(None) == expected
    assert language("en") == "en"


def test_warnings_about_the_target(opscan: Opscan, folder: Path) -> None:
    write(folder, "x.relu()")
    found = json.loads(
        opscan("net.py", "--input-shape", "2", "--torch-npu", "2.1.0.post17", "--cann", "9.1.0", "--json", "-").out
    )
    assert any("not documented for CANN 9.1.0" in warning for warning in found["warnings"])
    assert found["trace"]["approximate"]


def test_what_was_chosen_is_a_note(opscan: Opscan, folder: Path) -> None:
    (folder / "net.py").write_text(HEADER + "model = nn.Embedding(8, 4)\n")
    found = json.loads(opscan("net.py", "--input-shape", "1,3", "--json", "-").out)
    (note,) = found["notes"]
    assert "int64 was taken" in note["en"]
    assert "int64" in note["zh"]
    assert not any("int64" in warning for warning in found["warnings"])


def test_training(opscan: Opscan, folder: Path) -> None:
    (folder / "net.py").write_text(HEADER + "model = nn.Linear(8, 4)\n")
    found = result(opscan, "--train")
    assert {op["phase"] for op in found["ops"]} == {"forward", "backward", "optimizer"}
    assert found["model"]["parameters"] == 36
    optimizer = {"name": "adamw", "options": [], "clip_grad_norm": None}
    assert found["workload"] == {
        "train": True, "optimizer": optimizer, "amp": "off", "dynamic": [], "tracer": "auto",
    }  # fmt: skip
