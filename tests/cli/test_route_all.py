"""``opscan MODEL --route all`` as it is installed, and what it means for an ONNX file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from ended_commands import EXAMPLES, Opscan
from onnx_models import convolution

from opscan.assessment import Assessment, Cost, Gate, ModelInfo, PersonDays, RouteComparison, Summary, ToolInfo
from opscan.cli.scan_command import INCOMPLETE, _exit_code
from opscan.inventory import Attempt, Trace
from opscan.target import Target

TARGET = ("--torch-npu", "2.13.0", "--cann", "9.1.0", "--soc", "ascend910b")


@pytest.mark.install
def test_an_example_in_every_route(installed: Opscan, folder: Path) -> None:
    model = (str(EXAMPLES / "classifier.py"), "--input-shape", "1,3,32,32", "--engine", "virtual")
    ended = installed(*model, "--route", "all", "--json", "all.json", *TARGET)
    assert ended.code == 0, ended
    report = json.loads((folder / "all.json").read_text(encoding="utf-8"))
    assert report["target"]["route"] == "eager"
    routes = report["routes"]
    eager, graph, offline = routes["results"]
    assert eager["summary"] == report["summary"]
    assert graph["summary"]["unsupported"] == 0
    assert (offline["trace"]["tracer"], offline["trace"]["values"]) == ("onnx", "computed")
    assert offline["summary"]["supported"] == offline["summary"]["ops"]
    assert routes["recommended"] == "offline"
    assert "Recommended  offline" in ended.out
    convolutions = next(op for op in report["ops"] if op["name"] == "aten::convolution")
    assert convolutions["routes"] == {"eager": "supported", "graph": "supported", "offline": "supported"}
    assert 'id="routes"' in (folder / "opscan-report.html").read_text(encoding="utf-8")


def test_an_onnx_file_has_one_route(opscan: Opscan, folder: Path) -> None:
    (folder / "model.onnx").write_bytes(convolution().SerializeToString())
    ended = opscan("model.onnx", "--route", "all", *TARGET)
    assert ended.code == 0
    assert "offline" in ended.out.splitlines()[1]
    assert "An ONNX file has the offline route only" in ended.out


def test_a_model_that_is_not_there_is_one_error(installed: Opscan, folder: Path) -> None:
    ended = installed("missing.py", "--route", "all")
    assert ended.code == 2
    assert ended.err.count("opscan: error") == 1


def test_a_report_without_eager_mode_is_incomplete() -> None:
    alone = Assessment(
        1,
        ToolInfo("0"),
        ModelInfo("m.py", 0),
        Target("2.13.0", "9.1.0", "ascend910b", "offline"),
        Trace("onnx", "cpu", "2.13.0", False, True, attempts=(Attempt("onnx", True),)),
        (),
        (),
        Summary(0, 0, 0, 0, 0, 0, 0),
        Cost(PersonDays(0, 0, 0)),
        Gate(True, "unsupported"),
    )
    assert _exit_code(alone, strict=False) == 0
    beside = replace(alone, routes=RouteComparison((), "offline", ()))
    assert _exit_code(beside, strict=False) == INCOMPLETE
