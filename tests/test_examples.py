"""The examples run with plain torch on the CPU and compute what they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load("classifier", monkeypatch).build_model()
    with torch.no_grad():
        assert model(torch.rand(2, 3, 64, 64)).shape == (2, 1000)


def test_llama_with_its_cache_gives_what_it_gives_without(monkeypatch: pytest.MonkeyPatch) -> None:
    llama = load("llama_block", monkeypatch)
    torch.manual_seed(0)
    model = llama.Decoder(llama.Config(dim=32, layers=2, heads=4, kv_heads=2, hidden=48, vocabulary=50, max_tokens=16))
    tokens = torch.randint(50, (2, 6))
    with torch.no_grad():
        at_once = model(tokens, torch.arange(6))
        model(tokens[:, :5], torch.arange(5))
        last = model(tokens[:, 5:], torch.tensor([5]))
    torch.testing.assert_close(last, at_once)


def test_llama_attends_to_the_past_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    llama = load("llama_block", monkeypatch)
    attention = llama.Attention(llama.Config(dim=32, heads=4, kv_heads=2, max_tokens=8)).eval()
    rotary = llama.rotary_table(8, 8, 10000.0)
    x = torch.randn(1, 4, 32)
    changed = torch.cat((x[:, :3], torch.randn(1, 1, 32)), dim=1)
    with torch.no_grad():
        before = attention(x, rotary[:4], torch.arange(4))
        after = attention(changed, rotary[:4], torch.arange(4))
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[:, 3], before[:, 3])


def test_llama_70b_has_seventy_billion_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch.device("meta"):
        model = load("llama_70b", monkeypatch).build_model()
    assert sum(parameter.numel() for parameter in model.parameters()) == 70_553_706_496
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
    assert model.rotary.dtype == torch.complex64
    assert torch.get_default_dtype() == torch.float32


def test_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = load("detector", monkeypatch)
    model = detector.build_model()
    model.score_threshold = 0.0
    with torch.no_grad():
        boxes, scores, labels = model(torch.rand(1, 3, 64, 64))
    assert len(boxes) == len(scores) == len(labels) > 0
    assert boxes.shape[1] == 4
    assert bool((scores[:-1] >= scores[1:]).all())


def test_deformable_convolution_is_a_convolution_while_offsets_are_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = load("detector", monkeypatch).DeformableConv(3, 5)
    x = torch.randn(2, 3, 6, 7)
    weight = layer.mix.weight.view(5, 3, 3, 3)  # the taps are the rows of a 3×3 kernel
    expected = torch.nn.functional.conv2d(x, weight / 2, layer.mix.bias, padding=1)  # a gate of zero weighs one half
    with torch.no_grad():
        torch.testing.assert_close(layer(x), expected)


def test_nms_keeps_the_better_of_two_that_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    nms = load("detector", monkeypatch).nms
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 9, 9]])
    assert nms(boxes, torch.tensor([0.8, 0.9, 0.3, 0.1]), 0.5).tolist() == [1, 2]
    assert nms(boxes[:0], torch.tensor([]), 0.5).tolist() == []
