"""What is tried is the same for calls that differ in place and count alone."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from opscan.inventory import Location, OpCall, TensorSpec
from opscan.probing.protocol import Run
from opscan.probing.signature import Signature, TensorArgument, distinct, signature_of

ADD = OpCall(
    "aten::add.Tensor",
    "forward",
    (TensorSpec("float32", (2, 3)), TensorSpec("float32", (3,))),
    (TensorSpec("float32", (2, 3)),),
    (("alpha", "2"),),
    Location("model.py", 3),
    parameters=("self", "other"),
)


def test_it_holds_parameters_shapes_and_attributes() -> None:
    assert signature_of(ADD) == Signature(
        "aten::add.Tensor",
        (TensorArgument("self", "float32", (2, 3)), TensorArgument("other", "float32", (3,))),
        (("alpha", "2"),),
    )
    assert str(signature_of(ADD)) == "aten::add.Tensor(self: float32 [2, 3], other: float32 [3], alpha=2)"


def test_parameters_that_the_trace_does_not_name_are_empty() -> None:
    assert [t.parameter for t in signature_of(replace(ADD, parameters=())).tensors] == ["", ""]


def test_calls_of_one_signature_are_counted_together_in_the_order_of_the_first() -> None:
    elsewhere = replace(ADD, location=Location("model.py", 9), phase="backward", count=4)
    other = replace(ADD, inputs=(TensorSpec("float16", (2, 3)), TensorSpec("float16", (3,))))
    assert list(distinct([other, ADD, elsewhere]).items()) == [(signature_of(other), 1), (signature_of(ADD), 5)]


def test_the_key_never_changes_for_files_keep_it() -> None:
    assert signature_of(ADD).key == "f4d2be7ccaf6425787f4d3a4662a47ca"


def test_every_part_counts_for_the_key() -> None:
    signature = signature_of(ADD)
    others = [
        replace(signature, operator="aten::sub.Tensor"),
        replace(signature, attributes=(("alpha", "1"),)),
        replace(signature, tensors=signature.tensors[:1]),
        replace(signature, tensors=(signature.tensors[0], replace(signature.tensors[1], dtype="float16"))),
        replace(signature, tensors=(signature.tensors[0], replace(signature.tensors[1], shape=(1,)))),
        replace(signature, tensors=(signature.tensors[0], replace(signature.tensors[1], parameter="out"))),
    ]
    assert len({signature.key, *(each.key for each in others)}) == 7


def test_it_travels() -> None:
    run = Run(3, replace(signature_of(ADD), tensors=(TensorArgument("self", "float32", (2, "s0")),)))
    assert msgspec.json.decode(msgspec.json.encode(run), type=Run) == run
