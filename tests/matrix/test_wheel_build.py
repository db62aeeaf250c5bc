"""Tables of a wheel that a user adds, and how registrations follow from a list of functions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from opscan.errors import OpscanError
from opscan.matrix.build import torchair, wheel_build
from opscan.matrix.build.torch_npu import changed_keys, nearest_before
from opscan.matrix.build.wheel import load_raw, read_wheel
from opscan.matrix.build.wheel_build import build_wheel
from opscan.matrix.build.wheel_members import Function
from opscan.matrix.build.writing import render, write
from opscan.matrix.files import (
    SCHEMA,
    CannRelease,
    Converter,
    OpEntry,
    RegistrationsFile,
    ReleasesFile,
    TorchairFile,
    TorchNpuRelease,
    load,
)
from opscan.matrix.schema import problems_of
from tests.matrix.wheels import make_wheel

NPU, BOTH = ("PrivateUse1",), ("acl_op", "op_api")

_OPS: Mapping[str, OpEntry] = {
    "aten::add.Tensor": OpEntry(("PrivateUse1", "CPU"), BOTH, ("aclnnAdd",)),
    "aten::add.out": OpEntry(("PrivateUse1", "CPU"), (), ("aclnnAdd",)),
    "aten::roll": OpEntry(("CPU",), (), ("aclnnRoll",), True),
    "aten::flip": OpEntry(("PrivateUse1", "AutogradPrivateUse1", "CPU"), BOTH, ("aclnnFlip",), True),
    "aten::matmul_backward": OpEntry(("CompositeImplicitAutograd",)),
}


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A packaged matrix with registrations of two releases."""
    root = tmp_path / "packaged"
    for release in ("2.6.0.post5", "2.7.1"):
        ops = dict(_OPS) if release == "2.6.0.post5" else {}
        file = RegistrationsFile(SCHEMA, release, release[:5], "7.3.0", (), ops)
        write(root / "torch_npu" / f"{release}.json", render(file, ("ops",)))
    releases = ReleasesFile(
        SCHEMA,
        (),
        ("2.6.0.post5", "2.7.1"),
        ("8.3.RC1", "8.5.0"),
        {"2.6.0.post5": TorchNpuRelease("2.6.0", True, ("8.5.0",)), "2.7.1": TorchNpuRelease("2.7.1", True)},
        {"8.3.RC1": CannRelease(), "8.5.0": CannRelease()},
    )
    write(root / "releases.json", render(releases, ("cann", "torch_npu")))
    monkeypatch.setattr(wheel_build, "support_matrix_dir", lambda: root)
    return root


def test_what_a_list_names_gains_the_key_and_what_it_drops_loses_it() -> None:
    functions = {
        "aten::add.Tensor": Function(BOTH),
        "aten::roll": Function(("acl_op",)),
        "npu::npu_new": Function(("op_api",), "AutogradPrivateUse1"),
        "npu::made": Function((), "CompositeExplicitAutograd"),
        "aten::int_repr": Function(BOTH, "QuantizedPrivateUse1"),
    }
    assert changed_keys(_OPS, functions) == {
        "aten::add.Tensor": ("PrivateUse1", "CPU"),
        "aten::add.out": ("PrivateUse1", "CPU"),
        "aten::roll": ("CPU", "PrivateUse1"),
        "aten::flip": ("CPU",),
        "aten::matmul_backward": ("CompositeImplicitAutograd",),
        "npu::npu_new": ("PrivateUse1", "AutogradPrivateUse1"),
        "npu::made": ("CompositeExplicitAutograd",),
        "aten::int_repr": ("QuantizedPrivateUse1",),
    }


@pytest.mark.parametrize(
    ("release", "nearest"),
    [("2.14.0", "2.10.0.post6"), ("2.10.0.post7", "2.10.0.post6"), ("2.9.1", "2.9.0.post9"), ("2.0.0", "2.1.0.post8")],
)
def test_the_nearest_release_before(release: str, nearest: str) -> None:
    assert nearest_before(release, ("2.10.0.post6", "2.9.0.post9", "2.1.0.post8")) == nearest


