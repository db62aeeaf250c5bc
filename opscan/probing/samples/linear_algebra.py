"""Matrices that can be inverted, factorised and solved with, far from where rounding decides the answer."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from opscan.probing.samples.draft import Draft, Fill
from opscan.probing.samples.interface import Unsampled
from opscan.probing.samples.kinds import dtype_of


def _wide(draft: Draft, name: str) -> torch.dtype:
    return torch.complex128 if dtype_of(draft.spec(name)).is_complex else torch.float64


def _random(draft: Draft, name: str) -> Tensor:
    return torch.randn(draft.shape(name), generator=draft.generator, dtype=_wide(draft, name))


def _eye(like: Tensor) -> Tensor:
    identity: Tensor = torch.eye(like.shape[-2], like.shape[-1], dtype=like.dtype)
    return identity.expand_as(like)


def conditioned(draft: Draft, name: str) -> Tensor:
    """Twice the identity and a little noise: singular values lie around 2, whatever the size."""
    noise = _random(draft, name)
    if noise.dim() < 2:
        raise Unsampled(f"{name} is no matrix")
    return 2 * _eye(noise) + noise * (0.5 / math.sqrt(max(noise.shape[-1], 1)))


def _positive(draft: Draft, name: str) -> Tensor:
    matrix = conditioned(draft, name)
    return matrix @ matrix.mH


def _symmetric(draft: Draft, name: str) -> Tensor:
    """Eigenvalues 1, 2, 3 …, half of them negative, in a random basis: they are apart, so their vectors are stable."""
    basis: Tensor = torch.linalg.qr(_random(draft, name)).Q
    size = basis.shape[-1]
    values = torch.arange(1, size + 1, dtype=torch.float64) * torch.tensor([1.0, -1.0]).repeat(size)[:size]
    return basis @ torch.diag_embed(values.to(basis.dtype)) @ basis.mH


def _triangular(draft: Draft, name: str, upper: bool) -> Tensor:
    matrix = conditioned(draft, name)
    return matrix.triu() if upper else matrix.tril()


def _square(*names: str) -> Fill:
    def fill(draft: Draft) -> None:
        for name in names:
            if draft.has(name):
                draft.put(name, conditioned(draft, name))

    return fill


def _definite(draft: Draft) -> None:
    draft.put("self", _positive(draft, "self"))


def _hermitian(draft: Draft) -> None:
    name = "A" if draft.has("A") else "self"
    draft.put(name, _symmetric(draft, name))


def _by_triangle(name: str) -> Fill:
    def fill(draft: Draft) -> None:
        draft.put(name, _triangular(draft, name, bool(draft.other("upper", False))))

    return fill


def _lu(names: tuple[str, str]) -> Fill:
    def fill(draft: Draft) -> None:
        factors, pivots = torch.linalg.lu_factor(conditioned(draft, names[0]))
        draft.put(names[0], factors)
        draft.put(names[1], pivots)

    return fill


def _ldl(draft: Draft) -> None:
    hermitian = bool(draft.other("hermitian", False))
    matrix = conditioned(draft, "LD")
    factors, pivots = torch.linalg.ldl_factor(matrix @ (matrix.mH if hermitian else matrix.mT), hermitian=hermitian)
    draft.put("LD", factors)
    draft.put("pivots", pivots)


def _exponent(draft: Draft) -> None:
    matrix = _random(draft, "self")
    draft.put("self", 0.3 * matrix / max(matrix.shape[-1], 1) ** 0.5)


def _reflectors(name: str, scalars: str) -> Fill:
    """Householder vectors and factors as ``geqrf`` returns them; recorded tensors may hold fewer of them."""

    def fill(draft: Draft) -> None:
        vectors, factors = torch.geqrf(_random(draft, name))
        wanted = draft.shape(scalars)[-1]
        if factors.shape[-1] < wanted:
            raise Unsampled(f"{scalars} has more factors than {name} has columns")
        draft.put(name, vectors)
        draft.put(scalars, factors[..., :wanted])

    return fill


def _least_squares(draft: Draft) -> None:
    draft.put("self", conditioned(draft, "self"))


LINEAR_ALGEBRA: dict[str, Fill] = {
    **dict.fromkeys(("cholesky", "linalg_cholesky_ex", "linalg_cholesky"), _definite),
    **dict.fromkeys(("_linalg_eigh", "linalg_eigh", "linalg_ldl_factor_ex"), _hermitian),
    **dict.fromkeys(
        ("linalg_inv_ex", "_linalg_solve_ex", "linalg_solve", "linalg_lu", "linalg_lu_factor_ex", "_linalg_det",
         "_linalg_slogdet", "inverse", "linalg_inv", "_lu_with_info", "linalg_pinv"),
        _square("A", "self"),
    ),
    "cholesky_inverse": _by_triangle("self"),
    "cholesky_solve": _by_triangle("input2"),
    "linalg_solve_triangular": _by_triangle("self"),
    "triangular_solve": _by_triangle("A"),
    "linalg_lu_solve": _lu(("LU", "pivots")),
    "lu_unpack": _lu(("LU_data", "LU_pivots")),
    "linalg_ldl_solve": _ldl,
    "linalg_householder_product": _reflectors("input", "tau"),
    "ormqr": _reflectors("self", "input2"),
    **dict.fromkeys(("linalg_matrix_exp", "matrix_exp"), _exponent),
    "linalg_lstsq": _least_squares,
}  # fmt: skip
