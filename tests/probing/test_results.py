from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opscan.probing import results
from opscan.probing.protocol import Errors, Outcome, Versions
from opscan.probing.results import ResultsError, ResultStore, clear_results, kept_results, read_results
from opscan.probing.signature import Signature, TensorArgument

VERSIONS = Versions("2.13.0", "2.13.0", "9.1.0", "Ascend910B3")
ADD = Signature("aten::add.Tensor", (TensorArgument("self", "float32", (2, 3)),), (("alpha", "1"),))
MUL = Signature("aten::mul.Tensor", (TensorArgument("self", "float32", (2, 3)),))


def outcome(status: str = "native", **more: object) -> Outcome:
    return Outcome(status, versions=VERSIONS, **more)  # type: ignore[arg-type]


def test_what_was_put_is_there_for_the_next_probe(tmp_path: Path) -> None:
    first = ResultStore.open(VERSIONS, folder=tmp_path)
    assert first.get(ADD) is None
    found = outcome(errors=Errors(1e-7, 2e-7, 1.0), kernels=("aclnnAdd",))
    first.put(ADD, found)
    assert first.get(ADD) == found
    assert ResultStore.open(VERSIONS, folder=tmp_path).get(ADD) == found


@pytest.mark.parametrize("changes", [("torch_npu", "2.6.0"), ("cann", "8.5.0"), ("soc", "Ascend310P3")])
def test_another_release_or_chip_has_a_file_of_its_own(tmp_path: Path, changes: tuple[str, str]) -> None:
    ResultStore.open(VERSIONS, folder=tmp_path).put(ADD, outcome())
    other = Versions(
        **{"torch": "2.13.0", "torch_npu": "2.13.0", "cann": "9.1.0", "soc": "Ascend910B3", **dict([changes])}
    )
    assert ResultStore.open(other, folder=tmp_path).get(ADD) is None


@pytest.mark.parametrize("status", ["timeout", "out_of_memory", "device_lost", "not_run"])
def test_what_may_be_otherwise_another_time_is_tried_again(tmp_path: Path, status: str) -> None:
    store = ResultStore.open(VERSIONS, folder=tmp_path)
    store.put(ADD, outcome(status))
    assert store.get(ADD) is None


def test_fresh_knows_nothing_and_replaces_what_was_there(tmp_path: Path) -> None:
    ResultStore.open(VERSIONS, folder=tmp_path).put(ADD, outcome("refused"))
    fresh = ResultStore.open(VERSIONS, fresh=True, folder=tmp_path)
    assert fresh.get(ADD) is None
    fresh.put(ADD, outcome("native"))
    again = ResultStore.open(VERSIONS, folder=tmp_path).get(ADD)
    assert again is not None
    assert again.status == "native"


def test_a_simulated_device_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="measures nothing"):
        ResultStore.open(Versions("2.13.0", "2.13.0", "9.1.0", "Ascend910B3", simulated=True), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_line_broken_off_costs_that_line_alone(tmp_path: Path) -> None:
    store = ResultStore.open(VERSIONS, folder=tmp_path)
    store.put(ADD, outcome())
    store.path.write_bytes(store.path.read_bytes() + b'{"method":1,"time":"2026-01')
    store.put(MUL, outcome("fallback"))
    found, damaged = read_results(store.path)
    assert [(r.signature, r.outcome.status) for r in found] == [(ADD, "native"), (MUL, "fallback")]
    assert damaged == 1


def test_results_of_another_method_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ResultStore.open(VERSIONS, folder=tmp_path).put(ADD, outcome())
    monkeypatch.setattr(results, "METHOD", results.METHOD + 1)
    assert ResultStore.open(VERSIONS, folder=tmp_path).get(ADD) is None


def test_files_are_listed_and_cleared(tmp_path: Path) -> None:
    store = ResultStore.open(VERSIONS, folder=tmp_path)
    store.put(ADD, outcome())
    store.put(MUL, outcome("wrong"))
    (kept,) = kept_results(tmp_path)
    assert (kept.versions, kept.counts, kept.damaged) == (VERSIONS, {"native": 1, "wrong": 1}, 0)
    assert clear_results(tmp_path) == 1
    assert kept_results(tmp_path) == ()


WRITER = """
import sys
from pathlib import Path
from opscan.probing.protocol import Outcome, Versions
from opscan.probing.results import ResultStore
from opscan.probing.signature import Signature
versions = Versions("2.13.0", "2.13.0", "9.1.0", "Ascend910B3")
store = ResultStore.open(versions, folder=Path(sys.argv[1]))
for number in range(50):
    store.put(Signature(f"own::op{sys.argv[2]}_{number}"), Outcome("native", message="x" * 5000, versions=versions))
"""


def test_several_probes_write_at_once(tmp_path: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(n)]) for n in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    found, damaged = read_results(ResultStore.open(VERSIONS, folder=tmp_path).path)
    assert (len(found), damaged) == (150, 0)


def test_a_folder_that_cannot_be_written_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = ResultStore.open(VERSIONS, folder=tmp_path / "file")
    with pytest.raises(ResultsError, match=str(tmp_path)):
        store.put(ADD, outcome())