def test_a_users_own_release(tmp_path: Path, packaged: Path) -> None:
    said: list[str] = []
    mine = tmp_path / "mine"
    paths = build_wheel(str(make_wheel(tmp_path)), mine, said.append)
    assert [str(path.relative_to(mine)) for path in paths] == [
        "torch_npu/2.6.0.post9.json",
        "torchair/2.6.0.post9.json",
        "releases.json",
    ]
    file = load(mine / "torch_npu" / "2.6.0.post9.json", RegistrationsFile)
    assert (file.basis, file.torch, file.sources[0].table) == ("yaml", "2.6.0", "torch_npu/2.6.0.post5.json")
    assert file.ops["aten::add.Tensor"] == OpEntry(("PrivateUse1", "CPU"), BOTH, ("aclnnAdd",))
    assert file.ops["aten::roll"] == OpEntry(("CPU", "PrivateUse1"), ("acl_op",), ("aclnnRoll",), True)
    assert file.ops["aten::flip"] == OpEntry(("CPU",), (), ("aclnnFlip",))
    assert file.ops["npu::npu_rotate"] == OpEntry(NPU, ("op_api",))
    assert any("registrations of 2.6.0.post5" in text for text in said)
    for path, schema in zip(paths, ("torch_npu", "torchair", "releases"), strict=True):
        assert list(problems_of(path, schema)) == []


def test_the_overlay_holds_the_users_releases_alone(tmp_path: Path, packaged: Path) -> None:
    mine = tmp_path / "mine"
    for version in ("2.6.0.post9", "2.6.0.post5"):
        build_wheel(str(make_wheel(tmp_path, version)), mine)
    releases = load(mine / "releases.json", ReleasesFile)
    assert releases.torch_npu_order == ("2.6.0.post5", "2.6.0.post9")
    assert releases.torch_npu["2.6.0.post9"] == TorchNpuRelease("2.6.0", True, ("8.5.0",))
    assert releases.cann == {}


def test_a_release_without_documents_names_one_that_stands_in(tmp_path: Path, packaged: Path) -> None:
    text = "Name: torch_npu\nVersion: 2.6.0.post9\n\n"
    wheel = make_wheel(tmp_path, change={"torch_npu-2.6.0.post9.dist-info/METADATA": text})
    build_wheel(str(wheel), tmp_path / "mine")
    entry = load(tmp_path / "mine" / "releases.json", ReleasesFile).torch_npu["2.6.0.post9"]
    assert (entry.cann, entry.like) == ((), "2.6.0.post5")


def test_in_a_checkout_the_sources_are_added_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources").mkdir()
    monkeypatch.setattr(wheel_build, "_rebuild", lambda root: [root / "torch_npu" / "2.6.0.post9.json"])
    paths = build_wheel(str(make_wheel(tmp_path)), tmp_path)
    assert [path.name for path in paths] == ["2.6.0.post9.json.gz", "2.6.0.post9.json"]
    assert load_raw(tmp_path, "2.6.0.post9").release == "2.6.0.post9"


def test_a_release_by_name_says_for_which_python_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources").mkdir()
    wheel = read_wheel(str(make_wheel(tmp_path)))
    published = {"3.9": ("2.6.0.post9",), "3.11": ("2.7.1", "2.6.0.post9")}
    monkeypatch.setattr(wheel_build, "read_wheel", lambda spec, progress: wheel)
    monkeypatch.setattr(wheel_build, "published_for", lambda python: published.get(python, ()))
    monkeypatch.setattr(wheel_build, "_rebuild", lambda root: [])
    build_wheel("2.6.0.post9", tmp_path)
    assert load_raw(tmp_path, "2.6.0.post9").python == ("3.9", "3.11")


def test_nothing_is_written_for_a_mistaken_wheel(tmp_path: Path, packaged: Path) -> None:
    wheel = make_wheel(tmp_path, leave_out="by_codegen")
    with pytest.raises(OpscanError):
        build_wheel(str(wheel), tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_a_version_that_is_none(tmp_path: Path, packaged: Path) -> None:
    change = {"torch_npu-2.6.0.post9.dist-info/METADATA": "Name: torch_npu\nVersion: ../../x\n\n"}
    with pytest.raises(OpscanError, match="names no version"):
        build_wheel(str(make_wheel(tmp_path, change=change)), tmp_path / "mine")


def test_converters_of_known_overloads(tmp_path: Path) -> None:
    file = torchair.converters(read_wheel(str(make_wheel(tmp_path))), {"aten::add.Tensor", "aten::matmul_backward"})
    add = Converter(
        "implemented",
        ("Add", "Cast"),
        (("float32",), ("float32", "float32"), ("float32", "int64", "int64")),
        "aten/add.py",
    )
    assert file == TorchairFile(
        SCHEMA,
        "2.6.0.post9",
        file.sources,
        {
            "aten::add.Tensor": add,
            "aten::matmul_backward": Converter("decomposed", source="torchair"),
            "npu_define::allgather": Converter("decomposed", source="torchair"),
        },
        True,
    )
