"""Error messages as torch_npu and CANN write them, and what they say of an operator."""

from __future__ import annotations

import pytest

from opscan.errors import MatrixError
from opscan.probing import refusals
from opscan.probing.protocol import Outcome, Versions
from opscan.probing.refusals import fallbacks_in, judged

VERSIONS = Versions("2.6.0", "2.6.0.post5", "8.5.0", "Ascend910B3")

DTYPE = (
    "call aclnnAdd failed, detail:EZ1001: [PID: 107002] 2025-07-01-10:00:00 Param other: DT_DOUBLE is not supported.\n"
    "[ERROR] 2025-07-01 ERR01100 OPS call acl api failed"
)


@pytest.mark.parametrize(
    ("message", "healthy", "status", "code"),
    [
        (DTYPE, True, "refused", "EZ1001"),
        ("NPU function error: call aclnnX failed, error code is 161002", True, "refused", "161002"),
        ("nms is not supported\n[ERROR] ERR01007 OPS feature not supported", True, "refused", "ERR01007"),
        ("something that nobody has numbered", True, "refused", ""),
        ("something that nobody has numbered", False, "device_lost", ""),
        ("aclrtSynchronizeStream failed, error code is 507010", False, "device_lost", "507010"),
        ("The aicore execution is abnormal, error code is 507015", False, "crashed", "507015"),
        ("error code is 507018: aicpu exception", True, "crashed", "507018"),
        ("error code is 507014: aicore timeout", False, "timeout", "507014"),
        ("NPU out of memory. Tried to allocate 2.00 GiB", True, "out_of_memory", ""),
        ("aclrtMalloc failed, error code is 207001", True, "out_of_memory", "207001"),
    ],
)
def test_a_message(message: str, healthy: bool, status: str, code: str) -> None:
    found = judged(Outcome("refused", message, versions=VERSIONS), healthy)
    assert (found.status, found.code) == (status, code)
    assert found.message == message
    assert found.versions == VERSIONS


def test_other_outcomes_stay_as_they_are() -> None:
    wrong = Outcome("wrong", "error code is 507015")
    assert judged(wrong, False) == wrong


def test_a_damaged_table_of_codes_costs_the_code_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged() -> None:
        raise MatrixError("errors.json is damaged")

    refusals._table.cache_clear()
    monkeypatch.setattr("opscan.probing.refusals.ErrorCodes.load", damaged)
    assert judged(Outcome("refused", DTYPE), True) == Outcome("refused", DTYPE)
    refusals._table.cache_clear()


def test_fallbacks_are_named_once_each() -> None:
    caution = "Warning: CAUTION: The operator '{}' is not currently supported on the NPU backend"
    line = f"[W101 VariableFallbackKernel.cpp:230] {caution}"
    printed = "\n".join(["noise", line.format("aten::lgamma.out"), line.format("aten::i0"), line.format("aten::i0")])
    assert fallbacks_in(printed) == ("aten::lgamma.out", "aten::i0")
    assert fallbacks_in("the operator 'x' is fine") == ()
