"""Modules as models use them: forward, backward and optimizer step, in every floating dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves, tree_map

from observing.log import Attempt, Case

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)

Inputs = tuple[Any, ...]
Builder = Callable[[], tuple[nn.Module, Inputs]]


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def cases() -> list[Case]:
    builders = {**_convolutions(), **_linear_and_norms(), **_activations(), **_pooling_and_sampling(), **_losses()}
    builders |= {**_attention(), **_recurrent(), **_embeddings(), **_composed()}
    return [Case(name, lambda attempt, build=build: run_module(build, attempt)) for name, build in builders.items()] + [
        Case(f"optimizer {name}", lambda attempt, make=make: _optimize(make, attempt))
        for name, make in _optimizers().items()
    ]


def run_module(build: Builder, attempt: Attempt) -> None:
    """Forward and backward in training, forward alone in evaluation, in every floating dtype."""
    for dtype in FLOATS:
        for training in (True, False):
            module, inputs = build()
            module.to(dtype).npu().train(training)
            moved = tree_map(lambda leaf, dtype=dtype: _moved(leaf, dtype), inputs)
            if training:
                _forward_and_backward(module, moved, attempt)
            else:
                with torch.no_grad():
                    attempt("forward", lambda module=module, moved=moved: module(*moved))


def _moved(leaf: Any, dtype: torch.dtype) -> Any:
    if not isinstance(leaf, torch.Tensor):
        return leaf
    if leaf.is_floating_point():
        return leaf.to(dtype).npu().requires_grad_()
    return leaf.npu()


def _forward_and_backward(module: nn.Module, inputs: Inputs, attempt: Attempt) -> None:
    result = attempt("forward", lambda: module(*inputs))
    outputs = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if outputs:
        ones = [torch.ones_like(out) for out in outputs]
        attempt("backward", lambda: torch.autograd.backward(outputs, ones))


def _convolutions() -> dict[str, Builder]:
    image, clip, line = torch.randn(2, 8, 16, 16), torch.randn(2, 4, 6, 8, 8), torch.randn(2, 8, 32)
    return {
        "conv1d": lambda: (nn.Conv1d(8, 8, 3, padding=1), (line,)),
        "conv1d same": lambda: (nn.Conv1d(8, 8, 4, padding="same"), (line,)),
        "conv2d": lambda: (nn.Conv2d(8, 16, 3, padding=1), (image,)),
        "conv2d no bias": lambda: (nn.Conv2d(8, 16, 3, bias=False), (image,)),
        "conv2d depthwise": lambda: (nn.Conv2d(8, 8, 3, groups=8), (image,)),
        "conv2d strided": lambda: (nn.Conv2d(8, 8, 1, stride=2), (image,)),
        "conv2d dilated": lambda: (nn.Conv2d(8, 8, 3, dilation=2), (image,)),
        "conv2d reflect": lambda: (nn.Conv2d(8, 8, 3, padding=1, padding_mode="reflect"), (image,)),
        "conv2d circular": lambda: (nn.Conv2d(8, 8, 3, padding=1, padding_mode="circular"), (image,)),
        "conv3d": lambda: (nn.Conv3d(4, 8, 3, padding=1), (clip,)),
        "conv3d patches": lambda: (nn.Conv3d(4, 8, 2, stride=2, bias=False), (clip,)),
        "conv transpose 1d": lambda: (nn.ConvTranspose1d(8, 8, 4, stride=2), (line,)),
        "conv transpose 2d": lambda: (nn.ConvTranspose2d(8, 8, 4, stride=2, padding=1), (image,)),
        "conv transpose 3d": lambda: (nn.ConvTranspose3d(4, 4, 2, stride=2), (clip,)),
    }


def _linear_and_norms() -> dict[str, Builder]:
    rows, image, clip = torch.randn(4, 16), torch.randn(2, 8, 8, 8), torch.randn(2, 4, 4, 4, 4)
    words = torch.randn(2, 6, 16)
    return {
        "linear 2d": lambda: (nn.Linear(16, 8), (rows,)),
        "linear 3d": lambda: (nn.Linear(16, 8), (words,)),
        "linear no bias": lambda: (nn.Linear(16, 8, bias=False), (words,)),
        "bilinear": lambda: (nn.Bilinear(16, 16, 4), (rows, rows.clone())),
        "batch norm 1d": lambda: (nn.BatchNorm1d(16), (rows,)),
        "batch norm 2d": lambda: (nn.BatchNorm2d(8), (image,)),
        "batch norm 2d plain": lambda: (nn.BatchNorm2d(8, affine=False, track_running_stats=False), (image,)),
        "batch norm 3d": lambda: (nn.BatchNorm3d(4), (clip,)),
        "instance norm 2d": lambda: (nn.InstanceNorm2d(8), (image,)),
        "instance norm 2d affine": lambda: (nn.InstanceNorm2d(8, affine=True), (image,)),
        "group norm": lambda: (nn.GroupNorm(4, 8), (image,)),
        "layer norm": lambda: (nn.LayerNorm(16), (words,)),
        "layer norm plain": lambda: (nn.LayerNorm(16, elementwise_affine=False), (words,)),
        "layer norm no bias": lambda: (nn.LayerNorm(16, bias=False), (words,)),
        "rms norm": lambda: (nn.RMSNorm(16), (words,)),
        "local response norm": lambda: (nn.LocalResponseNorm(2), (image,)),
        "weight norm": lambda: (nn.utils.parametrizations.weight_norm(nn.Linear(16, 8)), (rows,)),
        "dropout": lambda: (nn.Dropout(0.5), (rows,)),
        "dropout 2d": lambda: (nn.Dropout2d(0.5), (image,)),
        "alpha dropout": lambda: (nn.AlphaDropout(0.5), (rows,)),
        "matmul": lambda: (Call(torch.matmul), (words, torch.randn(2, 16, 6))),
        "einsum": lambda: (Call(lambda a, b: torch.einsum("bij,bkj->bik", a, b)), (words, torch.randn(2, 5, 16))),
        "baddbmm": lambda: (Call(torch.baddbmm), (torch.randn(2, 6, 5), words, torch.randn(2, 16, 5))),
        "normalize": lambda: (Call(lambda x: F.normalize(x, dim=-1)), (words,)),
        "cosine similarity": lambda: (Call(F.cosine_similarity), (rows, rows.clone())),
        "cdist": lambda: (Call(torch.cdist), (words, words.clone())),
        "pixel shuffle": lambda: (nn.PixelShuffle(2), (image,)),
        "unfold": lambda: (nn.Unfold(3), (image,)),
        "fold": lambda: (nn.Fold((8, 8), 2, stride=2), (torch.randn(2, 16, 16),)),
    }


def _activations() -> dict[str, Builder]:
    x = torch.randn(2, 8, 6)
    modules: list[Callable[[], nn.Module]] = [
        nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.SELU, nn.CELU, nn.GELU, nn.SiLU, nn.Mish, nn.Sigmoid, nn.Tanh,
        nn.Hardswish, nn.Hardsigmoid, nn.Hardtanh, nn.Hardshrink, nn.Softshrink, nn.Softplus, nn.Softsign,
        nn.LogSigmoid, nn.Tanhshrink, nn.PReLU, nn.RReLU,
    ]  # fmt: skip
    named: dict[str, Callable[[], nn.Module]] = {module.__name__: module for module in modules}
    named |= {
        "GELU tanh": lambda: nn.GELU(approximate="tanh"),
        "GLU": lambda: nn.GLU(1),
        "Softmax": lambda: nn.Softmax(-1),
        "LogSoftmax": lambda: nn.LogSoftmax(-1),
        "Softmin": lambda: nn.Softmin(-1),
        "Threshold": lambda: nn.Threshold(0.1, 0.0),
        "ReLU in place": lambda: nn.Sequential(nn.Linear(6, 6), nn.ReLU(inplace=True)),
        "SiLU in place": lambda: nn.Sequential(nn.Linear(6, 6), nn.SiLU(inplace=True)),
        "Softmax float32": lambda: Call(lambda t: F.softmax(t, -1, dtype=torch.float32).to(t.dtype)),
    }
    return {f"activation {name}": lambda make=make: (make(), (x,)) for name, make in named.items()}


def _pooling_and_sampling() -> dict[str, Builder]:
    image, clip, line = torch.randn(2, 4, 8, 8), torch.randn(2, 3, 4, 8, 8), torch.randn(2, 4, 16)
    grid, grid3 = torch.rand(2, 5, 5, 2) * 2 - 1, torch.rand(2, 3, 5, 5, 3) * 2 - 1
    found: dict[str, Builder] = {
        "max pool 1d": lambda: (nn.MaxPool1d(2), (line,)),
        "max pool 2d": lambda: (nn.MaxPool2d(3, stride=2, padding=1), (image,)),
        "max pool 2d indices": lambda: (nn.MaxPool2d(2, return_indices=True), (image,)),
        "max pool 3d": lambda: (nn.MaxPool3d(2), (clip,)),
        "average pool 1d": lambda: (nn.AvgPool1d(2), (line,)),
        "average pool 2d": lambda: (nn.AvgPool2d(2), (image,)),
        "average pool 3d": lambda: (nn.AvgPool3d(2), (clip,)),
        "lp pool 2d": lambda: (nn.LPPool2d(2, 2), (image,)),
        "affine grid": lambda: (Call(lambda t: F.affine_grid(t, [2, 4, 6, 6])), (torch.randn(2, 2, 3),)),
    }
    for size in (1, 3):
        found |= {
            f"adaptive average pool 1d to {size}": lambda size=size: (nn.AdaptiveAvgPool1d(size), (line,)),
            f"adaptive average pool 2d to {size}": lambda size=size: (nn.AdaptiveAvgPool2d(size), (image,)),
            f"adaptive average pool 3d to {size}": lambda size=size: (nn.AdaptiveAvgPool3d(size), (clip,)),
            f"adaptive max pool 1d to {size}": lambda size=size: (nn.AdaptiveMaxPool1d(size), (line,)),
            f"adaptive max pool 2d to {size}": lambda size=size: (nn.AdaptiveMaxPool2d(size), (image,)),
        }
    modes = [(mode, line) for mode in ("nearest", "nearest-exact", "linear")]
    modes += [(mode, image) for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")]
    modes += [(mode, clip) for mode in ("nearest", "nearest-exact", "trilinear")]
    for mode, x in modes:
        found[f"upsample {mode} {x.dim() - 2}d"] = lambda mode=mode, x=x: (
            nn.Upsample(scale_factor=2.0, mode=mode),
            (x,),
        )
    for mode in ("bilinear", "bicubic"):
        found[f"interpolate {mode} antialias"] = lambda mode=mode: (
            Call(lambda t: F.interpolate(t, size=(5, 5), mode=mode, antialias=True)),
            (image,),
        )
        found[f"interpolate {mode} aligned"] = lambda mode=mode: (
            Call(lambda t: F.interpolate(t, size=(12, 12), mode=mode, align_corners=True)),
            (image,),
        )
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            found[f"grid sample {mode} {padding}"] = lambda mode=mode, padding=padding: (
                Call(lambda x, g: F.grid_sample(x, g, mode, padding, align_corners=False)),
                (image, grid),
            )
    found["grid sample 3d"] = lambda: (Call(lambda x, g: F.grid_sample(x, g, align_corners=True)), (clip, grid3))
    for mode in ("constant", "reflect", "replicate", "circular"):
        found[f"pad {mode} 2d"] = lambda mode=mode: (Call(lambda x: F.pad(x, (1, 1, 2, 2), mode)), (image,))
        found[f"pad {mode} 1d"] = lambda mode=mode: (Call(lambda x: F.pad(x, (1, 2), mode)), (line,))
    return found


def _losses() -> dict[str, Builder]:
    x, y, classes = torch.randn(4, 5), torch.randn(4, 5), torch.randint(0, 5, (4,))
    p, q = torch.rand(4, 5), torch.rand(4, 5)
    dense, labels = torch.randn(2, 5, 4, 4), torch.randint(0, 5, (2, 4, 4))
    found: dict[str, Builder] = {
        "cross entropy": lambda: (nn.CrossEntropyLoss(), (x, classes)),
        "cross entropy smoothed": lambda: (nn.CrossEntropyLoss(label_smoothing=0.1), (x, classes)),
        "cross entropy weighted": lambda: (nn.CrossEntropyLoss(weight=torch.rand(5)), (x, classes)),
        "cross entropy soft": lambda: (nn.CrossEntropyLoss(), (x, p)),
        "cross entropy dense": lambda: (nn.CrossEntropyLoss(ignore_index=0), (dense, labels)),
        "nll": lambda: (nn.NLLLoss(), (x, classes)),
        "mse": lambda: (nn.MSELoss(), (x, y)),
        "l1": lambda: (nn.L1Loss(), (x, y)),
        "smooth l1": lambda: (nn.SmoothL1Loss(), (x, y)),
        "huber": lambda: (nn.HuberLoss(), (x, y)),
        "bce": lambda: (Call(lambda a, b: F.binary_cross_entropy(a.sigmoid(), b.detach())), (x, p)),
        "bce with logits": lambda: (nn.BCEWithLogitsLoss(), (x, p)),
        "bce with logits weighted": lambda: (nn.BCEWithLogitsLoss(pos_weight=torch.rand(5)), (x, p)),
        "kl div": lambda: (nn.KLDivLoss(reduction="batchmean"), (x, q)),
        "kl div log": lambda: (nn.KLDivLoss(log_target=True), (x, q)),
        "poisson nll": lambda: (nn.PoissonNLLLoss(), (x, p)),
        "gaussian nll": lambda: (nn.GaussianNLLLoss(), (x, y, p)),
        "cosine embedding": lambda: (nn.CosineEmbeddingLoss(), (x, y, torch.tensor([1, -1, 1, -1]))),
        "margin ranking": lambda: (nn.MarginRankingLoss(), (x[:, 0], y[:, 0], torch.ones(4))),
        "triplet": lambda: (nn.TripletMarginLoss(), (x, y, p)),
        "hinge embedding": lambda: (nn.HingeEmbeddingLoss(), (x, torch.ones(4, 5))),
        "multilabel soft margin": lambda: (nn.MultiLabelSoftMarginLoss(), (x, p)),
        "soft margin": lambda: (nn.SoftMarginLoss(), (x, torch.ones(4, 5))),
        "ctc": lambda: (
            Call(lambda t, labels: F.ctc_loss(t.log_softmax(-1), labels, [6, 6], [3, 2])),
            (torch.randn(6, 2, 5), torch.randint(1, 5, (2, 3))),
        ),
        "ctc tensors": lambda: (
            Call(lambda t, labels, a, b: F.ctc_loss(t.log_softmax(-1), labels, a, b)),
            (torch.randn(6, 2, 5), torch.randint(1, 5, (2, 3)), torch.tensor([6, 6]), torch.tensor([3, 2])),
        ),
    }
    return {f"loss {name}": build for name, build in found.items()}


def _attention() -> dict[str, Builder]:
    q, causal = torch.randn(2, 4, 16, 32), torch.ones(16, 16, dtype=torch.bool).tril()
    added, words = torch.zeros(16, 16), torch.randn(2, 6, 32)

    def sdpa(*inputs: Any, **options: Any) -> Builder:
        return lambda: (Call(lambda *t: F.scaled_dot_product_attention(*t, **options)), inputs)

    def heads(**options: Any) -> Builder:
        return lambda: (
            Call2(nn.MultiheadAttention(32, 4, batch_first=True), lambda m, x: m(x, x, x, **options)),
            (words,),
        )

    return {
        "sdpa": sdpa(q, q.clone(), q.clone()),
        "sdpa causal": sdpa(q, q.clone(), q.clone(), is_causal=True),
        "sdpa bool mask": sdpa(q, q.clone(), q.clone(), causal),
        "sdpa float mask": sdpa(q, q.clone(), q.clone(), added),
        "sdpa dropout": sdpa(q, q.clone(), q.clone(), dropout_p=0.1),
        "sdpa scaled": sdpa(q, q.clone(), q.clone(), scale=0.5),
        "sdpa grouped": sdpa(q, q[:, :2], q[:, :2], enable_gqa=True),
        "sdpa cross": sdpa(q, q[:, :, :8], q[:, :, :8]),
        "sdpa 3d": sdpa(q[0], q[0].clone(), q[0].clone()),
        "sdpa one query": sdpa(q[:, :, :1], q.clone(), q.clone()),
        "multihead attention": heads(),
        "multihead attention without weights": heads(need_weights=False),
        "multihead attention masked": lambda: (
            Call2(nn.MultiheadAttention(32, 4, batch_first=True), lambda m, x, mask: m(x, x, x, key_padding_mask=mask)),
            (words, torch.zeros(2, 6, dtype=torch.bool)),
        ),
        "transformer encoder": lambda: (
            nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 1),
            (words,),
        ),
        "transformer encoder gelu": lambda: (
            nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", norm_first=True, batch_first=True),
            (words,),
        ),
        "transformer decoder": lambda: (
            nn.TransformerDecoderLayer(32, 4, 64, batch_first=True),
            (words, words.clone()),
        ),
    }


class Call2(nn.Module):
    """A module called in a way of its own."""

    def __init__(self, inner: nn.Module, call: Callable[..., Any]) -> None:
        super().__init__()
        self.inner, self.call = inner, call

    def forward(self, *args: Any) -> Any:
        return self.call(self.inner, *args)


def _recurrent() -> dict[str, Builder]:
    words = torch.randn(5, 2, 8)
    found: dict[str, Builder] = {}
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        for name, options in {
            "": {},
            " two layers": {"num_layers": 2},
            " both ways": {"bidirectional": True},
            " batch first": {"batch_first": True},
            " no bias": {"bias": False},
        }.items():
            found[kind.__name__ + name] = lambda kind=kind, options=options: (kind(8, 8, **options), (words,))
    for cell in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
        found[cell.__name__] = lambda cell=cell: (cell(8, 8), (words[0],))
    found["LSTM packed"] = lambda: (Call2(nn.LSTM(8, 8), _packed), (words,))
    return found


def _packed(lstm: nn.Module, words: torch.Tensor) -> Any:
    packed = nn.utils.rnn.pack_padded_sequence(words, torch.tensor([5, 3]))
    return nn.utils.rnn.pad_packed_sequence(lstm(packed)[0])


def _embeddings() -> dict[str, Builder]:
    ids, offsets = torch.randint(0, 10, (2, 6)), torch.tensor([0, 3])
    return {
        "embedding": lambda: (nn.Embedding(10, 8), (ids,)),
        "embedding int32": lambda: (nn.Embedding(10, 8), (ids.int(),)),
        "embedding padded": lambda: (nn.Embedding(10, 8, padding_idx=0), (ids,)),
        "embedding renormed": lambda: (nn.Embedding(10, 8, max_norm=1.0), (ids,)),
        "embedding bag": lambda: (nn.EmbeddingBag(10, 8), (ids.flatten(), offsets)),
        "embedding bag sum": lambda: (nn.EmbeddingBag(10, 8, mode="sum"), (ids,)),
        "embedding bag max": lambda: (nn.EmbeddingBag(10, 8, mode="max"), (ids,)),
        "one hot": lambda: (Call(lambda i: F.one_hot(i, 10)), (ids,)),
        "gumbel softmax": lambda: (Call(lambda x: F.gumbel_softmax(x, hard=True)), (torch.randn(2, 5),)),
    }


def _composed() -> dict[str, Builder]:
    """Fragments of models that people write by hand."""
    x, table = torch.randn(2, 6, 4, 8), torch.randn(6, 8)
    return {
        "rotary half": lambda: (Call(_rotate_half), (x, table)),
        "rotary complex": lambda: (Call(_rotate_complex), (torch.randn(2, 6, 4, 8),)),
        "rms norm by hand": lambda: (Call(lambda t: t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + 1e-6)), (x,)),
        "attention by hand": lambda: (Call(lambda t: torch.softmax(t @ t.transpose(-1, -2) / 8**0.5, -1) @ t), (x,)),
        "swiglu": lambda: (Call(lambda t: F.silu(t.chunk(2, -1)[0]) * t.chunk(2, -1)[1]), (x,)),
        "drop path": lambda: (Call(lambda t: t / 0.9 * t.new_empty(2, 1, 1, 1).bernoulli_(0.9)), (x,)),
        "window partition": lambda: (
            Call(lambda t: torch.roll(t, (1, 1), (1, 2)).view(2, 2, 3, 2, 2, 8).permute(0, 1, 3, 2, 4, 5).contiguous()),
            (x,),
        ),
        "moe routing": lambda: (Call(_route), (torch.randn(6, 8),)),
        "box iou": lambda: (Call(_box_iou), (torch.rand(5, 4), torch.rand(3, 4))),
        "causal mask": lambda: (Call(lambda t: t.masked_fill(torch.ones_like(t).triu(1).bool(), float("-inf"))), (x,)),
        "scatter mean": lambda: (
            Call(lambda t, i: torch.zeros_like(t).scatter_add(0, i[:, None].expand_as(t), t)),
            (table, torch.tensor([0, 0, 1, 1, 2, 2])),
        ),
    }


def _rotate_half(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    cos, sin = table.cos()[None, :, None], table.sin()[None, :, None]
    half = torch.cat((-x[..., 4:], x[..., :4]), dim=-1)
    return x * cos + half * sin


def _rotate_complex(x: torch.Tensor) -> torch.Tensor:
    wide = x.double() if x.dtype == torch.float64 else x.float()
    angles = torch.outer(torch.arange(6, device=x.device), torch.ones(4, device=x.device))
    turns = torch.polar(torch.ones_like(angles), angles)
    turned = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2)) * turns[None, :, None]
    return torch.view_as_real(turned).flatten(3).type_as(x)


def _route(x: torch.Tensor) -> torch.Tensor:
    weights, chosen = torch.topk(F.softmax(x, dim=-1, dtype=torch.float), 2, dim=-1)
    weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
    mask = F.one_hot(chosen, 8).permute(2, 1, 0)
    rows, columns = torch.where(mask[0])
    out = torch.zeros_like(x)
    out.index_add_(0, columns, x[columns] * weights[columns, rows, None])
    return out


def _box_iou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    low, high = torch.max(a[:, None, :2], b[None, :, :2]), torch.min(a[:, None, 2:], b[None, :, 2:])
    size = (high - low).clamp(min=0)
    areas = [(t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1]) for t in (a, b)]
    inner = size[..., 0] * size[..., 1]
    return inner / (areas[0][:, None] + areas[1][None] - inner)


def _optimizers() -> dict[str, Callable[[Any], torch.optim.Optimizer]]:
    found: dict[str, Callable[[Any], torch.optim.Optimizer]] = {}
    for foreach in (True, False):
        how = "foreach" if foreach else "loop"
        found |= {
            f"SGD {how}": lambda p, f=foreach: torch.optim.SGD(p, 0.1, foreach=f),
            f"SGD momentum {how}": lambda p, f=foreach: torch.optim.SGD(
                p, 0.1, momentum=0.9, weight_decay=0.01, nesterov=True, foreach=f
            ),
            f"Adam {how}": lambda p, f=foreach: torch.optim.Adam(p, foreach=f),
            f"Adam decayed {how}": lambda p, f=foreach: torch.optim.Adam(p, weight_decay=0.01, amsgrad=True, foreach=f),
            f"AdamW {how}": lambda p, f=foreach: torch.optim.AdamW(p, foreach=f),
            f"RMSprop {how}": lambda p, f=foreach: torch.optim.RMSprop(p, momentum=0.9, centered=True, foreach=f),
            f"Adagrad {how}": lambda p, f=foreach: torch.optim.Adagrad(p, foreach=f),
            f"Adadelta {how}": lambda p, f=foreach: torch.optim.Adadelta(p, foreach=f),
            f"Adamax {how}": lambda p, f=foreach: torch.optim.Adamax(p, foreach=f),
            f"NAdam {how}": lambda p, f=foreach: torch.optim.NAdam(p, foreach=f),
            f"RAdam {how}": lambda p, f=foreach: torch.optim.RAdam(p, foreach=f),
            f"Rprop {how}": lambda p, f=foreach: torch.optim.Rprop(p, foreach=f),
        }
    return found | {
        "Adam default": lambda p: torch.optim.Adam(p),
        "AdamW default": lambda p: torch.optim.AdamW(p),
        "SGD default": lambda p: torch.optim.SGD(p, 0.1),
        "Adam fused": lambda p: torch.optim.Adam(p, fused=True),
        "AdamW fused": lambda p: torch.optim.AdamW(p, fused=True),
        "SGD fused": lambda p: torch.optim.SGD(p, 0.1, fused=True),
        "SGD momentum fused": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, fused=True),
    }


def _optimize(make: Callable[[Any], torch.optim.Optimizer], attempt: Attempt) -> None:
    for dtype in FLOATS:
        model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 1)).to(dtype).npu()
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        try:
            optimizer = make(model.parameters())
        except Exception:  # an optimizer may refuse the device or the dtype
            continue
        for _ in range(2):
            attempt("optimizer", optimizer.step)
        attempt("optimizer", lambda model=model: nn.utils.clip_grad_norm_(model.parameters(), 1.0))
        attempt("optimizer", lambda model=model: nn.utils.clip_grad_value_(model.parameters(), 1.0))
        attempt("optimizer", lambda optimizer=optimizer: optimizer.zero_grad(set_to_none=False))
