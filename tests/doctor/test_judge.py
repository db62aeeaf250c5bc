from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_machine import device, facts

from opscan.doctor.checks.interface import Check, Status
from opscan.doctor.checks.matching import declared, older, within
from opscan.doctor.facts import Facts, NpuSmi, Package, Rehearsal, Toolkit
from opscan.doctor.judge import judge


def lines(found: Facts, subject: str) -> list[Check]:
    return [check for check in judge(found) if check.subject == subject]


def line(found: Facts, subject: str) -> Check:
    (only,) = lines(found, subject)
    return only


def problems(found: Facts) -> list[str]:
    return [check.subject for check in judge(found) if check.status == "problem"]


@dataclass(frozen=True)
class Case:
    """What is different from a machine on which everything fits; the line, and words in it and in what to do next."""

    change: dict[str, object]
    subject: str
    status: Status
    says: str
    next: str = ""


def toolkit(release: str = "8.5.0", **more: object) -> Toolkit:
    values: dict[str, object] = {"named_by": "ASCEND_HOME_PATH", "kernels": ("ascend910b",), **more}
    return Toolkit("/cann", release, **values)  # type: ignore[arg-type]


CASES = [
    Case({}, "python", "ok", "3.11.7"),
    Case({"python": "3.13.1"}, "python", "problem", "made for Python 3.9, 3.10, 3.11, 3.12", "Use Python 3.12"),
    Case({}, "torch", "ok", "2.6.0 (cpu)"),
    Case({"torch": None}, "torch", "problem", "not installed", "pip install torch==2.6.0"),
    Case({"torch": None, "torch_npu": None}, "torch", "missing", "not installed", "pip install torch`"),
    Case({}, "torch_npu", "ok", "2.6.0.post5"),
    Case({"torch": "2.7.1+cpu"}, "torch_npu", "problem", "pairs with torch 2.6.0 exactly", "torch_npu 2.7.1.post"),
    Case({"torch_npu": "2.6.0.post99"}, "torch_npu", "warning", "does not know the release", "newer opscan"),
    Case({"torch_npu": "0+unknown", "torch": "2.6.0"}, "torch_npu", "problem", "no pair", "torch_npu 2.6.0.post5"),
    Case({"torch_npu": "9.9.9"}, "torch_npu", "problem", "pairs with torch 9.9.9 exactly", "torch==9.9.9"),
    Case({"torch_npu": None}, "torch_npu", "missing", "not installed", "pip install torch_npu==2.6.0.post5`"),
    Case({"torch_npu": None, "torch": "1.0.0"}, "torch_npu", "missing", "not installed", "no torch_npu for this torch"),
    Case({}, "cann", "ok", "8.5.0 (/cann)"),
    Case({"toolkits": (toolkit("9.1.0"),)}, "cann", "ok", "9.1.0"),
    Case({"toolkits": (toolkit("7.0.0"),)}, "cann", "problem", "name CANN 8.5.0", "Install CANN 8.5.0"),
    Case({"toolkits": (toolkit("6.3.RC2.alpha001"),)}, "cann", "problem", "name CANN 8.5.0"),
    Case({"toolkits": (toolkit("8.3.RC2"),)}, "cann", "warning", "name CANN 8.5.0"),
    Case({"toolkits": (toolkit("11.0.0"),)}, "cann", "warning", "name CANN 8.5.0"),
    Case({"toolkits": (toolkit(""),)}, "cann", "warning", "no file tells its release"),
    Case({"cann": None}, "cann", "missing", "not installed", "install CANN 8.5.0"),
    Case(
        {"cann": None, "variables": {"ASCEND_HOME_PATH": "/nowhere"}},
        "cann",
        "problem",
        "ASCEND_HOME_PATH is /nowhere",
        "unset ASCEND_HOME_PATH",
    ),
    Case({"toolkits": (toolkit(unreadable=("/cann/x.info",)),)}, "cann_files", "warning", "/cann/x.info"),
    Case({}, "kernels", "ok", "ascend910b"),
    Case({"toolkits": (toolkit(kernels=("ascend310p",)),)}, "kernels", "problem", "none for ascend910b", "CANN 8.5.0"),
    Case({"toolkits": (toolkit(kernels=()),), "devices": ()}, "kernels", "missing", "none for any chip"),
    Case({"toolkits": (toolkit(ops="9.0.0"),)}, "kernels", "problem", "9.0.0 lies in CANN 8.5.0", "package 8.5.0"),
    Case({}, "driver", "ok", "25.5.1"),
    Case({"driver": Package("26.1.0")}, "driver", "ok", "26.1.0"),
    Case({"driver": Package("24.1.rc2.2")}, "driver", "warning", "older than 25.5.1", "25.5.1 or newer"),
    Case({"driver": Package("nightly")}, "driver", "ok", "nightly"),
    Case({"driver": Package()}, "driver", "warning", "cannot be read"),
    Case({"driver": None}, "driver", "ok", "25.5.1"),
    Case({"driver": None, "npu_smi": NpuSmi("absent")}, "driver", "missing", "not installed", "25.5.1 or newer"),
    Case(
        {"driver": None, "npu_smi": NpuSmi("absent"), "pci": 8}, "driver", "missing", "8 Ascend accelerators", "restart"
    ),
    Case({"driver": None, "npu_smi": NpuSmi("absent"), "nodes": 2}, "driver", "missing", "not visible", "container"),
    Case({"firmware": Package(version="7.8.0.6.201")}, "firmware", "ok", "7.8.0.6.201"),
    Case(
        {"driver": Package("25.5.1", firmware=(("7.0.0", "7.7.99"),)), "firmware": Package(version="7.8.0.6.201")},
        "firmware",
        "problem",
        "works with 7.0.0–7.7.99",
        "restart",
    ),
    Case(
        {"devices": (device(0, firmware="7.8", compatibility="NOK"),)}, "firmware", "problem", "does not fit", "restart"
    ),
    Case({"devices": (device(0, firmware="7.8"), device(1, firmware="7.7"))}, "firmware", "warning", "7.7, 7.8"),
    Case({}, "devices", "ok", "2 × Ascend910B3 (ascend910b)"),
    Case({"devices": (device(0, health="Alarm"),)}, "devices", "warning", "0.0 Alarm"),
    Case({"devices": (device(0, "Ascend777", ""),)}, "devices", "warning", "not in the matrix: Ascend777", "--soc"),
    Case({"devices": (), "npu_smi": NpuSmi("silent")}, "devices", "problem", "does not answer", "dmesg"),
    Case(
        {"devices": (), "npu_smi": NpuSmi("failed", said="-8005")}, "devices", "problem", "fails: -8005", "HwHiAiUser"
    ),
    Case({"devices": (), "npu_smi": NpuSmi("garbled", said="hm")}, "devices", "warning", "without a table"),
    Case({"devices": (), "npu_smi": NpuSmi("absent")}, "devices", "missing", "no NPU", "need none"),
    Case({"devices": (), "npu_smi": NpuSmi("absent"), "nodes": 1}, "devices", "missing", "1 in /dev"),
    Case({"rehearsals": (Rehearsal("2.13.0", "2.13.0", "/p", True),)}, "rehearsal", "ok", "2.13.0 (managed)"),
    Case({}, "rehearsal", "missing", "no environment", "opscan rehearse --setup 2.6.0.post5"),
    Case({}, "compiler", "ok", "/usr/bin/cc"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.subject}-{case.status}-{case.says[:20]}")
def test_lines(case: Case) -> None:
    check = line(facts(**case.change), case.subject)  # type: ignore[arg-type]
    assert check.status == case.status
    assert case.says in check.says.en
    if case.next:
        assert check.next is not None
        assert case.next in check.next.en


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.subject}-{case.status}-{case.says[:20]}")
def test_every_sentence_is_in_both_languages(case: Case) -> None:
    for check in judge(facts(**case.change)):  # type: ignore[arg-type]
        for text in (check.says, check.next):
            if text is not None and text.en != text.zh:
                assert any("\u4e00" <= char <= "\u9fff" for char in text.zh), text


