"""torchair's converters, read from sources."""

from __future__ import annotations

import pytest

from opscan.matrix.build.wheel_converters import RawConverter, RawTorchair, read_torchair
from tests.matrix.wheels import torchair_sources


@pytest.fixture(scope="module")
def read() -> RawTorchair:
    return read_torchair(torchair_sources())


def _of(read: RawTorchair, op: str) -> RawConverter:
    (found,) = [converter for converter in read.converters if converter.op == op]
    return found


def test_what_is_registered(read: RawTorchair) -> None:
    assert sorted(converter.op for converter in read.converters) == [
        "aten.add.Tensor",
        "aten.add.names",
        "aten.add.out",
        "npu.npu_rotate.default",
    ]


def test_operators_emitted_through_helpers_without_constants(read: RawTorchair) -> None:
    assert _of(read, "aten.add.Tensor").ge == ("Add", "Cast")


def test_operators_by_name_in_a_nested_function(read: RawTorchair) -> None:
    assert _of(read, "npu.npu_rotate.default").ge == ("Rotate", "Split")


def test_dtypes_declared_just_above_the_registration(read: RawTorchair) -> None:
    assert _of(read, "aten.add.Tensor").declared == (
        ("float32",),
        ("float32", "float32"),
        ("float32", "int64", "int64"),
    )
    assert _of(read, "aten.add.out").declared == ()


def test_a_body_that_only_raises(read: RawTorchair) -> None:
    assert [c.op for c in read.converters if c.raises] == ["aten.add.out", "aten.add.names"]


def test_a_call_of_an_operator_that_the_wheel_lacks_raises(read: RawTorchair) -> None:
    names = _of(read, "aten.add.names")
    assert names.raises
    assert names.ge == ()


def test_scalar_functions_of_python_are_apart(read: RawTorchair) -> None:
    assert read.python == ("operator.add",)


def test_what_cannot_be_read_is_said(read: RawTorchair) -> None:
    assert len(read.unread) == 1
    assert read.unread[0].endswith(" op")


def test_operators_taken_apart_before_conversion(read: RawTorchair) -> None:
    assert read.decomposed == ("aten.matmul_backward.default", "npu_define.allgather.default")


def test_converters_made_by_name(read: RawTorchair) -> None:
    assert read.automatic
    assert not read_torchair({}).automatic
