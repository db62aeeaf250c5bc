"""Which releases belong together."""

from __future__ import annotations

import pytest

from opscan.matrix.build.releases import _cann_release, _documented, python_versions
from opscan.matrix.build.torchair import qualified_name
from opscan.matrix.build.wheel import RawWheel
from opscan.matrix.build.wheel_converters import RawTorchair
from opscan.matrix.build.wheel_members import Metadata, VersionRow
from opscan.matrix.files import TorchNpuRelease

_ROW = {
    "cann": "8.5.0",
    "torch": "2.6.0",
    "torch_npu_wheel": "2.6.0.post5",
    "python": "3.9-3.11",
    "driver_hdk": "25.5.1",
    "cann_compatible": "8.5.0 8.1.RC1 (26.1 notes also: 9.0.X)",
}


def _wheel(metadata: Metadata, *python: str) -> RawWheel:
    return RawWheel("x.whl", "", metadata, {}, RawTorchair(), python)


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("3.9-3.11", ("3.9", "3.10", "3.11")),
        ("Python3.9, Python3.10, Python 3.13", ("3.9", "3.10", "3.13")),
        ("Python3.7(>=3.7.5), Python3.8", ("3.7", "3.8")),
        ("", ()),
    ],
)
def test_python_versions(text: str, versions: tuple[str, ...]) -> None:
    assert python_versions(text) == versions


def test_documents_are_merged_and_published_pythons_win() -> None:
    wheels = {"2.6.0.post5": _wheel(Metadata("2.6.0.post5", "2.6.0"), "3.9", "3.12")}
    assert _documented([_ROW], wheels, frozenset({"8.5.0"})) == {
        "2.6.0.post5": TorchNpuRelease(
            "2.6.0", True, ("8.5.0",), ("8.1.RC1", "8.5.0", "9.0.X"), ("3.9", "3.12"), ("25.5.1",)
        )
    }


def test_a_wheels_own_metadata_documents_it_but_for_releases_that_cann_does_not_have() -> None:
    rows = (VersionRow("26.0.0", "2.9.1", "2.9.1", "v2.9.1"), VersionRow("8.5.0", "2.9.0", "2.9.0", "v2.9.0"))
    wheels = {
        "2.9.1": _wheel(Metadata("2.9.1", "2.9.1", rows=rows)),
        "2.14.0": _wheel(Metadata("2.14.0", "2.14.0", cann="9.1.0")),
    }
    found = _documented([], wheels, frozenset({"8.5.0", "9.1.0"}))
    assert {release: entry.cann for release, entry in found.items()} == {"2.9.1": (), "2.14.0": ("9.1.0",)}


def test_cann_releases_without_tables_are_answered_by_their_neighbours() -> None:
    assert _cann_release("8.0.0").nearest == ("8.1.RC1",)
    assert _cann_release("8.3.RC1").nearest == ("8.1.RC1", "8.5.0")
    assert _cann_release("9.0.0").nearest == ()
    assert "ascend910b" in _cann_release("9.2.0-beta.1").socs
    assert _cann_release("7.0.0").nearest == ()


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("aten.add.Tensor", "aten::add.Tensor"),
        ("aten.addmm.default", "aten::addmm"),
        ("higher_order.run_with_rng_state", "higher_order::run_with_rng_state"),
    ],
)
def test_names_of_converted_operators(op: str, name: str) -> None:
    assert qualified_name(op) == name
