"""What changes from one target to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import (
    CPU_ONLY,
    adapter,
    api,
    cann,
    ge,
    native,
    observed,
    row,
    torchair,
    write_matrix,
)

from opscan.matrix import Matrix
from opscan.matrix.files import Converter
from opscan.routes.diff import Change, diff
from opscan.target import Target

DTYPES = ("float32", "float16", "int8")
NAMES = ("gained", "lost", "decided", "undecided", "same")
NEW = {f"aten::{name}": native(f"aclnn{name.title()}") for name in NAMES}


def rows(name: str) -> tuple[object, ...]:
    return tuple(row(d, f"aclnn{name.title()}[T:{d} T:{d}]") for d in ("float32", "float16"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_matrix(
        tmp_path_factory.mktemp("matrix"),
        adapter("2.12.0", {**NEW, "aten::gained": CPU_ONLY}),
        adapter("2.13.0", NEW),
        observed("2.13.0", {f"aten::{name}": rows(name) for name in NAMES}),  # type: ignore[misc]
        cann(
            "8.5.0",
            {
                "aclnnGained": api("bool"),
                "aclnnLost": api("float32", "float16"),
                "aclnnUndecided": api("float32", "float16"),
                "aclnnSame": api("float32"),
            },
            {"Abs": ge("float32")},
        ),
        cann(
            "9.1.0",
            {
                "aclnnGained": api("float32", "float16"),
                "aclnnLost": api("float16"),
                "aclnnDecided": api("float16"),
                "aclnnSame": api("float32"),
            },
            {"Abs": ge("float16")},
        ),
        torchair("2.12.0", {"aten::abs": Converter("raises")}),
        torchair("2.13.0", {"aten::abs": Converter("implemented", ("Abs",))}),
    )


def load(root: Path, torch_npu: str = "2.13.0", cann: str = "9.1.0") -> Matrix:
    return Matrix.load(Target(torch_npu, cann, "ascend910b"), root)


def test_between_cann_releases(root: Path) -> None:
    changes = diff(load(root, cann="8.5.0"), load(root), "eager", DTYPES)
    assert [(c.kind, c.operator, c.dtypes, c.before, c.after) for c in changes] == [
        ("gained", "aten::gained", ("float16",), "unsupported", "supported"),
        ("gained", "aten::gained", ("float32",), "unsupported", "supported"),
        ("lost", "aten::lost", ("float32",), "supported", "unsupported"),
        ("decided", "aten::decided", ("float16",), "unknown", "supported"),
        ("decided", "aten::decided", ("float32",), "unknown", "unsupported"),
        ("undecided", "aten::undecided", ("float32", "float16"), "supported", "unknown"),  # for one and the same reason
    ]


def test_the_reason_is_that_of_the_side_without_support(root: Path) -> None:
    changes = {c.kind: c for c in diff(load(root, cann="8.5.0"), load(root), "eager", ("float32",))}
    assert "aclnnGained" in str(changes["gained"].reason)
    assert "8.5.0" in str(changes["gained"].reason)
    assert "9.1.0" in str(changes["lost"].reason)
    assert "float32" in str(changes["decided"].reason)
    assert changes["undecided"].reason


def test_backwards_gained_is_lost(root: Path) -> None:
    forwards = diff(load(root, cann="8.5.0"), load(root), "eager", DTYPES)
    backwards = diff(load(root), load(root, cann="8.5.0"), "eager", DTYPES)

    def of(kind: str, changes: tuple[Change, ...]) -> set[tuple[str, str]]:
        return {(c.operator, d) for c in changes if c.kind == kind for d in c.dtypes}

    for kind, reverse in (("gained", "lost"), ("decided", "undecided")):
        assert of(kind, forwards) == of(reverse, backwards)
        assert of(reverse, forwards) == of(kind, backwards)


def test_between_torch_npu_releases(root: Path) -> None:
    changes = diff(load(root, "2.12.0"), load(root), "eager", ("float32",))
    assert [(c.kind, c.operator, c.before, c.after) for c in changes] == [
        ("gained", "aten::gained", "fallback", "supported")
    ]


def test_of_the_graph_route(root: Path) -> None:
    changes = diff(load(root, "2.12.0"), load(root), "graph", DTYPES)
    assert [(c.kind, c.operator, c.dtypes, c.before, c.after) for c in changes] == [
        ("gained", "aten::abs", ("float16",), "unsupported", "supported")
    ]


def test_nothing_changes_between_a_target_and_itself(root: Path) -> None:
    assert diff(load(root), load(root), "eager", DTYPES) == ()
    assert diff(load(root), load(root), "graph", DTYPES) == ()


def test_it_tells_how_far_it_is(root: Path) -> None:
    said: list[str] = []
    diff(load(root), load(root), "eager", (), said.append)
    assert said == ["0 of 5 operators"]
