"""Which engine runs a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from opscan import engine
from opscan.engine import Chosen, choose
from opscan.errors import OpscanError, UsageError
from opscan.probing.environment import RehearsalEnvironment
from opscan.target import Target
from opscan.worker.host import Engine, Worker

TARGET = Target("2.13.0", "9.1.0", "ascend310p")
THERE = RehearsalEnvironment(Path("/env/bin/python"), "2.13.0", "2.13.0", Path("/env/torch_npu"), managed=True)


def quiet(stage: str) -> None:
    """Progress that nobody sees."""


@pytest.fixture
def no_environment(monkeypatch):
    monkeypatch.setattr(engine, "find", lambda release: None)


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setattr(engine, "find", lambda release: THERE if release == "2.13.0" else None)
    monkeypatch.setattr(engine, "apis_of_later_releases", lambda roots, cann, soc: frozenset({f"of later than {cann}"}))
    monkeypatch.setattr(engine, "runtime_for", lambda package, *, lacking, progress: Path("/cache/runtime", *lacking))


@pytest.fixture
def no_compiler(environment, monkeypatch):
    def fail(package, *, lacking, progress):
        raise OpscanError("There is no C compiler.", "Install one.")

    monkeypatch.setattr(engine, "runtime_for", fail)


def test_the_virtual_device_on_request(environment):
    assert choose("virtual", TARGET, quiet) == Chosen(Engine())


def test_the_virtual_device_where_there_is_no_torch_npu(no_environment):
    assert choose("auto", TARGET, quiet) == Chosen(Engine())


def test_a_rehearsal_without_torch_npu_says_how_to_get_it(no_environment):
    with pytest.raises(UsageError) as raised:
        choose("rehearse", TARGET, quiet)
    assert "2.13.0" in raised.value.message
    assert "opscan rehearse --setup 2.13.0" in raised.value.hint


@pytest.mark.parametrize("asked", ["auto", "rehearse"])
def test_the_real_adapter_where_it_is(environment, asked, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/elsewhere")
    chosen = choose(asked, TARGET, quiet)
    assert chosen.refused == ""
    assert chosen.engine.name == "rehearse"
    assert chosen.engine.interpreter == "/env/bin/python"
    variables = chosen.engine.environment
    assert variables["LD_LIBRARY_PATH"] == "/cache/runtime/of later than 9.1.0:/elsewhere"
    assert variables["OPSCAN_SIMULATED_SOC"] == "Ascend310P3"
    assert variables["OPSCAN_SIMULATED_CANN"] == "9.1.0"


def test_another_release_is_not_taken_for_the_targets(environment):
    assert choose("auto", Target("2.6.0.post5", "8.5.0", "ascend910b"), quiet).engine.name == "virtual"


def test_without_a_compiler_the_virtual_device_and_why(no_compiler):
    chosen = choose("auto", TARGET, quiet)
    assert chosen.engine.name == "virtual"
    assert chosen.refused == "There is no C compiler."


def test_without_a_compiler_a_rehearsal_that_was_asked_for_fails(no_compiler):
    with pytest.raises(OpscanError, match="no C compiler"):
        choose("rehearse", TARGET, quiet)


def test_the_offline_route_is_exported_and_not_rehearsed(environment):
    offline = Target("2.13.0", "9.1.0", "ascend310p", "offline")
    assert choose("auto", offline, quiet).engine.tracer == "onnx"
    with pytest.raises(UsageError, match="cannot be rehearsed"):
        choose("rehearse", offline, quiet)


GRAPH = Target("2.13.0", "9.1.0", "ascend310p", "graph")


def test_the_graph_route_is_rehearsed_where_torch_npu_is_at_hand(environment):
    chosen = choose("auto", GRAPH, quiet).engine
    assert (chosen.name, chosen.tracer) == ("rehearse", "graph")
    assert chosen.environment["TORCHDYNAMO_DISABLE"] == "0"


def test_the_graph_route_is_captured_where_it_is_not_at_hand_or_not_wanted(environment, monkeypatch):
    captured = Engine(tracer="captured-graph")
    assert choose("virtual", GRAPH, quiet) == Chosen(captured)
    monkeypatch.setattr(engine, "find", lambda release: None)
    assert choose("auto", GRAPH, quiet) == Chosen(captured)
    with pytest.raises(UsageError, match="needs that release"):
        choose("rehearse", GRAPH, quiet)


def test_the_graph_route_is_captured_without_a_compiler(no_compiler):
    assert choose("auto", GRAPH, quiet) == Chosen(Engine(tracer="captured-graph"), "There is no C compiler.")


def test_a_real_cann_is_kept_out_of_a_rehearsal(environment, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", "/usr/local/Ascend/latest")
    chosen = choose("rehearse", TARGET, quiet).engine
    variables = Worker(chosen)._environment()
    assert "ASCEND_HOME_PATH" not in variables
    assert variables["OPSCAN_SIMULATED_SOC"] == "Ascend310P3"
    assert Worker()._environment()["ASCEND_HOME_PATH"] == "/usr/local/Ascend/latest"
