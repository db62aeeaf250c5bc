from __future__ import annotations

from opscan.assessment import Evidence
from opscan.matrix.claims import KernelClaim
from opscan.matrix.files import SCHEMA, CannFile, Row
from opscan.matrix.join import Judgement
from opscan.matrix.rows import collapse, match_rows
from opscan.matrix.verdict import Grounds, combine

A, B, C = Row("float32 float32"), Row("float32 bool"), Row("float16 float16 bool")


def test_repeats_collapse() -> None:
    assert collapse(("float32", "float32", "bool", "bool", "float32")) == ("float32", "bool", "float32")


def test_rows_match_exactly_then_without_repeats_then_by_set() -> None:
    rows = (A, B, C)
    assert match_rows(rows, ("float32", "float32")) == (A,)
    assert match_rows(rows, ("float32", "float32", "float32")) == (A,)
    assert match_rows(rows, ("bool", "float16")) == (C,)
    assert match_rows(rows, ("float64",)) == ()


def test_results_tell_rows_apart() -> None:
    half = Row("float32", results="float16", kernels=("aclnnInplaceCopy[T:float16 T:float32]",))
    wide = Row("float32", results="float64", kernels=("aclnnInplaceCopy[T:float64 T:float32]",))
    unrecorded = Row("float32", kernels=("aclnnInplaceCopy[T:int64 T:float32]",))
    rows = (half, wide, unrecorded)
    assert match_rows(rows, ("float32",), ("float64",)) == (wide,)
    assert match_rows(rows, ("float32",), ("int64",)) == (unrecorded,)
    assert match_rows(rows, ("float32",), ("uint8",)) == ()
    assert match_rows(rows, ("float32",)) == rows


def test_factories_match_by_results() -> None:
    rows = (Row("", results="int64"), Row("", results="float32"))
    assert match_rows(rows, ("int64",)) == (rows[0],)


GROUNDS = Grounds(Evidence("observed", "2.13.0"), CannFile(SCHEMA, "9.1.0", "ascend910b", (), {}), {})
YES = Judgement("supported", "ok", "aclnnYes")
NO = Judgement("unsupported", "dtype", "aclnnNo", "self", "float64")
DOUBT = Judgement("unknown", "undocumented", "aclnnDoubt", detail="no documentation")
SLOW = Judgement("supported", "ok", "aclnnSlow", ai_cpu="int64")

RUNS = Row("float32", kernels=("aclnnYes[T:float32]",))


def _combined(*pairs: tuple[Row, list[Judgement]]) -> KernelClaim:
    return combine(tuple(row for row, _ in pairs), [js for _, js in pairs], GROUNDS)


def test_every_launch_of_a_call_must_be_accepted() -> None:
    claim = _combined((RUNS, [YES, NO]))
    assert (claim.status, claim.api, claim.kernels) == ("unsupported", "aclnnNo", ("aclnnYes", "aclnnNo"))


def test_calls_that_are_judged_differently_are_unknown_and_name_what_refuses() -> None:
    claim = _combined((RUNS, [YES]), (RUNS, [NO]))
    assert (claim.status, claim.code, claim.api, claim.parameter) == ("unknown", "arguments", "aclnnNo", "self")
    assert "aclnnYes" in claim.detail


def test_a_doubt_keeps_its_own_reason() -> None:
    claim = _combined((RUNS, [YES]), (RUNS, [DOUBT]))
    assert (claim.status, claim.code) == ("unknown", "undocumented")


def test_views_and_moves_do_not_count_beside_calls_that_compute() -> None:
    view, move = Row("float32"), Row("float32", copies=1)
    assert _combined((view, []), (move, []), (RUNS, [NO])).status == "unsupported"
    assert _combined((view, [])).kernels == ()
    assert not _combined((move, []), (RUNS, [YES])).host_sync


def test_copies_tell_host_sync_from_a_computation_on_the_cpu() -> None:
    assert _combined((Row("float32", copies=1), [])).host_sync
    assert _combined((Row("float32", copies=3), [])).cpu_inside
    synced = _combined((Row("float32", kernels=("aclnnYes[T:float32]",), copies=2), [YES]))
    assert (synced.host_sync, synced.cpu_inside) == (True, False)
    moved = Row("float32", kernels=("aclnnInplaceCopy[T:float32 T:float32]",), copies=3)
    assert _combined((moved, [YES])).cpu_inside


def test_partly_on_the_cpu_is_said() -> None:
    claim = _combined((Row("float32", copies=3), []), (RUNS, [YES]))
    assert (claim.status, claim.cpu_inside) == ("supported", False)
    assert "CPU" in claim.detail


def test_the_adapters_refusal() -> None:
    claim = _combined((Row("float64", refused="x only supported Float"), []))
    assert (claim.status, claim.code, claim.detail) == ("unsupported", "raises", "x only supported Float")


def test_ai_cpu_where_every_call_uses_it() -> None:
    claim = _combined((RUNS, [SLOW, YES]))
    assert (claim.ai_cpu, claim.detail) == (True, "aclnnSlow (int64)")
    assert not _combined((RUNS, [SLOW]), (RUNS, [YES])).ai_cpu


def test_of_several_results_the_first_counts_where_a_mask_has_another_dtype() -> None:
    rows = (
        Row("float32", "float32 int64", ("aclnnMaxPool[T:float32]",)),
        Row("float32", "bfloat16 int64", ("aclnnX[]",)),
    )
    assert match_rows(rows, ("float32",), ("float32", "int8")) == rows[:1]
    assert match_rows(rows, ("float32",), ("int8",)) == ()
