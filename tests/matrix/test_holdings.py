"""What ``opscan matrix list`` counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_matrix import (
    ABSENT,
    CPU_ONLY,
    adapter,
    api,
    cann,
    ge,
    native,
    observed,
    onnx,
    releases,
    torchair,
    write_matrix,
)

from opscan.matrix.files import Converter, GeOp, OnnxOp
from opscan.matrix.holdings import AdapterHoldings, CannHoldings, holdings

OPS = {
    "aten::abs": native(),
    "aten::add.Tensor": native(),
    "aten::matmul": native(keys=("AutogradPrivateUse1", "CompositeImplicitAutograd")),
    "aten::lgamma": CPU_ONLY,
    "npu::npu_rms_norm": native(keys=("PrivateUse1",)),
    "quantized::add": native(keys=("PrivateUse1",)),
}


def packaged(root: Path) -> Path:
    files = (
        adapter("2.12.0", {"aten::abs": native()}),
        adapter("2.13.0", OPS),
        torchair("2.13.0", {"aten::abs": Converter("implemented"), "aten::fft": Converter("raises")}),
        observed("2.13.0", {}),
        observed("2.13.0", {}, "ascend310p"),
        cann(
            "9.1.0",
            {"aclnnAbs": api("float32"), "aclnnGone": ABSENT},
            {"Abs": ge("float32"), "Gone": GeOp(absent=True)},
        ),
        onnx("9.1.0", {"ai.onnx::Abs": OnnxOp((18,)), "ai.onnx::Add": OnnxOp((18,))}),
    )
    return write_matrix(root, *files, releases(*files, nearest={"8.3.RC1": ("9.1.0",)}))


def test_counts(tmp_path: Path) -> None:
    found = holdings((packaged(tmp_path),))
    assert [a.release for a in found.adapters] == ["2.12.0", "2.13.0"]
    assert found.adapters[1] == AdapterHoldings(
        release="2.13.0",
        torch="2.13.0",
        cann=(),
        basis="dispatcher",
        registered={"aten": 3, "npu": 1, "quantized": 1},
        converters=1,
        raising=1,
        observed=("ascend310p", "ascend910b"),
        own=False,
        sources=("dispatch",),
    )
    assert found.cann == (
        CannHoldings("9.1.0", "ascend910b", apis=1, absent=1, ge_ops=1, onnx=2, own=False, sources=("pages",)),
    )
    assert found.without_table == {"8.3.RC1": ("9.1.0",)}


def test_a_release_without_converters_or_observations(tmp_path: Path) -> None:
    older = holdings((packaged(tmp_path),)).adapters[0]
    assert (older.converters, older.raising, older.observed) == (0, 0, ())


def test_tables_of_the_users_own_are_marked_and_come_first(tmp_path: Path) -> None:
    own, root = tmp_path / "own", packaged(tmp_path / "packaged")
    write_matrix(
        own,
        adapter("2.14.0", {"aten::abs": native()}),
        adapter("2.12.0", OPS),
        cann("9.1.0", {"aclnnAbs": api("float32"), "aclnnNeg": api("float32")}),
    )
    found = holdings((own, root))
    assert [(a.release, a.own, a.registered["aten"]) for a in found.adapters] == [
        ("2.12.0", True, 3),
        ("2.13.0", False, 3),
        ("2.14.0", True, 1),
    ]
    assert [(c.release, c.own, c.apis) for c in found.cann] == [("9.1.0", True, 2)]


def test_an_empty_folder_of_the_users_own_changes_nothing(tmp_path: Path) -> None:
    root = packaged(tmp_path / "packaged")
    assert holdings((tmp_path / "own", root)) == holdings((root,))


@pytest.mark.parametrize("release", ["2.12.0", "2.13.0"])
def test_the_packaged_matrix_is_nobodys_own(tmp_path: Path, release: str) -> None:
    """Not even where it is the only folder, as in a build's check."""
    assert not any(a.own for a in holdings((packaged(tmp_path),)).adapters if a.release == release)
