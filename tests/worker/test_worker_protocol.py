"""What passes between the processes survives the way there."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from opscan import errors
from opscan.inventory import Attempt, Finding, Inventory, Location, OpCall, TensorSpec, Trace
from opscan.loading.inputs import InputSpec
from opscan.loading.reference import PythonFileReference
from opscan.substitution.interface import CheckResult, Match
from opscan.worker.host import Worker, _as_error
from opscan.worker.protocol import Check, Checked, Failed, Progress, Release, Reply, Request, Scan, Scanned, line_of
from opscan.workload import Workload

RELEASE = Release("2.13.0", "2.13.0", frozenset({"aten::relu"}), frozenset(), frozenset({"aten::mm"}))
PART = OpCall("aten::b", "forward", (TensorSpec("bool", ()),), ())
CALL = OpCall(
    "aten::a",
    "backward",
    (TensorSpec("float32", (1, 0, "n")),),
    (TensorSpec("int64", (2,)),),
    attributes=(("dim", "1"), ("text", "'\\n\u2028\ud7ff'")),
    location=Location("a file.py", 3, "layers.0"),
    count=7,
    parts=(PART,),
    parameters=("self",),
    is_view=True,
)
INVENTORY = Inventory(
    "model.py",
    70_553_706_496,
    Trace("dispatch", "virtual", "2.13.0", False, True, ("unseen",), (Attempt("dispatch", False, "why"),)),
    (CALL,),
    (Finding("OPS601", {"what": "cuda"}, (Location("m.py", 1),)),),
    {"aten::a": ("CPU", "Meta")},
)


@pytest.mark.parametrize(
    "request_",
    [
        Scan(PythonFileReference("m.py", "Net"), (InputSpec(None, (1, 2), "int64"),), RELEASE, Workload(train=True)),
        Check(Match("float64-to-float32", CALL, "float64"), RELEASE),
    ],
    ids=["scan", "check"],
)
def test_requests(request_: Request) -> None:
    data = msgspec.json.encode(request_)
    assert b"\n" not in data
    assert msgspec.json.decode(data, type=Request) == request_


@pytest.mark.parametrize(
    "reply",
    [
        Progress("tracing"),
        Scanned(INVENTORY),
        Checked(CheckResult(None), INVENTORY),
        Checked(CheckResult(None), None, "why"),
        Failed("ModelError", "a\nmessage", "a hint", "a trace"),
    ],
    ids=lambda reply: type(reply).__name__,
)
def test_replies(reply: Reply) -> None:
    data = msgspec.json.encode(reply)
    assert b"\n" not in data
    assert msgspec.json.decode(data, type=Reply) == reply


@pytest.mark.parametrize("kind", ["OpscanError", "UsageError", "LoadError", "ModelError", "MatrixError"])
def test_errors_keep_their_kind(kind: str) -> None:
    error = _as_error(Failed(kind, "message", "hint", "trace"))
    assert type(error) is getattr(errors, kind)
    assert (error.message, error.hint, str(error.__cause__)) == ("message", "hint", "trace")


def test_an_error_of_an_unknown_kind_is_still_one() -> None:
    assert type(_as_error(Failed("FutureError", "message", "", ""))) is errors.OpscanError


def test_names_that_no_encoding_has_travel_as_escapes() -> None:
    """A module's name may be any string of Python, half of a surrogate pair included."""
    named = replace(CALL, location=Location("a.py", 1, "layers.\ud800"))
    sent = Scanned(replace(INVENTORY, calls=(named,), host_kernels={"mine::\udcff": ("CPU",)}))
    received = msgspec.json.decode(line_of(sent), type=Reply)
    assert isinstance(received, Scanned)
    assert received.inventory.calls[0].location == Location("a.py", 1, "layers.\\ud800")
    assert received.inventory.host_kernels == {"mine::\\udcff": ("CPU",)}
    assert replace(received.inventory, calls=(), host_kernels={}) == replace(INVENTORY, calls=(), host_kernels={})


def test_a_file_name_that_is_no_text_is_refused() -> None:
    scan = Scan(PythonFileReference("m\udcff.py"), (), RELEASE)
    with Worker() as worker, pytest.raises(errors.UsageError, match=r"no text: 'm\\udcff.py'"):
        worker.scan(scan, lambda stage: None)