def test_a_machine_on_which_everything_fits_has_no_problem() -> None:
    assert problems(facts()) == []


def test_a_machine_with_nothing_but_torch_has_no_problem() -> None:
    bare = facts(torch_npu=None, cann=None, devices=(), driver=None, npu_smi=NpuSmi("absent"))
    assert problems(bare) == []


def test_every_pair_that_does_not_fit_is_named() -> None:
    broken = facts(
        python="3.13.1",
        torch="2.7.1",
        toolkits=(toolkit("7.0.0", kernels=("ascend310p",)),),
        devices=(device(0, compatibility="NOK"),),
    )
    assert problems(broken) == ["python", "torch_npu", "cann", "kernels", "firmware"]


def test_the_adapter_that_is_offered_fits_the_installed_cann() -> None:
    found = facts(torch_npu=None, cann="8.2.RC1")
    assert "torch_npu==2.6.0.post5`" in line(found, "torch_npu").next.en  # type: ignore[union-attr]
    found = facts(torch_npu=None, cann="8.0.RC2")
    assert "torch_npu==2.6.0.post3`" in line(found, "torch_npu").next.en  # type: ignore[union-attr]


def test_an_adapter_that_does_not_know_the_chip() -> None:
    old = facts(torch_npu="2.1.0.post8", torch="2.1.0", devices=(device(0, "Ascend950PR_9579", "ascend950pr"),))
    assert "does not know ascend950pr" in line(old, "soc").says.en


