"""What is read from a wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from opscan.errors import MatrixError, OpscanError, UsageError
from opscan.matrix.build.wheel import load_raw, raw_path, read_wheel, save_raw
from opscan.matrix.build.wheel_members import Function, VersionRow, read_functions
from tests.matrix.wheels import FUNCTIONS, make_wheel


def test_functions_of_every_section(tmp_path: Path) -> None:
    wheel = read_wheel(str(make_wheel(tmp_path)))
    assert wheel.operators() == {
        "npu::empty_with_format": Function(key="CompositeExplicitAutograd"),
        "npu::npu_rotate": Function(("op_api",)),
        "aten::int_repr": Function(("acl_op", "op_api"), "QuantizedPrivateUse1"),
        "aten::as_strided": Function(),
        "aten::copy_": Function(("acl_op", "op_api")),
        "aten::_coalesce": Function(key="SparsePrivateUse1"),
        "aten::add.Tensor": Function(("acl_op", "op_api", "dvm")),
        "aten::roll": Function(("acl_op",)),
    }


def test_metadata_names_the_releases_that_belong_together(tmp_path: Path) -> None:
    metadata = read_wheel(str(make_wheel(tmp_path))).metadata
    assert (metadata.version, metadata.torch, metadata.branch) == ("2.6.0.post9", "2.6.0", "v2.6.0-7.3.0")
    assert metadata.rows == (
        VersionRow("8.5.0", "2.6.0", "2.6.0.post9", "v2.6.0-7.3.0"),
        VersionRow("8.5.0", "2.1.0", "2.1.0.post17", "v2.1.0-7.3.0"),
    )


def test_metadata_may_only_name_the_cann_release_to_install(tmp_path: Path) -> None:
    text = "Name: torch_npu\nVersion: 2.14.0\nRequires-Dist: torch==2.14.0.*\n\nInstall CANN 9.1.0 and the driver.\n"
    path = make_wheel(tmp_path, change={"torch_npu-2.6.0.post9.dist-info/METADATA": text})
    metadata = read_wheel(str(path)).metadata
    assert (metadata.version, metadata.torch, metadata.cann, metadata.rows) == ("2.14.0", "2.14.0", "9.1.0", ())


def test_the_raw_table_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    wheel = read_wheel(str(make_wheel(tmp_path)))
    path = save_raw(tmp_path, wheel)
    before = path.read_bytes()
    assert load_raw(tmp_path, "2.6.0.post9") == wheel
    assert save_raw(tmp_path, wheel).read_bytes() == before
    assert before[4:8] == bytes(4)


def test_a_damaged_raw_table_names_the_file(tmp_path: Path) -> None:
    path = save_raw(tmp_path, read_wheel(str(make_wheel(tmp_path))))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(MatrixError, match=r"2\.6\.0\.post9\.json\.gz"):
        load_raw(tmp_path, "2.6.0.post9")
    with pytest.raises(MatrixError, match=r"1\.0\.json\.gz"):
        load_raw(tmp_path, "1.0")
    assert raw_path(tmp_path, "1.0").parent == path.parent


@pytest.mark.parametrize(
    ("leave_out", "change", "message"),
    [
        ("by_codegen.yaml", {}, "it has no torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml"),
        ("METADATA", {}, "it has no METADATA"),
        ("", {"torch_npu-2.6.0.post9.dist-info/METADATA": "Name: numpy\nVersion: 2.0\n\n"}, "a wheel of numpy"),
        ("", {FUNCTIONS: "supported:\n- {flow: style}\n"}, "by_codegen.yaml:2: not a line of a list of functions"),
        ("", {FUNCTIONS: "custom:\n- func: a() -> Tensor\n"}, "it lists no supported functions"),
        ("", {"torch_npu/dynamo/torchair/_utils/__init__.py": "def get_npu_default_decompositions(:"}, "Python source"),
    ],
)
def test_an_unfit_wheel_is_refused(tmp_path: Path, leave_out: str, change: dict[str, str], message: str) -> None:
    path = make_wheel(tmp_path, leave_out=leave_out, change=change)
    with pytest.raises(OpscanError, match=message):
        read_wheel(str(path))


def test_a_truncated_wheel_is_refused(tmp_path: Path) -> None:
    path = make_wheel(tmp_path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(OpscanError, match="not a whole zip archive"):
        read_wheel(str(path))


def test_a_wheel_with_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = make_wheel(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:60] + bytes(200) + content[260:])
    with pytest.raises(OpscanError, match="damaged"):
        read_wheel(str(path))


def test_a_path_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.whl: No such file"):
        read_wheel("/nowhere.whl")


def test_functions_keep_quoted_and_nested_values() -> None:
    text = (
        "supported:\n- dispatch:\n    AutogradPrivateUse1: f\n  func: 'a.out(Tensor x) -> Tensor'\n  impl_ns: op_api\n"
    )
    assert read_functions(text, "x") == {"supported": {"a.out": Function(("op_api",), "AutogradPrivateUse1")}}
