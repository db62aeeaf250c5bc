"""torch_npu's own operators, by schemas declared here: this process has no torch_npu."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from opscan.probing.comparison import NoReference, compare, reference_of
from opscan.probing.samples.drawing import draw
from opscan.probing.samples.interface import Derived, Sample
from opscan.probing.signature import Signature, TensorArgument

SCHEMAS = (
    "npu_rms_norm(Tensor input, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)",
    "npu_fusion_attention_v3(Tensor query, Tensor key, Tensor value, int head_num, str input_layout, "
    "Tensor? pse=None, Tensor? padding_mask=None, Tensor? atten_mask=None, float scale=1., float keep_prob=1., "
    "int sparse_mode=0) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
    "npu_fusion_attention_grad_v3(Tensor query, Tensor key, Tensor value, Tensor dy, int head_num, str input_layout, "
    "*, Tensor? pse=None, Tensor? atten_mask=None, Tensor? softmax_max=None, Tensor? softmax_sum=None, "
    "Tensor? attention_in=None, float scale_value=1., float keep_prob=1., int sparse_mode=0) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
SHAPE = (2, 3, 5, 8)


@pytest.fixture(autouse=True)
def adapter() -> Iterator[None]:
    library = torch.library.Library("npu", "FRAGMENT")
    for schema in SCHEMAS:
        if not hasattr(torch.ops.npu, schema.partition("(")[0]):
            library.define(schema)
    yield
    library._destroy()


def sample(operator: str, *tensors: tuple[str, str, tuple[int, ...]], **attributes: Any) -> Sample:
    arguments = tuple(TensorArgument(*tensor) for tensor in tensors)
    return draw(Signature(operator, arguments, tuple((name, repr(value)) for name, value in attributes.items())))


def test_the_backward_of_a_product_has_a_reference_of_all_its_gradients() -> None:
    tensors = [("grad", "float32", (2, 4)), ("self", "float32", (2, 3)), ("other", "float32", (3, 4))]
    one = sample("aten::matmul_backward", *tensors, mask=[True, True])
    grad, left, right, _ = one.args
    alone = reference_of(sample("aten::matmul_backward", *tensors, mask=[False, True]))
    assert compare(alone, [left.T @ grad]).passed
    assert compare(reference_of(one), [grad @ right.T, left.T @ grad]).passed
    assert not compare(reference_of(one), [grad @ right.T, left.T @ grad + 0.1]).passed


def attention(**attributes: Any) -> Sample:
    tensors = [(name, "float16", SHAPE) for name in ("query", "key", "value")]
    mask = ("atten_mask", "bool", (2, 1, 5, 5))
    return sample(
        "npu::npu_fusion_attention_v3", *tensors, mask, head_num=3, input_layout="BNSD", scale=0.5, **attributes
    )


def expected_attention(one: Sample) -> Tensor:
    query, key, value = one.args[:3]
    mask = one.kwargs["atten_mask"]
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, ~mask, scale=0.5)


def test_a_norm_has_a_reference_without_a_kernel_on_the_cpu() -> None:
    one = sample("npu::npu_rms_norm", ("input", "bfloat16", (4, 6)), ("gamma", "bfloat16", (6,)))
    tensor, gamma = one.args[:2]
    right = torch.nn.functional.rms_norm(tensor.double(), (6,), gamma.double(), 1e-6).to(torch.bfloat16)
    found = compare(reference_of(one), [right, torch.zeros(4, 1)])
    assert found.errors is not None
    assert not found.passed  # the second result is wrong
    inverse = (tensor.double().square().mean(1, keepdim=True) + 1e-6).rsqrt().float()
    assert compare(reference_of(one), [right, inverse]).passed


def test_attention_is_compared_by_its_first_result() -> None:
    one = attention()
    rest = [torch.zeros(3) for _ in range(5)]
    found = compare(reference_of(one), [expected_attention(one), *rest])
    assert found.passed
    assert "result 1 serves the implementation alone" in found.note
    assert not compare(reference_of(one), [expected_attention(one) * 1.1, *rest]).passed


def test_every_query_sees_a_key() -> None:
    mask = attention().kwargs["atten_mask"]
    assert not mask.all(-1).any()
    causal = attention(sparse_mode=2).kwargs["atten_mask"]
    assert torch.equal(causal[0, 0], torch.ones(5, 5, dtype=torch.bool).triu(1))


def test_attention_that_drops_at_random_has_no_reference() -> None:
    with pytest.raises(NoReference):
        reference_of(attention(keep_prob=0.9))


def test_the_gradient_of_attention_is_given_what_the_devices_own_forward_run_saved() -> None:
    tensors = [(name, "float32", SHAPE) for name in ("query", "key", "value", "dy")]
    saved = [
        ("softmax_max", "float32", (2, 3, 5, 8)),
        ("softmax_sum", "float32", (2, 3, 5, 8)),
        ("attention_in", "float32", SHAPE),
    ]
    one = sample(
        "npu::npu_fusion_attention_grad_v3", *tensors, *saved, head_num=3, input_layout="BNSD", scale_value=0.5
    )
    assert {n for n, v in one.kwargs.items() if isinstance(v, Derived)} == {
        "softmax_max",
        "softmax_sum",
        "attention_in",
    }
    query, key, value = (tensor.clone().requires_grad_() for tensor in one.args[:3])
    torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=0.5).backward(one.args[3])
    gradients = [query.grad, key.grad, value.grad]
    assert all(isinstance(gradient, Tensor) for gradient in gradients)
    results = [*(g for g in gradients if g is not None), torch.zeros(0), torch.zeros(0)]
    assert compare(reference_of(one), results).passed
    assert not compare(reference_of(one), [results[0] + 0.1, *results[1:]]).passed