class TestAutoload:
    """torch 2.5 and later load an installed torch_npu, which does not load without CANN."""

    def test_breaks_torch_without_cann(self) -> None:
        assert "TORCH_DEVICE_BACKEND_AUTOLOAD=0" in line(facts(cann=None), "autoload").next.en  # type: ignore[union-attr]
        assert problems(facts(cann=None)) == ["autoload"]

    def test_can_be_turned_off(self) -> None:
        quiet = facts(cann=None, variables={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
        assert line(quiet, "autoload").status == "ok"

    def test_does_not_matter_with_cann_or_an_older_torch(self) -> None:
        assert lines(facts(), "autoload") == []
        assert lines(facts(cann=None, torch="2.4.0", torch_npu="2.4.0"), "autoload") == []


class TestVariables:
    @pytest.fixture
    def cann(self, tmp_path: Path) -> Path:
        (tmp_path / "cann/lib64").mkdir(parents=True)
        (tmp_path / "cann/opp").mkdir()
        (tmp_path / "cann/set_env.sh").touch()
        return tmp_path / "cann"

    def complaints(
        self, cann: Path, named_by: str = "ASCEND_HOME_PATH", **variables: str
    ) -> list[tuple[Status, str, str]]:
        own = Toolkit(str(cann), "8.5.0", named_by=named_by, kernels=("ascend910b",))
        usual = {"ASCEND_HOME_PATH": str(cann), "LD_LIBRARY_PATH": f"/x:{cann}/lib64"} if named_by else {}
        found = lines(facts(toolkits=(own,), variables={**usual, **variables}), "variables")
        return [(c.status, c.says.en, c.next.en) for c in found if c.next is not None]

    def test_a_sourced_toolkit_has_none(self, cann: Path) -> None:
        assert self.complaints(cann, ASCEND_OPP_PATH=f"{cann}/opp", TASK_QUEUE_ENABLE="2") == []

    def test_one_that_is_not_sourced(self, cann: Path) -> None:
        ((status, says, step),) = self.complaints(cann, named_by="")
        assert (status, step) == ("warning", f"Run `source {cann}/set_env.sh`.")
        assert "not been sourced" in says

    def test_libraries_that_are_not_on_the_path(self, cann: Path) -> None:
        ((status, says, _),) = self.complaints(cann, LD_LIBRARY_PATH="/elsewhere")
        assert status == "warning"
        assert says == f"LD_LIBRARY_PATH does not hold the libraries of {cann}."

    def test_a_variable_that_leads_nowhere(self, cann: Path) -> None:
        ((status, says, _),) = self.complaints(cann, named_by="", ASCEND_HOME_PATH="/nowhere")
        assert status == "problem"
        assert "where there is no CANN" in says

    @pytest.mark.parametrize(
        ("name", "value", "status", "says"),
        [
            ("ASCEND_OPP_PATH", "/nowhere/opp", "problem", "no such folder"),
            ("ASCEND_OPP_PATH", "/usr", "problem", "two CANN releases are mixed"),
            ("ASCEND_TOOLKIT_HOME", "/usr", "warning", "and ASCEND_HOME_PATH is"),
            ("ASCEND_LAUNCH_BLOCKING", "1", "warning", "for debugging"),
            ("TASK_QUEUE_ENABLE", "0", "warning", "queue of launches is off"),
            ("TASK_QUEUE_ENABLE", "yes", "warning", "is 'yes'"),
            ("PYTORCH_NO_NPU_MEMORY_CACHING", "1", "warning", "not kept"),
            ("ASCEND_GLOBAL_LOG_LEVEL", "0", "warning", "logs everything"),
            ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments=True", "problem", "expects key:value"),
            ("ASCEND_RT_VISIBLE_DEVICES", "0,5", "problem", "names 5, and there are 2 devices"),
            ("ASCEND_RT_VISIBLE_DEVICES", "0-1", "problem", "no list of numbers"),
            ("ASCEND_RT_VISIBLE_DEVICES", "", "warning", "no device can be seen"),
        ],
    )
    def test_values(self, cann: Path, name: str, value: str, status: Status, says: str) -> None:
        ((found, words, _),) = self.complaints(cann, **{name: value})
        assert found == status
        assert says in words

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True,max_split_size_mb:256"),
            ("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True, max_split_size_mb:256"),
            ("PYTORCH_NPU_ALLOC_CONF", ""),
            ("ASCEND_RT_VISIBLE_DEVICES", "0, 1"),
            ("ASCEND_LAUNCH_BLOCKING", "0"),
        ],
    )
    def test_values_that_are_fine(self, cann: Path, name: str, value: str) -> None:
        assert self.complaints(cann, **{name: value}) == []


