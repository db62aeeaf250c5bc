"""Measurements in a scan: when they are made, what they hold for, and how they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from opscan import measure as module
from opscan.inventory import OpCall, TensorSpec
from opscan.measure import Measurements, measure
from opscan.probing.fake_device import ENVIRONMENT, Fault, Faults
from opscan.probing.probe import BACKEND, NoNpu
from opscan.probing.protocol import Versions
from opscan.probing.signature import signature_of
from opscan.target import Target

TARGET = Target("2.13.0", "9.1.0", "ascend910b")
HERE = Versions("2.13.0", "2.13.0", "9.1.0", "Ascend910B3")


def unary(name: str) -> OpCall:
    spec = TensorSpec("float32", (2, 3))
    return OpCall(f"aten::{name}", "forward", (spec,), (spec,), parameters=("self",))


RELU, LGAMMA, EXP = unary("relu"), unary("lgamma"), unary("exp")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A device in the place of an NPU, with faults by call."""

    def plan(faults: dict[OpCall, Fault], versions: Versions = HERE, starts: dict[str, str] | None = None) -> None:
        calls = {signature_of(call).key: fault for call, fault in faults.items()}
        path = tmp_path / "faults.json"
        path.write_bytes(msgspec.json.encode(Faults(str(tmp_path / "state"), calls, starts or {}, versions)))
        monkeypatch.setenv(BACKEND, "fake")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv(ENVIRONMENT, str(path))

    return plan


def quiet(stage: str) -> None:
    pass


def test_without_an_npu_auto_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BACKEND, raising=False)
    monkeypatch.setattr(module, "at_hand", lambda: False)
    monkeypatch.setattr(module, "reach", lambda npus: pytest.fail("nothing is started"))
    assert measure([RELU], "auto", TARGET, quiet) == Measurements()
    assert measure([RELU], "off", TARGET, quiet) == Measurements()
    assert measure([RELU], "require", Target("2.13.0", "9.1.0", "ascend910b", "graph"), quiet) == Measurements()


def test_every_signature_has_a_verdict_with_its_evidence(fake: Callable[..., None]) -> None:
    fake({LGAMMA: Fault("wrong"), EXP: Fault("refused")})
    found = measure([RELU, LGAMMA, EXP, RELU], "auto", TARGET, quiet)
    verdicts = {key: (each.verdict, each.rule) for key, each in found.by_key.items()}
    assert verdicts == {
        signature_of(RELU).key: ("supported", None),
        signature_of(LGAMMA).key: ("unsupported", "OPS109"),
        signature_of(EXP).key: ("unsupported", "OPS106"),
    }
    assert found.by_key[signature_of(RELU).key].evidence.source == "CANN 9.1.0 on Ascend910B3"
    assert (found.failure, found.notes) == ("", ())


@pytest.mark.parametrize(
    ("versions", "says"),
    [
        (Versions("2.13.0", "2.13.0", "9.1.0", "Ascend310P3"), "Ascend310P3; the target is torch_npu 2.13.0"),
        (Versions("2.13.0", "2.13.0", "8.5.0", "Ascend910B3"), "CANN 8.5.0, Ascend910B3; the target is"),
        (Versions("2.6.0", "2.6.0.post5", "9.1.0", "Ascend910B3"), "2.6.0.post5"),
        (Versions("2.13.0", "2.13.0", "9.1.0", "a chip of tomorrow"), "a chip of tomorrow"),
        (Versions("2.13.0", "2.13.0", "9.1.0", "Ascend910B3", simulated=True), "simulated"),
    ],
)
def test_a_device_that_is_not_the_target_says_nothing_of_it(
    fake: Callable[..., None], monkeypatch: pytest.MonkeyPatch, versions: Versions, says: str
) -> None:
    fake({}, versions)
    monkeypatch.setattr("opscan.probing.probe.greet", lambda *arguments: versions)
    found = measure([RELU], "auto", TARGET, quiet)
    assert (dict(found.by_key), found.failure) == ({}, "")
    (note,) = found.notes
    assert note.en.startswith("Nothing was measured: ")
    assert says in note.en
    with pytest.raises(NoNpu, match=r"the NPU here is not the target|simulated"):
        measure([RELU], "require", TARGET, quiet)


def test_devices_that_die_leave_what_was_found_and_say_so(fake: Callable[..., None]) -> None:
    fake({LGAMMA: Fault("segfault")}, starts={"2": "unable", "3": "unable", "4": "unable"})
    found = measure([RELU, LGAMMA, EXP], "require", TARGET, quiet)
    assert set(found.by_key) == {signature_of(RELU).key}
    assert found.failure == "1 of 3 signatures were measured; device 0: the fake device is not there"
    assert found.notes[0].en == f"The probe is incomplete: {found.failure}"


def test_an_interrupted_probe_ends_the_scan(fake: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    fake({})
    monkeypatch.setattr("opscan.probing.probe.greet", lambda *arguments: HERE)
    from opscan.probing.probe import Tried

    monkeypatch.setattr("opscan.probing.probe.try_all", lambda *arguments: Tried((), (), False, True))
    with pytest.raises(KeyboardInterrupt):
        measure([RELU], "auto", TARGET, quiet)
