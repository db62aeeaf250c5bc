"""Asking small matrices: whose observations, which CANN table, whose own tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_matrix import (
    ABSENT,
    CPU_ONLY,
    adapter,
    api,
    cann,
    native,
    observed,
    open_matrix,
    releases,
    row,
    statement,
    write_matrix,
)

from opscan.assessment import Evidence
from opscan.errors import MatrixError
from opscan.matrix import Matrix
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import SCHEMA, CannFile, OpEntry, OverridesFile, Row
from opscan.target import Target

ABS = "aclnnAbs[T:float32 T:float32]"
OPS = {"aten::abs": native("aclnnAbs")}
SEEN = {"aten::abs": (row("float32", ABS),)}
F32 = ("float32",)


def near(root: Path, *tables: CannFile, ask: str = "8.3.RC1", soc: str = "ascend910b") -> Matrix:
    """A matrix asked for a CANN release that only has ``tables`` as its nearest."""
    files = adapter("2.13.0", OPS), observed("2.13.0", SEEN, soc), *tables
    known = releases(*files, nearest={ask: tuple(dict.fromkeys(t.release for t in tables))})
    return open_matrix(root, *files, known, cann=ask, soc=soc)


# --- CANN -----------------------------------------------------------------------------------------------------


def test_the_targets_own_table_answers(tmp_path: Path) -> None:
    files = adapter("2.13.0", OPS), observed("2.13.0", SEEN), cann("8.5.0", {"aclnnAbs": ABSENT})
    matrix = open_matrix(tmp_path, *files, cann("9.1.0", {"aclnnAbs": api("float32")}))
    claim = matrix.kernels("aten::abs", F32)
    assert (claim.status, claim.kernels) == ("supported", ("aclnnAbs",))
    assert claim.evidence == (
        Evidence("observed", "2.13.0", "observed on a simulated runtime", "observed/2.13.0/ascend910b.json"),
        Evidence("cann", "9.1.0", "aclnnAbs", "repo page.md @0123"),
    )


def test_nearest_releases_that_agree_answer_and_are_named(tmp_path: Path) -> None:
    both = cann("8.1.RC1", {"aclnnAbs": api("float32")}), cann("8.5.0", {"aclnnAbs": api("float32", "int8")})
    claim = near(tmp_path, *both).kernels("aten::abs", F32)
    assert claim.status == "supported"
    assert claim.evidence[-1] == Evidence(
        "cann", "8.1.RC1 and 8.5.0", "CANN 8.3.RC1 has no table; the nearest releases answer"
    )


def test_nearest_releases_that_agree_on_a_refusal(tmp_path: Path) -> None:
    both = cann("8.1.RC1", {"aclnnAbs": api("int8")}), cann("8.5.0", {"aclnnAbs": api("float16")})
    claim = near(tmp_path, *both).kernels("aten::abs", F32)
    assert (claim.status, claim.code, claim.api, claim.dtype) == ("unsupported", "dtype", "aclnnAbs", "float32")


def test_nearest_releases_that_differ_are_a_conflict(tmp_path: Path) -> None:
    both = cann("8.1.RC1", {"aclnnAbs": api("float32")}), cann("8.5.0", {"aclnnAbs": ABSENT})
    claim = near(tmp_path, *both).kernels("aten::abs", F32)
    assert (claim.status, claim.code) == ("unknown", "conflict")
    said = "supported at CANN 8.1.RC1; unsupported at CANN 8.5.0"
    assert claim.detail == f"CANN 8.3.RC1 has no table, and the nearest releases differ: {said}"


def test_one_nearest_release_is_enough(tmp_path: Path) -> None:
    claim = near(tmp_path, cann("8.1.RC1", {"aclnnAbs": api("float32")}), ask="8.0.0").kernels("aten::abs", F32)
    assert (claim.status, claim.evidence[-1].release) == ("supported", "8.1.RC1")


def test_nearest_tables_are_those_of_the_soc(tmp_path: Path) -> None:
    tables = cann("8.1.RC1", {"aclnnAbs": ABSENT}, soc="ascend910"), cann("8.5.0", {"aclnnAbs": api("float32")})
    matrix = near(tmp_path, *tables)
    assert [table.release for table in matrix.cann] == ["8.5.0"]
    assert matrix.kernels("aten::abs", F32).status == "supported"


@pytest.mark.parametrize(("cann_release", "soc"), [("9.1.0", "ascend910"), ("9.2.0", "ascend910b")])
def test_without_a_table_nothing_is_known(tmp_path: Path, cann_release: str, soc: str) -> None:
    files = adapter("2.13.0", OPS), observed("2.13.0", SEEN), cann("9.1.0", {"aclnnAbs": api("float32")})
    matrix = open_matrix(tmp_path, *files, cann=cann_release, soc=soc)
    assert not matrix.knows_soc
    claim = matrix.kernels("aten::abs", F32)
    assert (claim.status, claim.code) == ("unknown", "no-table")
    assert matrix.registration("aten::abs") is not None


def test_a_soc_that_was_never_observed_is_not_known(tmp_path: Path) -> None:
    matrix = open_matrix(tmp_path, adapter("2.13.0", OPS), cann("9.1.0", {"aclnnAbs": api("float32")}))
    assert not matrix.knows_soc
    assert matrix.kernels("aten::abs", F32).code == "no-table"


# --- observations ---------------------------------------------------------------------------------------------


def test_rows_are_inherited_where_the_registration_is_the_same(tmp_path: Path) -> None:
    files = adapter("2.12.0", {"aten::abs": native()}), adapter("2.13.0", OPS), observed("2.13.0", SEEN)
    matrix = open_matrix(tmp_path, *files, cann("9.1.0", {"aclnnAbs": api("float32")}), torch_npu="2.12.0")
    claim = matrix.kernels("aten::abs", F32)
    assert claim.status == "supported"
    assert claim.evidence[0].detail == "observed on 2.13.0, same registration"


@pytest.mark.parametrize(
    ("reachable", "status"), [(("aclnnAbs",), "supported"), (("aclnnOther",), "unknown"), ((), "unknown")]
)
def test_elsewhere_only_rows_that_the_own_implementation_reaches(
    tmp_path: Path, reachable: tuple[str, ...], status: str
) -> None:
    older = adapter("2.12.0", {"aten::abs": native(*reachable, keys=("PrivateUse1", "AutogradPrivateUse1"))})
    files = older, adapter("2.13.0", OPS), observed("2.13.0", SEEN), cann("9.1.0", {"aclnnAbs": api("float32")})
    claim = open_matrix(tmp_path, *files, torch_npu="2.12.0").kernels("aten::abs", F32)
    assert claim.status == status
    if status == "supported":
        assert claim.evidence[0].detail == "observed on 2.13.0, kernels reachable in 2.12.0"
    else:
        assert (claim.code, claim.kernels) == ("unverified", reachable)


def test_a_release_without_a_kernel_inherits_nothing(tmp_path: Path) -> None:
    files = adapter("2.12.0", {"aten::abs": CPU_ONLY}), adapter("2.13.0", OPS), observed("2.13.0", SEEN)
    matrix = open_matrix(tmp_path, *files, cann("9.1.0", {"aclnnAbs": api("float32")}), torch_npu="2.12.0")
    assert matrix.kernels("aten::abs", F32).code == "unverified"


def test_the_nearest_observed_release_comes_first(tmp_path: Path) -> None:
    names = "2.6.0", "2.7.1", "2.8.0", "2.13.0"
    seen = [
        observed(r, {"aten::abs": (row("float32", f"aclnn{r[2]}[T:float32 T:float32]"),)}) for r in ("2.6.0", "2.13.0")
    ]
    apis = {"aclnn6": api("float32"), "aclnn1": api("float32")}
    files = *(adapter(r, OPS) for r in names), *seen, cann("9.1.0", apis)
    write_matrix(tmp_path, *files)

    def kernels(release: str) -> tuple[str, ...]:
        return Matrix.load(Target(release, "9.1.0", "ascend910b"), tmp_path).kernels("aten::abs", F32).kernels

    assert kernels("2.6.0") == kernels("2.7.1") == ("aclnn6",)
    assert kernels("2.8.0") == kernels("2.13.0") == ("aclnn1",)


def test_what_the_nearest_did_not_see_another_may_have(tmp_path: Path) -> None:
    other = {"aten::abs": (row("int8", "aclnnAbs[T:int8 T:int8]"),)}
    files = adapter("2.6.0", OPS), adapter("2.13.0", OPS), observed("2.6.0", other), observed("2.13.0", SEEN)
    matrix = open_matrix(tmp_path, *files, cann("9.1.0", {"aclnnAbs": api("float32", "int8")}))
    claim = matrix.kernels("aten::abs", ("int8",))
    assert (claim.status, claim.evidence[0].release) == ("supported", "2.6.0")


def test_rows_without_what_the_cann_release_lacks_replace_the_others(tmp_path: Path) -> None:
    rows: tuple[Row, ...] = (row("float32", ABS), row("float32", "aclnnOld[T:float32 T:float32]", cann=("8.5.0",)))
    apis = {"aclnnAbs": api("float32"), "aclnnOld": api("float32")}
    files = adapter("2.13.0", OPS), observed("2.13.0", {"aten::abs": rows}), cann("8.5.0", apis), cann("9.1.0", apis)
    write_matrix(tmp_path, *files)
    for release, kernels in (("8.5.0", ("aclnnOld",)), ("9.1.0", ("aclnnAbs",))):
        matrix = Matrix.load(Target("2.13.0", release, "ascend910b"), tmp_path)
        assert matrix.kernels("aten::abs", F32).kernels == kernels


@pytest.mark.parametrize(
    ("entry", "rows", "status"),
    [
        (native("aclStft"), (row("float32"), row("int8", "aclnnMatmul[T:int8]")), "unknown"),  # nobody logs aclStft
        (native("aclnnConvolution"), (row("float32"),), "unknown"),
        (native("aclnnCeil"), (row("float32"), row("float16", "aclnnCeil[T:float16]")), "supported"),
        (native("aclnnCeil"), (row("float32"), row("float16", "GE Ceil[float16 > float16]")), "supported"),
        (native(), (row("float32"),), "supported"),  # a view
        (OpEntry(("PrivateUse1",), ("acl_op",)), (row("float32"),), "unknown"),
        (OpEntry(("PrivateUse1",), ("acl_op", "op_api")), (row("float32"),), "supported"),
    ],
)
def test_an_operator_that_launches_nothing(tmp_path: Path, entry: OpEntry, rows: tuple[Row, ...], status: str) -> None:
    files = adapter("2.13.0", {"aten::x": entry}), observed("2.13.0", {"aten::x": rows}), cann("9.1.0", {})
    claim = open_matrix(tmp_path, *files).kernels("aten::x", F32)
    assert claim.status == status
    if status == "unknown":
        assert claim.code == "unverified"
        assert claim.detail.startswith("observed calls launched no kernel")
        assert claim.evidence[0].kind == "observed"


def test_releases_with_a_kernel(tmp_path: Path) -> None:
    files = adapter("2.6.0", {"aten::abs": CPU_ONLY}), adapter("2.7.1", OPS), adapter("2.13.0", OPS)
    matrix = open_matrix(tmp_path, *files, cann("9.1.0", {}))
    assert matrix.releases_with("aten::abs") == ("2.7.1", "2.13.0")
    assert matrix.releases_with("aten::lgamma") == ()


# --- reviewed statements --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "dtype", "answers"),
    [
        ({}, "complex64", True),
        ({}, "float32", False),
        ({"dtypes": ("any",)}, "float32", True),
        ({"ops": ("aten::neg",)}, "complex64", False),
        ({"socs": ("ascend910",)}, "complex64", False),
        ({"cann": ("8.5.0",)}, "complex64", False),
        ({"cann": ("9.1.0",), "torch_npu": ("2.13.0",)}, "complex64", True),
        ({"torch_npu": ("2.12.0",)}, "complex64", False),
    ],
)
def test_a_statement_answers_first_where_it_holds(
    tmp_path: Path, changes: dict[str, tuple[str, ...]], dtype: str, answers: bool
) -> None:
    overrides = OverridesFile(SCHEMA, statements=(statement("s", "unsupported", code="dtype", **changes),))
    files = adapter("2.13.0", OPS), observed("2.13.0", SEEN), cann("9.1.0", {"aclnnAbs": api("float32")}), overrides
    claim = open_matrix(tmp_path, *files).kernels("aten::abs", (dtype,))
    assert (claim.evidence[:1] == (Evidence("override", "2026-01-01", "seen", "page @0"),)) is answers
    assert (claim.status == "unsupported") is answers


# --- the user's own -------------------------------------------------------------------------------------------


def packaged(root: Path) -> Path:
    files = adapter("2.13.0", OPS), observed("2.13.0", SEEN), cann("9.1.0", {"aclnnAbs": ABSENT})
    return write_matrix(root, *files)


def with_own(tmp_path: Path, target: Target) -> Matrix:
    root = packaged(tmp_path / "packaged")
    matrix = Matrix.load(Target("2.13.0", "9.1.0", "ascend910b"), root)
    return replace(matrix, roots=(tmp_path / "own", root)).at(target)


def test_a_users_own_table_takes_precedence(tmp_path: Path) -> None:
    write_matrix(tmp_path / "own", cann("9.1.0", {"aclnnAbs": api("float32")}))
    matrix = with_own(tmp_path, Target("2.13.0", "9.1.0", "ascend910b"))
    assert matrix.kernels("aten::abs", F32).status == "supported"


def test_a_users_own_releases_are_there_beside_the_others(tmp_path: Path) -> None:
    write_matrix(tmp_path / "own", adapter("2.14.0", OPS), cann("9.5.0", {"aclnnAbs": api("float32")}))
    matrix = with_own(tmp_path, Target("2.14.0", "9.5.0", "ascend910b"))
    claim = matrix.kernels("aten::abs", F32)
    assert (claim.status, claim.evidence[0].detail) == ("supported", "observed on 2.13.0, same registration")
    assert matrix.releases_with("aten::abs") == ("2.13.0", "2.14.0")


def test_a_release_that_nobody_has_says_how_to_build_it(tmp_path: Path) -> None:
    packaged(tmp_path)
    with pytest.raises(MatrixError, match=r"no table of torch_npu 2\.15\.0") as caught:
        Matrix.load(Target("2.15.0", "9.1.0", "ascend910b"), tmp_path)
    assert caught.value.hint == "Build it: opscan matrix build --wheel 2.15.0"


def test_a_statement_may_hold_for_some_ranks_only() -> None:
    """Three-dimensional convolutions of float32 on 310P are doubtful, two-dimensional ones are narrowed and run."""
    matrix = Matrix.load(Target("2.13.0", "8.1.RC1", "ascend310p"), support_matrix_dir())
    flat, deep = (matrix.kernels("aten::convolution", F32 * 2, F32, rank) for rank in (4, 5))
    assert (flat.status, deep.status, deep.code) == ("supported", "unknown", "conflict")


def test_where_the_nearest_release_saw_only_moves_another_tells_of_the_kernel(tmp_path: Path) -> None:
    """A tensor that comes from the host launches nothing; that a copy on the device does is known from elsewhere."""
    ops = {"aten::_to_copy": native("aclnnInplaceCopy")}
    moved, copied = row("float32", copies=1), row("float32", "aclnnInplaceCopy[T:float32 T:float32]")
    files = (
        *(adapter(release, ops) for release in ("2.6.0", "2.13.0")),
        observed("2.6.0", {"aten::_to_copy": (moved,)}),
        observed("2.13.0", {"aten::_to_copy": (moved, copied)}),
        cann("9.1.0", {"aclnnInplaceCopy": api("float32")}),
    )
    claim = open_matrix(tmp_path, *files, torch_npu="2.6.0").kernels("aten::_to_copy", F32)
    assert (claim.status, claim.host_sync, claim.kernels) == ("supported", False, ("aclnnInplaceCopy",))
    assert claim.evidence[0].release == "2.13.0"


def test_where_cann_lacks_the_kernel_a_release_that_ran_without_it_tells(tmp_path: Path) -> None:
    ops = {"aten::topk": native("aclnnTopkV2", "aclnnTopk")}
    newer = row("float32", "aclnnTopkV2[T:float32 T:float32]")
    older = row("float32", "aclnnTopk[T:float32 T:float32]", cann=("9.1.0",))
    files = (
        *(adapter(release, ops) for release in ("2.6.0", "2.13.0")),
        observed("2.6.0", {"aten::topk": (newer,)}),
        observed("2.13.0", {"aten::topk": (newer, older)}),
        cann("9.1.0", {"aclnnTopk": api("float32")}),
    )
    claim = open_matrix(tmp_path, *files, torch_npu="2.6.0").kernels("aten::topk", F32)
    assert (claim.status, claim.kernels, claim.evidence[0].release) == ("supported", ("aclnnTopk",), "2.13.0")


def test_a_factory_like_another_tensor_makes_its_dtype_unless_another_is_asked_for(tmp_path: Path) -> None:
    same = row("float64", "aclnnOnes[T:float64 T:float64]")
    other = row("float64", "aclnnOnes[T:float32 T:float32]", results="float32")
    files = (
        adapter("2.13.0", {"aten::ones_like": native("aclnnOnes"), "aten::sum": native("aclnnOnes")}),
        observed("2.13.0", {"aten::ones_like": (same, other), "aten::sum": (same, other)}),
        cann("9.1.0", {"aclnnOnes": api("float32")}),
    )
    matrix = open_matrix(tmp_path, *files)
    assert matrix.kernels("aten::ones_like", ("float64",)).code == "dtype"
    assert matrix.kernels("aten::ones_like", ("float64",), ("float32",)).status == "supported"
    assert matrix.kernels("aten::sum", ("float64",)).code == "arguments"
