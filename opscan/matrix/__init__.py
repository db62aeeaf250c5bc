"""The support matrix: what a torch_npu release registers, what its kernels launch, and what CANN accepts of them.

Queries need neither pandas nor torch; ``build`` regenerates the data from ``support_matrix/sources``.
"""

from __future__ import annotations

from opscan.matrix.claims import ClaimCode, KernelClaim, Registration
from opscan.matrix.query import Matrix
from opscan.matrix.releases import resolve_target

__all__ = ["ClaimCode", "KernelClaim", "Matrix", "Registration", "resolve_target"]
