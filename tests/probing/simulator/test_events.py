"""Lines of the runtime's log as values."""

from __future__ import annotations

import pytest

from opscan.inventory import KernelArgument, KernelLaunch, TensorSpec
from opscan.probing.simulator.events import Copy, Synchronised, decode


def arguments(text: str) -> tuple[KernelArgument, ...]:
    (event,) = decode(f'["launch","aclnnX",{text}]\n'.encode())
    assert isinstance(event, KernelLaunch)
    return event.arguments


def test_lines_become_events_in_order():
    lines = b'["sync","aclrtSynchronizeDevice"]\n["copy","copy",24,"H2D",true]\n["launch","aclnnX",null]\n'
    assert decode(lines) == (
        Synchronised("aclrtSynchronizeDevice"),
        Copy("copy", "H2D", 24),
        KernelLaunch("aclnnX", (KernelArgument("?"),)),
    )
    assert decode(b"") == ()


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        ('["T",[27,[2,3],29]]', KernelArgument("T", (TensorSpec("bfloat16", (2, 3)),), ("FRACTAL_NZ",))),
        ('["T",[99,[],77]]', KernelArgument("T", (TensorSpec("99", ()),), ("77",))),
        ('["S",9,1]', KernelArgument("S", (TensorSpec("int64", ()),))),
        ('["S",16,null]', KernelArgument("S", (TensorSpec("complex64", ()),))),
        ('["Z",[0,1],[9,2]]', KernelArgument("Z", (TensorSpec("float32", ()), TensorSpec("int64", ())))),
        ('["I",1,2]', KernelArgument("I")),
        ('["L"]', KernelArgument("L")),
        ('["B",true]', KernelArgument("B")),
        ('["0"]', KernelArgument("0")),
        ('["v"]', KernelArgument("v")),
    ],
)
def test_arguments_by_kind(words, argument):
    assert arguments(f"[{words}]") == (argument,)


def test_members_of_a_list_that_are_left_out_are_not_counted():
    tensors = (TensorSpec("float32", (2,)), TensorSpec("int64", ()))
    assert arguments('[["L",[0,[2],2],null,[9,[],0]]]') == (KernelArgument("L", tensors, ("ND", "NCHW")),)


def test_the_legacy_path_has_results_apart():
    (event,) = decode(b'["legacy","Add",[[0,[2],2],null],[[0,[2],2]]]\n')
    spec = TensorSpec("float32", (2,))
    assert event == KernelLaunch("GE Add", (KernelArgument("T", (spec,), ("ND",)), KernelArgument("0")), (spec,))