class TestDeclared:
    """Driver and CANN name the lines that they work with."""

    def cann(self, inner: str, *compatible: str) -> Toolkit:
        return Toolkit("/cann", "8.2.RC1", inner=inner, compatible=compatible)

    @pytest.mark.parametrize(
        ("toolkit", "driver", "fits"),
        [
            (("V100R001C22SPC001B231", "V100R001C18"), ("V100R001C18SPC001", ()), True),
            (("V100R001C22SPC001B231",), ("V100R001C25", ("V100R001C22",)), True),
            (("V100R001C22SPC001B231", "V100R001C21"), ("V100R001C15", ("V100R001C13",)), False),
            (("V100R001C22", "V100R001C21SPC001"), ("V100R001C21", ()), True),
            (("",), ("V100R001C15", ("V100R001C13",)), None),
            (("V100R001C22",), ("V100R001C15", ()), None),
        ],
    )
    def test_pairs(self, toolkit: tuple[str, ...], driver: tuple[str, tuple[str, ...]], fits: bool | None) -> None:
        assert declared(self.cann(*toolkit), Package("1", inner=driver[0], compatible=driver[1])) is fits

    def test_an_old_driver_that_nothing_vouches_for_is_a_problem(self) -> None:
        own = toolkit(inner="V100R001C25B1", compatible=("V100R001C21",))
        old = Package("23.0.3", inner="V100R001C13", compatible=("V100R001C13",))
        assert line(facts(toolkits=(own,), driver=old), "driver").status == "problem"

    def test_an_old_one_that_cann_names_is_a_warning(self) -> None:
        own = toolkit(inner="V100R001C25B1", compatible=("V100R001C21",))
        old = Package("25.0.rc1", inner="V100R001C21", compatible=("V100R001C21",))
        check = line(facts(toolkits=(own,), driver=old), "driver")
        assert check.status == "warning"
        assert "say that they fit" in check.says.en

    def test_a_new_one_that_nothing_vouches_for_is_a_warning(self) -> None:
        own = toolkit(inner="V100R001C25B1", compatible=("V100R001C21",))
        new = Package("26.1.0", inner="V100R001C30", compatible=("V100R001C29",))
        assert "neither it nor CANN" in line(facts(toolkits=(own,), driver=new), "driver").says.en


@pytest.mark.parametrize(
    ("one", "other", "is_older"),
    [
        ("25.0.rc1", "25.0.0", True),
        ("25.0.RC1", "25.0.rc1.1", True),
        ("25.5.1", "25.5.1", False),
        ("26.0.RC1", "25.5.1", False),
        ("24.1.0.3", "25.5.1", True),
        ("nightly", "25.5.1", None),
    ],
)
def test_the_order_of_drivers(one: str, other: str, is_older: bool | None) -> None:
    assert older(one, other) is is_older


@pytest.mark.parametrize(
    ("version", "inside"),
    [
        ("7.7.0.1.231", True),
        ("7.7.99", True),
        ("7.8.0.6.201", False),
        ("6.4.12.1.241", True),
        ("6.3.9", False),
        ("7.0.0", True),
        ("unknown", None),
    ],
)
def test_ranges_of_firmware(version: str, inside: bool | None) -> None:
    assert within(version, (("6.4.0", "6.4.99"), ("7.0.0", "7.7.99"))) is inside
    assert within(version, ()) is None
