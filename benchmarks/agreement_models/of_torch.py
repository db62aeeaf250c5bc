"""Single modules and functions of torch that the adapter runs in its own way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement_models.interface import Built

Maker = Callable[[], tuple[Any, tuple[Any, ...]]]


def import_library() -> None:
    """torch is all."""


def build(name: str, train: bool) -> Built:
    import torch
    from torch import nn

    model, args = _CASES[name]()
    if not isinstance(model, nn.Module):
        model = _Function(model)
    if train:
        args = tuple(a.requires_grad_() if isinstance(a, torch.Tensor) and _may_have_gradient(a) else a for a in args)
    return Built(model.train(train), args, {})


def _may_have_gradient(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _Function(function: Callable[..., Any]) -> Any:
    from torch import nn

    class Function(nn.Module):
        def forward(self, *args: Any) -> Any:
            return function(*args)

    return Function()


def _recurrent(kind: str, packed: str = "", **options: Any) -> Maker:
    def make() -> tuple[Any, tuple[Any, ...]]:
        import torch
        from torch import nn
        from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

        module = getattr(nn, kind)(4, 6, **options)
        x = torch.randn(5, 3, 4)
        if not packed:
            return module, (x,)

        class Packed(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = module

            def forward(self, x: Any) -> Any:
                lengths = torch.tensor([5, 4, 2] if packed == "sorted" else [4, 5, 2])
                out, state = self.inner(pack_padded_sequence(x, lengths, enforce_sorted=packed == "sorted"))
                return pad_packed_sequence(out)[0], state

        return Packed(), (x,)

    return make


def _last_state(**options: Any) -> Maker:
    """A GRU on a packed sequence, of which the last state alone is used: the adapter cannot unpack the rest."""

    def make() -> tuple[Any, tuple[Any, ...]]:
        import torch
        from torch import nn
        from torch.nn.utils.rnn import pack_padded_sequence

        class LastState(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = nn.GRU(4, 6, **options)

            def forward(self, x: Any) -> Any:
                return self.inner(pack_padded_sequence(x, torch.tensor([5, 4, 2])))[1]

        return LastState(), (torch.randn(5, 3, 4),)

    return make


def _of(function: Callable[..., Any], *shapes: tuple[int, ...], dtype: str = "float32") -> Maker:
    def make() -> tuple[Any, tuple[Any, ...]]:
        import torch

        return function, tuple(torch.randn(s, dtype=getattr(torch, dtype)) for s in shapes)

    return make


def _pad(mode: str, dimensions: int) -> Maker:
    def pad(x: Any) -> Any:
        import torch

        return torch.nn.functional.pad(x, (1,) * 2 * dimensions, mode=mode)

    return _of(pad, (1, 2, *[4] * dimensions))


def _functional(expression: str, *shapes: tuple[int, ...], dtype: str = "float32") -> Maker:
    def run(*args: Any) -> Any:
        import torch

        return eval(expression, {"torch": torch, "F": torch.nn.functional, **dict(zip("abc", args, strict=False))})

    return _of(run, *shapes, dtype=dtype)


_RECURRENT = {
    "plain": {},
    "no bias": {"bias": False},
    "both ways": {"bidirectional": True},
    "both ways, no bias": {"bidirectional": True, "bias": False},
    "two layers, dropout": {"num_layers": 2, "dropout": 0.5},
    "two layers, both ways, dropout": {"num_layers": 2, "dropout": 0.5, "bidirectional": True},
    "three layers": {"num_layers": 3},
    "three layers, both ways": {"num_layers": 3, "bidirectional": True},
    "batch first": {"batch_first": True},
    "batch first, both ways": {"batch_first": True, "bidirectional": True},
}

_CASES: dict[str, Maker] = {
    **{f"LSTM {name}": _recurrent("LSTM", **options) for name, options in _RECURRENT.items()},
    **{f"GRU {name}": _recurrent("GRU", **options) for name, options in _RECURRENT.items()},
    "RNN": _recurrent("RNN"),
    "RNN both ways": _recurrent("RNN", bidirectional=True, num_layers=2),
    **{
        f"packed LSTM {name}": _recurrent("LSTM", "sorted", **_RECURRENT[name])
        for name in ("plain", "no bias", "both ways", "two layers, dropout", "two layers, both ways, dropout")
    },
    "packed LSTM unsorted": _recurrent("LSTM", "unsorted"),
    "packed GRU": _recurrent("GRU", "sorted"),
    "packed GRU, last state": _last_state(),
    "packed GRU, last state, both ways": _last_state(num_layers=2, bidirectional=True, dropout=0.5),
    "packed LSTM three layers": _recurrent("LSTM", "sorted", num_layers=3),
    "kl_div": _functional("F.kl_div(a, b)", (3, 4), (3, 4)),
    "kl_div, target detached": _functional("F.kl_div(a, b.detach())", (3, 4), (3, 4)),
    "kl_div, input detached": _functional("F.kl_div(a.detach(), b)", (3, 4), (3, 4)),
    "l1_loss": _functional("F.l1_loss(a, b)", (3, 4), (3, 4)),
    "l1_loss, target detached": _functional("F.l1_loss(a, b.detach())", (3, 4), (3, 4)),
    "l1_loss, input detached": _functional("F.l1_loss(a.detach(), b)", (3, 4), (3, 4)),
    "bce": _functional("F.binary_cross_entropy_with_logits(a, b)", (3, 4), (3, 4)),
    "bce, input detached": _functional("F.binary_cross_entropy_with_logits(a.detach(), b)", (3, 4), (3, 4)),
    "cdist": _functional("torch.cdist(a, b)", (3, 4), (5, 4)),
    "cdist, first detached": _functional("torch.cdist(a.detach(), b)", (3, 4), (5, 4)),
    "max_unpool2d": _functional("F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2)", (1, 2, 4, 4)),
    "max_pool1d": _functional("F.max_pool1d(a, 2)", (1, 2, 4)),
    "max_pool3d": _functional("F.max_pool3d(a, 2)", (1, 2, 4, 4, 4)),
    **{
        f"adaptive_{kind}_pool{d}d {size}": _functional(f"F.adaptive_{kind}_pool{d}d(a, {size})", (1, 2, *[4] * d))
        for kind in ("max", "avg")
        for d in (1, 2, 3)
        for size in (1, 2)
    },
    **{f"pad {d}d, {m}": _pad(m, d) for d in (1, 2, 3) for m in ("reflect", "replicate", "circular", "constant")},
    **{
        f"{window}_window": _functional(f"torch.{window}_window(8, device=a.device) * a", (8,))
        for window in ("hann", "hamming", "blackman", "bartlett", "kaiser")
    },
    "hann_window, dtype": _functional("torch.hann_window(8, device=a.device, dtype=torch.float32) * a", (8,)),
    "fftshift": _functional("torch.fft.fftshift(a)", (4, 4)),
    "fftshift, complex": _functional("torch.fft.fftshift(a)", (4, 4), dtype="complex64"),
    "fftshift, complex, detached": _functional("torch.fft.fftshift(a.detach()).real * b", (4, 4), (4, 4)),
    "one_hot": _functional("F.one_hot((a > 0).long(), 4) * b", (3,), (3, 4)),
    "one_hot, no count": _functional("F.one_hot((a > 0).long())", (3,)),
    "write to a flat view": _functional("(a * b).flatten(1).mul_(b.flatten(1))", (2, 4, 3), (2, 4, 3)),
    "normalize": _functional("F.normalize(a)", (3, 4)),
    "cosine_similarity": _functional("F.cosine_similarity(a, b)", (3, 4), (3, 4)),
    "cross_entropy": _functional("F.cross_entropy(a, b.softmax(-1))", (3, 4), (3, 4)),
    "cond": _functional("torch.cond(a.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (a,))", (3, 4)),
}

NAMES = tuple(_CASES)
