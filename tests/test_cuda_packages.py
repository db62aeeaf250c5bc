"""What is said of packages with CUDA kernels, and the verdicts on their functions in each route."""

from __future__ import annotations

from typing import Any

import pytest
from small_matrix import adapter, native, open_matrix

from opscan.cuda_packages import LIBRARY, facts_of, package_of
from opscan.graph_verdict import GraphJudge
from opscan.inventory import OpCall, TensorSpec
from opscan.matrix import Matrix
from opscan.offline_verdict import OfflineJudge
from opscan.rules.registry import RULES
from opscan.verdict import Judge


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return open_matrix(tmp_path_factory.mktemp("matrix"), adapter("2.13.0", {"aten::abs": native()}))


def judge_of(route: str, matrix: Matrix) -> Any:
    return {"eager": Judge(matrix, {}, "2.13.0"), "graph": GraphJudge(matrix, "2.13.0")}.get(
        route, OfflineJudge(matrix, "2.13.0")
    )


def called(name: str) -> OpCall:
    tensor = TensorSpec("float16", (1, 8, 2, 4))
    return OpCall(LIBRARY + name, "forward", (tensor,), (tensor,))


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("flash_attn", "flash_attn"),
        ("flash_attn.bert_padding", "flash_attn"),
        ("flash_attn_interface", "flash_attn_interface"),
        ("mmcv.ops.nms", "mmcv.ops"),
        ("mmcv", None),
        ("mmcv.opsy", None),
        ("numba.cuda", "numba.cuda"),
        ("numba", None),
        ("torch", None),
    ],
)
def test_the_package_of_a_name(name: str, package: str | None) -> None:
    found = package_of(name)
    assert (found.name if found else None) == package


def test_advice_is_of_the_function_where_there_is_one() -> None:
    assert "scaled_dot_product_attention" in facts_of("flash_attn.flash_attn_func")["advice"]
    assert "torch.nn.RMSNorm" in facts_of("flash_attn.ops.rms_norm.RMSNorm")["advice"]
    assert "npu_rotary_mul" in facts_of("flash_attn.layers.rotary.apply_rotary_emb")["advice"]
    assert facts_of("mamba_ssm.RMSNorm")["counterpart"]
    assert not facts_of("mamba_ssm.selective_scan_fn")["counterpart"]
    assert "Ascend C" in facts_of("kernels_of_my_own.f")["advice"]


@pytest.mark.parametrize(
    ("route", "name", "verdict", "rule"),
    [
        ("eager", "flash_attn.flash_attn_func", "unsupported", "OPS114"),
        ("graph", "flash_attn.flash_attn_func", "unsupported", "OPS114"),
        ("offline", "flash_attn.flash_attn_func", "unsupported", "OPS123"),
        ("eager", "kernels_of_my_own.f", "unsupported", "OPS114"),
        ("eager", "triton.add_kernel", "unknown", "OPS310"),
        ("graph", "triton.add_kernel", "unknown", "OPS310"),
        ("offline", "triton.add_kernel", "unsupported", "OPS123"),
        ("eager", "mmcv.ops.nms", "unknown", "OPS310"),
        ("eager", "bitsandbytes.Linear4bit", "unknown", "OPS310"),
    ],
)
def test_verdicts(matrix: Matrix, route: str, name: str, verdict: str, rule: str) -> None:
    ruling = judge_of(route, matrix).call(called(name))
    assert (ruling.verdict, ruling.rule) == (verdict, rule)
    assert ruling.evidence
    for lang in ("en", "zh"):
        assert "{" not in RULES[rule].say(lang, ruling.facts)


def test_each_language_has_its_advice() -> None:
    facts = facts_of("flash_attn.flash_attn_func")
    english, chinese = RULES["OPS610"].say("en", facts), RULES["OPS610"].say("zh", facts)
    assert "On an NPU, torch.nn.functional" in english
    assert "On an NPU" not in chinese
    assert "在 NPU 上可用 torch.nn.functional" in chinese
