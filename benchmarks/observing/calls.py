"""Single calls that modules do not make: casts, factories, indexing, sorting, complex and Fourier operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from observing.log import Attempt, Case

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
RARE = (torch.uint16, torch.uint32, torch.uint64, torch.complex32, torch.float8_e4m3fn, torch.float8_e5m2)
COMMON = (*FLOATS, *INTEGERS, torch.bool, *COMPLEX)
ALL = (*COMMON, *RARE)

Tensor = torch.Tensor
Function = Callable[[Tensor], Any]


def cases() -> list[Case]:
    lists = {
        "casts": (_casts(), ALL),
        "factories": (_factories(), ALL),
        "rare": (_arithmetic(), (*RARE, *COMPLEX, torch.int16, torch.int8)),
        "indexing": (_indexing(), ALL),
        "sorting": (_sorting(), COMMON),
        "scatter": (_scatter(), COMMON),
        "reductions": (_reductions(), COMMON),
        "complex": (_complex(), (*FLOATS, *COMPLEX)),
        "random": (_random(), ALL),
        "foreach": (_foreach(), COMMON),
        "comparisons": (_comparisons(), COMMON),
    }
    found = [Case(f"{group}: {name}", _each(function, dtypes)) for group, (calls, dtypes) in lists.items()
             for name, function in calls.items()]  # fmt: skip
    return [*found, Case("casts of all pairs", _pairs), Case("copies of all pairs", _copies)]


def _each(function: Function, dtypes: tuple[torch.dtype, ...]) -> Callable[[Attempt], None]:
    def run(attempt: Attempt) -> None:
        for dtype in dtypes:
            x = sample((4, 4), dtype)
            if x is not None:
                attempt("forward", lambda x=x: function(x))

    return run


def sample(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor | None:
    """Small values on the device; they are made on the CPU, so that no operator of the device is marked."""
    try:
        count = torch.tensor(shape).prod().item()
        return (torch.arange(count).reshape(shape) % 4).to(dtype).npu()
    except Exception:  # the host itself may not cast to the dtype
        return None


def _pairs(attempt: Attempt) -> None:
    for source in ALL:
        x = sample((4,), source)
        for onto in ALL:
            if x is not None:
                attempt("forward", lambda x=x, onto=onto: x.to(onto))
                attempt("forward", lambda x=x, onto=onto: x.t().to(onto, copy=True))


def _copies(attempt: Attempt) -> None:
    for source in ALL:
        x = sample((4,), source)
        for onto in ALL:
            y = sample((4,), onto)
            if x is not None and y is not None:
                attempt("forward", lambda x=x, y=y: y.copy_(x))


def _casts() -> dict[str, Function]:
    return {
        "to cpu": lambda x: x.cpu(),
        "to cpu async": lambda x: x.to("cpu", non_blocking=True),
        "to npu": lambda x: x.cpu().to("npu"),
        "to npu async": lambda x: x.cpu().to("npu", non_blocking=True),
        "clone": lambda x: x.clone(),
        "clone strided": lambda x: x.t().clone(),
        "contiguous": lambda x: x.t().contiguous(),
        "channels last": lambda x: x.reshape(1, 1, 4, 4).to(memory_format=torch.channels_last),
        "channels last contiguous": lambda x: x.reshape(1, 1, 4, 4).contiguous(memory_format=torch.channels_last),
        "type_as": lambda x: x.type_as(torch.empty(1, device="npu")),
        "item": lambda x: x[0, 0].item(),
        "tolist": lambda x: x[0].tolist(),
        "bool": lambda x: bool(x[0, 0]),
        "view dtype": lambda x: x.view(torch.uint8),
        "set item": lambda x: x.__setitem__(0, 1),
        "set row": lambda x: x.__setitem__(0, x[1]),
        "print": lambda x: repr(x),
        "cat": lambda x: torch.cat((x, x)),
        "stack": lambda x: torch.stack((x, x)),
        "split": lambda x: torch.split(x, 2),
        "chunk": lambda x: x.chunk(2),
        "repeat": lambda x: x.repeat(2, 1),
        "tile": lambda x: x.tile(2),
        "repeat_interleave": lambda x: x.repeat_interleave(2, dim=1),
        "repeat_interleave tensor": lambda x: x.repeat_interleave(torch.tensor([1, 2, 1, 2], device="npu"), dim=0),
        "roll": lambda x: x.roll(1, 0),
        "flip": lambda x: x.flip(0),
        "tril": lambda x: x.tril(),
        "triu": lambda x: x.triu(),
        "diag": lambda x: x.diag(),
        "diag_embed": lambda x: torch.diag_embed(x),
        "meshgrid": lambda x: torch.meshgrid(x[0], x[1], indexing="ij"),
        "view_as": lambda x: x.view(16).reshape(2, 8).permute(1, 0).transpose(0, 1).unsqueeze(0).squeeze(0).flatten(),
        "expand": lambda x: x[None].expand(3, 4, 4),
        "unfold": lambda x: x.unfold(0, 2, 1),
        "as_strided": lambda x: x.as_strided((2, 2), (2, 1)),
        "narrow": lambda x: x.narrow(0, 1, 2),
        "unbind": lambda x: x.unbind(),
        "pad": lambda x: torch.nn.functional.pad(x, (1, 1)),
        "detach": lambda x: x.detach(),
        "rot90": lambda x: torch.rot90(x),
        "kron": lambda x: torch.kron(x, x),
        "block_diag": lambda x: torch.block_diag(x, x),
        "cartesian_prod": lambda x: torch.cartesian_prod(x[0], x[1]),
        "combinations": lambda x: torch.combinations(x[0]),
    }


def _factories() -> dict[str, Function]:
    on: dict[str, Any] = {"device": "npu"}
    return {
        "empty": lambda x: torch.empty(3, dtype=x.dtype, **on),
        "zeros": lambda x: torch.zeros(3, dtype=x.dtype, **on),
        "ones": lambda x: torch.ones(3, dtype=x.dtype, **on),
        "full": lambda x: torch.full((3,), 1, dtype=x.dtype, **on),
        "arange": lambda x: torch.arange(3, dtype=x.dtype, **on),
        "arange from": lambda x: torch.arange(1, 9, dtype=x.dtype, **on),
        "arange start": lambda x: torch.arange(1, 9, 2, dtype=x.dtype, **on),
        "linspace": lambda x: torch.linspace(0, 1, 3, dtype=x.dtype, **on),
        "logspace": lambda x: torch.logspace(0, 1, 3, dtype=x.dtype, **on),
        "eye": lambda x: torch.eye(3, dtype=x.dtype, **on),
        "tri": lambda x: torch.tril_indices(3, 3, dtype=x.dtype, **on),
        "triu indices": lambda x: torch.triu_indices(3, 3, dtype=x.dtype, **on),
        "rand": lambda x: torch.rand(3, dtype=x.dtype, **on),
        "randn": lambda x: torch.randn(3, dtype=x.dtype, **on),
        "randint": lambda x: torch.randint(0, 4, (3,), dtype=x.dtype, **on),
        "randint low": lambda x: torch.randint(1, 4, (3,), dtype=x.dtype, **on),
        "randperm": lambda x: torch.randperm(4, dtype=x.dtype, **on),
        "normal": lambda x: torch.normal(0.0, 1.0, (3,), dtype=x.dtype, **on),
        "tensor": lambda x: torch.tensor([1, 2], dtype=x.dtype, **on),
        "scalar tensor": lambda x: torch.scalar_tensor(1, dtype=x.dtype, **on),
        "empty strided": lambda x: torch.empty_strided((2, 2), (2, 1), dtype=x.dtype, **on),
        "hann window": lambda x: torch.hann_window(4, dtype=x.dtype, **on),
        "hamming window": lambda x: torch.hamming_window(4, dtype=x.dtype, **on),
        "empty_like": lambda x: torch.empty_like(x),
        "zeros_like": lambda x: torch.zeros_like(x),
        "ones_like": lambda x: torch.ones_like(x),
        "full_like": lambda x: torch.full_like(x, 2),
        "rand_like": lambda x: torch.rand_like(x),
        "randn_like": lambda x: torch.randn_like(x),
        "randint_like": lambda x: torch.randint_like(x, 4),
        "new_empty": lambda x: x.new_empty(3),
        "new_zeros": lambda x: x.new_zeros(3),
        "new_ones": lambda x: x.new_ones(3),
        "new_full": lambda x: x.new_full((3,), 2),
        "new_tensor": lambda x: x.new_tensor([1, 2]),
        "zero_": lambda x: x.clone().zero_(),
        "fill_": lambda x: x.clone().fill_(1),
        "fill_ tensor": lambda x: x.clone().fill_(x[0, 0]),
    }


def _arithmetic() -> dict[str, Function]:
    return {
        "add": lambda x: x + x,
        "add scalar": lambda x: x + 1,
        "add_": lambda x: x.add_(x),
        "sub": lambda x: x - x,
        "rsub": lambda x: 1 - x,
        "mul": lambda x: x * x,
        "mul scalar": lambda x: x * 2,
        "mul_": lambda x: x.mul_(2),
        "div": lambda x: x / x,
        "div scalar": lambda x: x / 2,
        "floor divide": lambda x: x // 2,
        "remainder": lambda x: x % 2,
        "matmul": lambda x: x @ x,
        "mv": lambda x: x @ x[0],
        "bmm": lambda x: torch.bmm(x[None], x[None]),
        "addmm": lambda x: torch.addmm(x, x, x),
        "linear": lambda x: torch.nn.functional.linear(x, x, x[0]),
        "outer": lambda x: torch.outer(x[0], x[1]),
        "dot": lambda x: torch.dot(x[0], x[1]),
        "neg": lambda x: -x,
        "abs": lambda x: x.abs(),
        "exp": lambda x: x.exp(),
        "sqrt": lambda x: x.sqrt(),
        "pow": lambda x: x.pow(2),
        "sum": lambda x: x.sum(),
        "mean": lambda x: x.mean(),
        "cumsum": lambda x: x.cumsum(0),
        "eq": lambda x: x == x,
        "lt": lambda x: x < 1,
        "where": lambda x: torch.where(x == 1, x, x),
        "and": lambda x: x & x,
        "shift": lambda x: x >> 1,
        "clamp": lambda x: x.clamp(0, 1),
        "masked_fill": lambda x: x.masked_fill(torch.ones(4, 4, dtype=torch.bool, device="npu"), 0),
        "scaled_mm": lambda x: torch._scaled_mm(
            x, x.t(), torch.ones((), device="npu"), torch.ones((), device="npu"), out_dtype=torch.float32
        ),
    }


def _indexing() -> dict[str, Function]:
    ids = torch.tensor([0, 2])
    mask = torch.arange(16).reshape(4, 4) % 2 == 0
    row = torch.tensor([True, False, True, False])
    every = torch.ones(4, dtype=torch.bool)  # the simulated runtime finds as many in any mask
    four = torch.arange(4)
    return {
        "int": lambda x: x[1],
        "slice": lambda x: x[1:3, ::2],
        "list": lambda x: x[[0, 2]],
        "tensor": lambda x: x[ids.npu()],
        "tensor int32": lambda x: x[ids.npu().int()],
        "two tensors": lambda x: x[ids.npu(), ids.npu()],
        "column tensor": lambda x: x[:, ids.npu()],
        "mixed": lambda x: x[ids.npu(), :, None],
        "bool": lambda x: x[mask.npu()],
        "bool row.npu()": lambda x: x[row.npu()],
        "bool and tensor": lambda x: x[every.npu(), four.npu()],
        "tensor and bool": lambda x: x[four.npu(), every.npu()],
        "none": lambda x: x[None, ..., None],
        "put tensor": lambda x: x.__setitem__(ids.npu(), x[:2].clone()),
        "put two tensors": lambda x: x.__setitem__((ids.npu(), ids.npu()), x[0, :2].clone()),
        "put scalar": lambda x: x.__setitem__(ids.npu(), 1),
        "put bool": lambda x: x.__setitem__(mask.npu(), 1),
        "put bool row.npu()": lambda x: x.__setitem__(row.npu(), x[0].clone()),
        "put bool tensor": lambda x: x.__setitem__(mask.npu(), x[mask.npu()]),
        "put bool and tensor": lambda x: x.__setitem__((every.npu(), four.npu()), 1),
        "put tensor and bool": lambda x: x.__setitem__((four.npu(), every.npu()), x[0].clone()),
        "index_put accumulate": lambda x: x.index_put_((ids.npu(),), x[:2].clone(), accumulate=True),
        "index_put": lambda x: x.index_put((ids.npu(),), x[:2]),
        "index_select": lambda x: x.index_select(0, ids.npu()),
        "index_select int32": lambda x: x.index_select(1, ids.npu().int()),
        "index_add": lambda x: x.index_add(0, ids.npu(), x[:2]),
        "index_copy": lambda x: x.index_copy(0, ids.npu(), x[:2]),
        "index_fill": lambda x: x.index_fill(0, ids.npu(), 1),
        "take": lambda x: x.take(ids.npu()),
        "take_along_dim": lambda x: x.take_along_dim(ids.npu()[None].expand(4, 2), 1),
        "masked_select": lambda x: x.masked_select(mask.npu()),
        "masked_fill": lambda x: x.masked_fill(mask.npu(), 0),
        "masked_fill_": lambda x: x.masked_fill_(mask.npu(), 0),
        "masked_fill tensor": lambda x: x.masked_fill(mask.npu(), x[0, 0]),
        "masked_scatter": lambda x: x.masked_scatter(mask.npu(), x),
        "masked_scatter_": lambda x: x.masked_scatter_(mask.npu(), x),
        "nonzero": lambda x: x.nonzero(),
        "nonzero tuple": lambda x: x.nonzero(as_tuple=True),
        "argwhere": lambda x: torch.argwhere(x),
        "count_nonzero": lambda x: x.count_nonzero(),
        "where": lambda x: torch.where(mask.npu(), x, x),
        "where scalar": lambda x: torch.where(mask.npu(), x, 0),
        "where condition": lambda x: torch.where(x),
        "embedding": lambda x: torch.nn.functional.embedding(ids.npu(), x),
        "isin": lambda x: torch.isin(x, x[0]),
        "isin scalar": lambda x: torch.isin(x, 1),
        "searchsorted": lambda x: torch.searchsorted(x[0], x[1]),
        "bucketize": lambda x: torch.bucketize(x, x[0]),
    }


def _sorting() -> dict[str, Function]:
    return {
        "sort": lambda x: x.sort(),
        "sort descending": lambda x: x.sort(dim=0, descending=True),
        "sort stable": lambda x: x.sort(stable=True),
        "argsort": lambda x: x.argsort(),
        "argsort stable": lambda x: x.argsort(stable=True, descending=True),
        "topk": lambda x: x.topk(2),
        "topk smallest": lambda x: x.topk(2, largest=False, dim=0),
        "kthvalue": lambda x: x.kthvalue(1),
        "median": lambda x: x.median(),
        "median dim": lambda x: x.median(0),
        "nanmedian": lambda x: x.nanmedian(),
        "mode": lambda x: x.mode(),
        "quantile": lambda x: x.quantile(0.5),
        "unique": lambda x: x.unique(),
        "unique unsorted": lambda x: x.unique(sorted=False),
        "unique inverse": lambda x: x.unique(return_inverse=True, return_counts=True),
        "unique dim": lambda x: x.unique(dim=0),
        "unique dim inverse": lambda x: x.unique(dim=0, return_inverse=True, return_counts=True),
        "unique consecutive": lambda x: x.unique_consecutive(),
        "unique consecutive dim": lambda x: x.unique_consecutive(dim=0),
        "max": lambda x: x.max(),
        "max dim": lambda x: x.max(0),
        "min": lambda x: x.min(),
        "min dim": lambda x: x.min(0),
        "amax": lambda x: x.amax(0),
        "amin": lambda x: x.amin(0),
        "aminmax": lambda x: x.aminmax(),
        "argmax": lambda x: x.argmax(),
        "argmax dim": lambda x: x.argmax(0),
        "argmin": lambda x: x.argmin(0),
        "histc": lambda x: x.histc(4),
        "bincount": lambda x: x[0].bincount(),
        "bincount weights": lambda x: x[0].bincount(torch.ones(4, device="npu")),
        "multinomial": lambda x: torch.multinomial(x + 1, 2),
        "multinomial replaced": lambda x: torch.multinomial(x + 1, 8, replacement=True),
        "cummax": lambda x: x.cummax(0),
        "cummin": lambda x: x.cummin(0),
    }


def _scatter() -> dict[str, Function]:
    ids = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]])
    found: dict[str, Function] = {
        "gather": lambda x: x.gather(0, ids.npu()),
        "gather negative": lambda x: x.gather(-1, ids.npu()),
        "scatter": lambda x: x.scatter(0, ids.npu(), x),
        "scatter_": lambda x: x.scatter_(0, ids.npu(), x),
        "scatter value": lambda x: x.scatter(0, ids.npu(), 1),
        "scatter_ value": lambda x: x.scatter_(0, ids.npu(), 1),
        "scatter add": lambda x: x.scatter(0, ids.npu(), x, reduce="add"),
        "scatter multiply": lambda x: x.scatter(0, ids.npu(), x, reduce="multiply"),
        "scatter value add": lambda x: x.scatter(0, ids.npu(), 2, reduce="add"),
        "scatter_add": lambda x: x.scatter_add(0, ids.npu(), x),
        "scatter_add_": lambda x: x.scatter_add_(0, ids.npu(), x),
        "slice_scatter": lambda x: x.slice_scatter(x[:2], 0, 0, 2),
        "select_scatter": lambda x: x.select_scatter(x[0], 0, 1),
        "diagonal_scatter": lambda x: x.diagonal_scatter(x[0]),
        "put_": lambda x: x.put_(ids.npu()[0], x[0].clone()),
    }
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for own in (True, False):
            how = "" if own else " without self"
            found[f"scatter_reduce {reduce}{how}"] = lambda x, r=reduce, own=own: x.scatter_reduce(
                0, ids.npu(), x, r, include_self=own
            )
        found[f"scatter_reduce_ {reduce}"] = lambda x, r=reduce: x.scatter_reduce_(0, ids.npu(), x, r)
        if reduce != "sum":
            found[f"index_reduce {reduce}"] = lambda x, r=reduce: x.index_reduce(0, ids.npu()[0], x, r)
    return found


def _reductions() -> dict[str, Function]:
    return {
        "sum": lambda x: x.sum(),
        "sum dim": lambda x: x.sum(0),
        "sum float32": lambda x: x.sum(0, dtype=torch.float32),
        "mean": lambda x: x.mean(),
        "mean dim": lambda x: x.mean(-1, keepdim=True),
        "mean float32": lambda x: x.mean(0, dtype=torch.float32),
        "prod": lambda x: x.prod(),
        "prod dim": lambda x: x.prod(0),
        "var": lambda x: x.var(),
        "var dim": lambda x: x.var(0, correction=0),
        "std": lambda x: x.std(),
        "std dim": lambda x: x.std(0),
        "var_mean": lambda x: torch.var_mean(x, 0),
        "norm": lambda x: x.norm(),
        "norm 1": lambda x: x.norm(1, 0),
        "vector norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
        "matrix norm": lambda x: torch.linalg.matrix_norm(x),
        "logsumexp": lambda x: x.logsumexp(0),
        "cumsum": lambda x: x.cumsum(0),
        "cumsum_": lambda x: x.cumsum_(0),
        "cumprod": lambda x: x.cumprod(0),
        "logcumsumexp": lambda x: x.logcumsumexp(0),
        "diff": lambda x: x.diff(),
        "trace": lambda x: x.trace(),
        "nansum": lambda x: x.nansum(),
        "nanmean": lambda x: x.nanmean(),
        "all": lambda x: x.all(),
        "all dim": lambda x: x.all(0),
        "any": lambda x: x.any(),
        "any dim": lambda x: x.any(0),
        "softmax": lambda x: x.softmax(-1),
        "log_softmax": lambda x: x.log_softmax(-1),
        "det": lambda x: torch.linalg.det(x),
        "inverse": lambda x: torch.linalg.inv(x),
        "svd": lambda x: torch.linalg.svd(x),
        "qr": lambda x: torch.linalg.qr(x),
        "cholesky": lambda x: torch.linalg.cholesky(x),
        "solve": lambda x: torch.linalg.solve(x, x),
        "eigh": lambda x: torch.linalg.eigh(x),
        "matrix_power": lambda x: torch.matrix_power(x, 2),
        "cross": lambda x: torch.linalg.cross(x[:3, :3], x[:3, :3]),
    }


def _complex() -> dict[str, Function]:
    def pairs(x: Tensor) -> Tensor:
        return x if x.is_complex() else torch.view_as_complex(x.reshape(8, 2))

    return {
        "polar": lambda x: torch.polar(x, x),
        "complex": lambda x: torch.complex(x, x),
        "view_as_complex": lambda x: pairs(x),
        "view_as_real": lambda x: torch.view_as_real(pairs(x)),
        "real": lambda x: pairs(x).real,
        "imag": lambda x: pairs(x).imag,
        "real copy": lambda x: pairs(x).real.clone(),
        "conj": lambda x: pairs(x).conj(),
        "conj resolved": lambda x: pairs(x).conj().resolve_conj(),
        "conj mul": lambda x: pairs(x).conj() * pairs(x),
        "angle": lambda x: pairs(x).angle(),
        "abs": lambda x: pairs(x).abs(),
        "mul": lambda x: pairs(x) * pairs(x),
        "mul real": lambda x: pairs(x) * 2,
        "add": lambda x: pairs(x) + pairs(x),
        "div": lambda x: pairs(x) / pairs(x),
        "exp": lambda x: pairs(x).exp(),
        "sum": lambda x: pairs(x).sum(),
        "gather": lambda x: pairs(x).reshape(-1).gather(0, torch.zeros(2, dtype=torch.long, device="npu")),
        "index": lambda x: pairs(x).reshape(-1)[torch.zeros(2, dtype=torch.long, device="npu")],
        "index_select": lambda x: pairs(x).reshape(-1).index_select(0, torch.zeros(2, dtype=torch.long, device="npu")),
        "cat": lambda x: torch.cat((pairs(x), pairs(x))),
        "stack": lambda x: torch.stack((pairs(x), pairs(x))),
        "matmul": lambda x: pairs(x).reshape(-1, 4) @ pairs(x).reshape(4, -1),
        "fft": lambda x: torch.fft.fft(x),
        "fft pairs": lambda x: torch.fft.fft(pairs(x)),
        "ifft": lambda x: torch.fft.ifft(pairs(x)),
        "rfft": lambda x: torch.fft.rfft(x),
        "irfft": lambda x: torch.fft.irfft(pairs(x).reshape(4, -1)),
        "fft2": lambda x: torch.fft.fft2(x),
        "rfft2": lambda x: torch.fft.rfft2(x),
        "irfft2": lambda x: torch.fft.irfft2(pairs(x).reshape(4, -1)),
        "fftn": lambda x: torch.fft.fftn(x),
        "fftshift": lambda x: torch.fft.fftshift(x),
        "rfft strided": lambda x: torch.fft.rfft(x.t()),
        "stft": lambda x: torch.stft(x.reshape(1, 16), 4, return_complex=True),
        "stft window": lambda x: torch.stft(
            x.reshape(1, 16), 4, window=torch.ones(4, dtype=x.dtype, device="npu"), return_complex=True
        ),
        "istft": lambda x: torch.istft(
            torch.complex(torch.ones(1, 3, 5, dtype=x.dtype), torch.ones(1, 3, 5, dtype=x.dtype)).npu(),
            4,
            window=torch.ones(4, dtype=x.dtype).npu(),
        ),
    }


def _random() -> dict[str, Function]:
    return {
        "normal_": lambda x: x.normal_(),
        "uniform_": lambda x: x.uniform_(),
        "random_": lambda x: x.random_(),
        "random_ to": lambda x: x.random_(4),
        "random_ range": lambda x: x.random_(0, 4),
        "exponential_": lambda x: x.exponential_(),
        "bernoulli": lambda x: torch.bernoulli(x),
        "bernoulli_": lambda x: x.bernoulli_(0.5),
        "bernoulli_ tensor": lambda x: x.bernoulli_(torch.full((4, 4), 0.5, device="npu")),
        "log_normal_": lambda x: x.log_normal_(),
        "geometric_": lambda x: x.geometric_(0.5),
        "cauchy_": lambda x: x.cauchy_(),
        "poisson": lambda x: torch.poisson(x),
        "normal tensors": lambda x: torch.normal(x, x),
        "normal mean": lambda x: torch.normal(x, 1.0),
        "normal std": lambda x: torch.normal(0.0, x),
        "dropout": lambda x: torch.nn.functional.dropout(x),
        "trunc_normal_": lambda x: torch.nn.init.trunc_normal_(x),
    }


_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal"
    " round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc zero"
)


def _foreach() -> dict[str, Function]:
    found: dict[str, Function] = {}
    for name in _UNARY.split():
        for suffix in ("", "_"):
            function = getattr(torch, f"_foreach_{name}{suffix}", None)
            if function is not None:
                found[f"{name}{suffix}"] = lambda x, f=function: f([x.clone(), x.clone()])
    for name in ("add", "sub", "mul", "div", "maximum", "minimum", "clamp_max", "clamp_min", "pow"):
        for suffix in ("", "_"):
            function = getattr(torch, f"_foreach_{name}{suffix}")
            found |= {
                f"{name}{suffix} scalar": lambda x, f=function: f([x.clone(), x.clone()], 2),
                f"{name}{suffix} scalars": lambda x, f=function: f([x.clone(), x.clone()], [2, 3]),
                f"{name}{suffix} list": lambda x, f=function: f([x.clone(), x.clone()], [x, x]),
                f"{name}{suffix} tensor": lambda x, f=function: f([x.clone(), x.clone()], x[0, 0]),
            }
    for name in ("addcmul", "addcdiv"):
        for suffix in ("", "_"):
            function = getattr(torch, f"_foreach_{name}{suffix}")
            found |= {
                f"{name}{suffix}": lambda x, f=function: f([x.clone(), x.clone()], [x, x], [x, x], 0.5),
                f"{name}{suffix} scalars": lambda x, f=function: f([x.clone(), x.clone()], [x, x], [x, x], [0.5, 1.0]),
                f"{name}{suffix} tensor": lambda x, f=function: f(
                    [x.clone(), x.clone()], [x, x], [x, x], torch.tensor([0.5, 1.0])
                ),
            }
    for suffix in ("", "_"):
        function = getattr(torch, f"_foreach_lerp{suffix}")
        found |= {
            f"lerp{suffix} scalar": lambda x, f=function: f([x.clone(), x.clone()], [x, x], 0.5),
            f"lerp{suffix} list": lambda x, f=function: f([x.clone(), x.clone()], [x, x], [x, x]),
        }
    return found | {
        "norm": lambda x: torch._foreach_norm([x, x]),
        "norm 1": lambda x: torch._foreach_norm([x, x], 1),
        "max": lambda x: torch._foreach_max([x, x]),
        "copy_": lambda x: torch._foreach_copy_([x.clone(), x.clone()], [x, x]),
        "finite check": lambda x: torch._amp_foreach_non_finite_check_and_unscale_(
            [x], torch.zeros(1, device="npu"), torch.ones(1, device="npu")
        ),
    }


def _comparisons() -> dict[str, Function]:
    return {
        "eq": lambda x: x == x,
        "ne": lambda x: x != 1,
        "lt": lambda x: x < x,
        "le": lambda x: x <= 1,
        "gt": lambda x: x > x,
        "ge": lambda x: x >= 1,
        "isnan": lambda x: x.isnan(),
        "isinf": lambda x: x.isinf(),
        "isfinite": lambda x: x.isfinite(),
        "isneginf": lambda x: x.isneginf(),
        "isclose": lambda x: torch.isclose(x, x),
        "allclose": lambda x: torch.allclose(x, x),
        "equal": lambda x: torch.equal(x, x),
        "logical_and": lambda x: torch.logical_and(x, x),
        "logical_or": lambda x: torch.logical_or(x, x),
        "logical_not": lambda x: torch.logical_not(x),
        "logical_xor": lambda x: torch.logical_xor(x, x),
        "and": lambda x: x & x,
        "or": lambda x: x | x,
        "not": lambda x: ~x,
        "xor": lambda x: x ^ x,
        "maximum": lambda x: torch.maximum(x, x),
        "minimum": lambda x: torch.minimum(x, x),
        "clamp": lambda x: x.clamp(0, 1),
        "clamp min": lambda x: x.clamp(min=0),
        "clamp tensor": lambda x: x.clamp(x, x),
        "clamp_": lambda x: x.clamp_(0, 1),
        "nan_to_num": lambda x: torch.nan_to_num(x),
        "mixed with float32": lambda x: x + torch.ones(4, device="npu"),
        "mixed with int64": lambda x: x * torch.arange(4, device="npu"),
        "mixed with bool": lambda x: x * torch.ones(4, device="npu", dtype=torch.bool),
        "zero dim": lambda x: x * x[0, 0],
        "lerp": lambda x: torch.lerp(x, x, 0.5),
        "lerp tensor": lambda x: torch.lerp(x, x, x),
        "addcmul": lambda x: torch.addcmul(x, x, x),
        "addcdiv": lambda x: torch.addcdiv(x, x, x),
        "atan2": lambda x: torch.atan2(x, x),
        "floor_divide": lambda x: torch.div(x, x, rounding_mode="floor"),
        "trunc_divide": lambda x: torch.div(x, 2, rounding_mode="trunc"),
        "pow scalar": lambda x: x**2,
        "pow tensor": lambda x: x**x,
        "scalar pow": lambda x: 2**x,
        "sigmoid": lambda x: x.sigmoid(),
        "round": lambda x: x.round(),
        "round decimals": lambda x: x.round(decimals=1),
        "logit": lambda x: x.logit(),
        "erfinv": lambda x: x.erfinv(),
    }
