"""What the support matrix can say about one operator: the values that a query returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from opscan.assessment import Evidence

#: Why a claim is not ``supported``, in the order in which one hides another.
ClaimCode = Literal[
    "ok",
    "dtype",  # a kernel's parameter does not list the dtype
    "rank",  # a kernel's parameter does not take so many dimensions
    "soc",  # the kernel's API is documented as absent on the SoC
    "raises",  # the adapter itself refused these dtypes when it was observed
    "wrong",  # on a real NPU its result departs from the reference
    "crashed",  # on a real NPU it took the process or its kernel down
    "conflict",  # sources disagree
    "arguments",  # the kernels launched depend on argument values, and they are judged differently
    "undocumented",  # a kernel was observed, but its API has no documented constraints at this CANN release
    "unverified",  # registered, but never observed at these dtypes
    "no-table",  # the matrix holds no table for this SoC or release
]


@dataclass(frozen=True, slots=True)
class Registration:
    """What one torch_npu release registers for an operator.

    ``keys``: dispatch keys with an explicit kernel (``PrivateUse1``, ``AutogradPrivateUse1``, ``CPU``, ``CUDA``,
    ``CompositeImplicitAutograd``, ``CompositeExplicitAutograd``, ``CompositeExplicitAutogradNonFunctional`` …).
    ``hidden_cpu``: the registered NPU kernel computes on the CPU inside, always.
    ``aclnn``: kernels reachable from its implementation (coarse: which one runs depends on arguments).
    """

    keys: frozenset[str]
    implementations: tuple[str, ...] = ()
    aclnn: tuple[str, ...] = ()
    hidden_cpu: bool = False


@dataclass(frozen=True, slots=True)
class KernelClaim:
    """What the kernels of an operator accept, for the input dtypes asked about.

    ``status`` is never ``supported`` without an observation or a curated claim. ``api``, ``parameter``, ``dtype`` name
    what refuses. ``host_sync``: a copy to the host was observed within the operator, so it waits for the device.
    ``cpu_inside``: the adapter was observed to compute on the CPU although it registers a kernel.
    ``ai_cpu``: the kernel accepts the dtype, on the AI CPU only.
    """

    status: Literal["supported", "unsupported", "unknown"]
    code: ClaimCode = "ok"
    api: str = ""
    parameter: str = ""
    dtype: str = ""
    detail: str = ""
    kernels: tuple[str, ...] = ()
    host_sync: bool = False
    cpu_inside: bool = False
    ai_cpu: bool = False
    evidence: tuple[Evidence, ...] = ()
    conflicts: tuple[str, ...] = ()
