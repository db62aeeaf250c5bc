"""One operator call, judged for a target: registration first, then kernels, then what the call itself waits for.

This is where registrations, observed kernels, documented constraints and the user's own process meet. The order is
that of the dispatcher: a kernel of torch_npu; else a composition, judged by its parts; else the CPU fallback; else
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from opscan.assessment import VERDICTS, Evidence, Verdict
from opscan.cuda_packages import LIBRARY, OWN_KERNEL, package_of
from opscan.cuda_packages import facts_of as extension_facts
from opscan.inventory import OpCall
from opscan.matrix.claims import ClaimCode, KernelClaim, Registration
from opscan.matrix.query import Matrix
from opscan.matrix.verdict import MOVES
from opscan.quantization import KERNELS, OBSERVED_RELEASE, is_quantized, makes_quantized
from opscan.rules.registry import RULES

#: Operators whose result's size, or whose value as a Python number, is read back from the device.
_WAITING = frozenset(
    {
        "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::unique_dim",
        "aten::unique_consecutive", "aten::unique_dim_consecutive", "aten::equal", "aten::is_nonzero",
        "aten::repeat_interleave.Tensor", "aten::_nested_tensor_from_mask", "torchvision::nms",
    }
)  # fmt: skip

#: Indexing, for which a boolean mask among the indices has the same effect.
_INDEXING = (
    "aten::index.Tensor",
    "aten::index_put",
    "aten::index_put_",
    "aten::_index_put_impl_",
    "aten::_unsafe_index.Tensor",
)

#: Operators that make a nested tensor.
_NESTED = ("aten::_nested_tensor_from_mask", "aten::_nested_tensor_from_tensor_list")

_RULE_OF_CODE: dict[ClaimCode, str] = {
    "dtype": "OPS104",
    "soc": "OPS105",
    "rank": "OPS110",
    "raises": "OPS106",
    "wrong": "OPS109",
    "crashed": "OPS113",
    "conflict": "OPS303",
    "arguments": "OPS304",
    "undocumented": "OPS306",
    "unverified": "OPS302",
    "no-table": "OPS305",
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict of one call. ``facts`` fill the rule's message."""

    verdict: Verdict
    rule: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def reason(self) -> str | None:
        return RULES[self.rule].say("en", self.facts) if self.rule else None


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges calls of one inventory. ``host_kernels`` and ``host_torch`` are the inventory's own."""

    matrix: Matrix
    host_kernels: dict[str, tuple[str, ...]]
    host_torch: str

    def call(self, call: OpCall) -> Ruling:
        if (extension := of_extension(self.matrix, call, self.host_torch)) is not None:
            return extension
        registration = self.matrix.registration(call.name)
        if call.name in _NESTED:
            evidence = Evidence("observed", "2.13.0", "the next operator raised on a simulated runtime")
            return Ruling("unsupported", "OPS108", self._facts(call), evidence=(evidence,))
        if registration is None:
            return self._outside_the_release(call)
        registered = Evidence("torch_npu", self.matrix.target.torch_npu, " ".join(sorted(registration.keys)))
        if is_quantized(call):
            return self._quantized(call, registration.keys, registered)
        if is_sparse(call):
            return self._sparse(call, registration.keys, registered)
        if self._is_native(call.name, registration):
            return self._native(call, registration, registered)
        return self._without_kernel(call, registration.keys, registered)

    # --- where does it run? -----------------------------------------------------------------------------------

    def _is_native(self, name: str, registration: Registration) -> bool:
        """A functional or in-place structured operator without a kernel of its own runs through its ``.out``
        overload.
        """
        if "PrivateUse1" in registration.keys:
            return True
        if "CompositeExplicitAutogradNonFunctional" not in registration.keys:
            return False
        outs = (self.matrix.registration(out) for out in out_overloads(name))
        own = next((out for out in outs if out is not None), None)
        return own is not None and "PrivateUse1" in own.keys

    def _without_kernel(self, call: OpCall, keys: frozenset[str] | tuple[str, ...], evidence: Evidence) -> Ruling:
        """No kernel of torch_npu: a view, a composition, the CPU, or nothing."""
        composite = _is_composite(keys) or self._is_composed_beside_the_cpu(call.name, keys)
        if call.is_view and composite:
            return Ruling("supported", evidence=(replace(evidence, detail="a view: no kernel runs"),))
        if composite:
            return self._by_parts(call, evidence)
        facts = self._facts(call)
        if "CPU" in keys and self._makes_quantized(call):
            detail = "the CPU's result is quantized, and cannot be copied to the device"
            return Ruling("unsupported", "OPS106", facts | {"detail": detail}, evidence=(evidence,))
        if "CPU" in keys:
            seen, conflicts = self._seen_of_fallback(call)
            return Ruling("fallback", "OPS102", facts, evidence=(evidence, *seen), conflicts=conflicts)
        return Ruling("unsupported", "OPS101", facts, evidence=(evidence,))

    def _seen_of_fallback(self, call: OpCall) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
        """What a rehearsal saw of an operator that the registrations leave to the CPU: copies to the host and back
        bear them out; a kernel that computes, and no copy to the host, contradicts them."""
        if call.observed is None:
            return (), ()
        computing = [launch.api for launch in call.observed.launches if launch.api not in MOVES]
        if "D2H" in call.observed.copies:
            detail = "this model, on a simulated runtime: copied to the host"
            detail += " and back" if "H2D" in call.observed.copies else ""
            return (() if computing else (Evidence("observed", self.matrix.target.torch_npu, detail),)), ()
        if not computing:
            return (), ()
        named = ", ".join(dict.fromkeys(computing))
        return (), (f"The registrations leave {call.name} to the CPU; a rehearsal saw it launch {named}.",)

    def _is_composed_beside_the_cpu(self, name: str, keys: frozenset[str] | tuple[str, ...]) -> bool:
        """A composition that has a CPU kernel besides, for speed there (``pixel_shuffle``). Unlike a structured
        operator's, its ``.out`` overload is made from it, and has no CPU kernel.
        """
        out = self.matrix.registration(f"{name}.out")
        composed = out is not None and "CompositeExplicitAutograd" in out.keys and "CPU" not in out.keys
        return composed and "CompositeExplicitAutogradNonFunctional" in keys

    def _makes_quantized(self, call: OpCall) -> bool:
        """By its results, or where it raised before there were any, by its name."""
        return makes_quantized(call) or (not call.outputs and call.name.startswith("aten::quantize_per_"))

    def _quantized(self, call: OpCall, keys: frozenset[str], registered: Evidence) -> Ruling:
        """Quantized tensors have kernels of their own, and the CPU fallback does not take them."""
        seen = Evidence("observed", OBSERVED_RELEASE, "kernels for quantized tensors on a simulated runtime")
        if call.name in KERNELS or call.is_view:
            if call.is_view:
                return Ruling("supported", evidence=(registered, seen))
            return self._by_kernels(call, seen)
        if "CompositeImplicitAutograd" in keys:
            return self._by_parts(call, registered)
        facts = self._facts(call)
        if "PrivateUse1" in keys and self.matrix.target.torch_npu != OBSERVED_RELEASE:
            return Ruling("unknown", "OPS302", facts, evidence=(registered, seen))
        of_quantized = facts | {"operator": f"{call.name} on quantized tensors"}
        return Ruling("unsupported", "OPS101", of_quantized, evidence=(registered, seen))

    def _sparse(self, call: OpCall, keys: frozenset[str], evidence: Evidence) -> Ruling:
        """Sparse tensors have kernels of their own, and the CPU fallback does not take them."""
        if "SparsePrivateUse1" in keys:
            return Ruling("unknown", "OPS302", self._facts(call), evidence=(evidence,))
        if _is_composite(keys):
            return self._by_parts(call, evidence)
        return Ruling("unsupported", "OPS103", self._facts(call), evidence=(evidence,))

    def _by_parts(self, call: OpCall, evidence: Evidence) -> Ruling:
        rulings = [self.call(part) for part in call.parts]
        unseen = Ruling("unknown", "OPS307", self._facts(call))
        worst = min(rulings, key=lambda r: VERDICTS.index(r.verdict), default=unseen)
        if worst.verdict == "unknown":
            # The operator as a whole may have been observed where its parts, on their own, were not.
            whole = self._by_kernels(call, evidence)
            if whole.verdict != "unknown":
                return whole
        if not call.parts:
            return replace(unseen, evidence=(evidence,))
        kernels = tuple(dict.fromkeys(k for r in rulings for k in r.kernels))
        return replace(
            worst, facts={**worst.facts, "within": call.name}, kernels=kernels, evidence=(evidence, *worst.evidence)
        )

    def _outside_the_release(self, call: OpCall) -> Ruling:
        """The release's process has no such operator: newer torch's, or the user's own."""
        keys = self.host_kernels.get(call.name, ())
        evidence = Evidence("host", self.host_torch, " ".join(keys) or "no kernel")
        facts = self._facts(call)
        if call.name.startswith(("aten::", "prims::", "npu::", "quantized::")):
            return Ruling("unknown", "OPS301", facts, evidence=(evidence,))
        if "PrivateUse1" in keys:
            return Ruling("unknown", "OPS302", facts, evidence=(evidence,))
        return self._without_kernel(call, keys, evidence)

    # --- what does its kernel take? -----------------------------------------------------------------------------

    def _native(self, call: OpCall, registration: Registration, registered: Evidence) -> Ruling:
        if registration.hidden_cpu and not (call.observed and call.observed.launches):
            return Ruling("slow", "OPS201", self._facts(call), evidence=(registered,))
        return self._by_kernels(call, registered)

    def _by_kernels(self, call: OpCall, registered: Evidence) -> Ruling:
        """By the kernels that were seen to be launched, and what they document."""
        if copies_to_host(call):
            return Ruling("slow", "OPS204", self._facts(call), evidence=(registered,))
        if (asked := refused_memory_format(call)) is not None:
            detail = f"it takes the contiguous format only, and {asked} is asked for"
            observed = Evidence("observed", "2.13.0", "raised on a simulated runtime")
            return Ruling(
                "unsupported", "OPS106", self._facts(call) | {"detail": detail}, evidence=(registered, observed)
            )
        results = tuple(spec.dtype for spec in call.outputs)
        rank = len(call.inputs[0].shape) if call.inputs else None
        results = results if call.inputs else ()
        if call.observed is None:
            claim = self.matrix.kernels(call.name, call.dtypes, results, rank)
        else:
            claim = self.matrix.launched(call.name, call.dtypes, results, rank, call.observed)
        evidence = (registered, *claim.evidence)
        facts = self._facts(call, claim)
        if claim.status != "supported":
            rule = _RULE_OF_CODE.get(claim.code, "OPS302")
            if claim.code == "dtype" and not claim.api:
                rule = "OPS107"
            return Ruling(claim.status, rule, facts, claim.kernels, evidence, claim.conflicts)
        slow = self._slow_rule(call, claim)
        if slow is not None:
            return Ruling("slow", slow, facts, claim.kernels, evidence, claim.conflicts)
        return Ruling("supported", None, {}, claim.kernels, evidence, claim.conflicts)

    def _slow_rule(self, call: OpCall, claim: KernelClaim) -> str | None:
        if claim.cpu_inside:
            return "OPS201"
        if waits_for_data(call):  # wherever it is computed, the size of its result stops the host
            return "OPS203"
        if claim.ai_cpu:
            return "OPS202"
        return "OPS203" if claim.host_sync else None

    def _facts(self, call: OpCall, claim: KernelClaim | None = None) -> dict[str, str]:
        facts = facts_of(self.matrix, call.name, ", ".join(dict.fromkeys(call.dtypes)), self.host_torch)
        if claim is not None:
            facts |= {"api": claim.api, "parameter": claim.parameter, "dtype": claim.dtype, "detail": claim.detail}
        return facts


def facts_of(matrix: Matrix, operator: str, dtypes: str, host_torch: str) -> dict[str, str]:
    """What the rules' messages say of a question about one operator."""
    target = matrix.target
    return {
        "operator": operator,
        "dtypes": dtypes,
        "release": target.torch_npu,
        "torch": matrix.torch_release,
        "host_torch": host_torch,
        "cann": target.cann,
        "soc": target.soc,
    }


def of_extension(matrix: Matrix, call: OpCall, host_torch: str) -> Ruling | None:
    """The ruling on a call of a CUDA extension, in any route; None for any other operator."""
    if not call.name.startswith(LIBRARY):
        return None
    name = call.name.removeprefix(LIBRARY)
    package = package_of(name) or OWN_KERNEL
    facts = facts_of(matrix, name, ", ".join(dict.fromkeys(call.dtypes)), host_torch) | extension_facts(name)
    detail = "there is a version for NPUs" if package.port else "its kernels are for CUDA"
    evidence = (Evidence("override", package.version, detail, package.source),)
    if package.port:
        return Ruling("unknown", "OPS310", facts, evidence=evidence)
    return Ruling("unsupported", "OPS114", facts, evidence=evidence)


def _is_composite(keys: frozenset[str] | tuple[str, ...]) -> bool:
    """Whether the kernel is a composition. A structured operator's only calls its ``.out``: it has a CPU kernel too."""
    if "CompositeExplicitAutograd" in keys or "CompositeImplicitAutograd" in keys:
        return True
    return "CompositeExplicitAutogradNonFunctional" in keys and "CPU" not in keys


def is_sparse(call: OpCall) -> bool:
    return dict(call.attributes).get("layout", "").startswith("torch.sparse_")


def waits_for_data(call: OpCall) -> bool:
    """Whether the host must wait for the device to know this call's result."""
    if call.name in _WAITING:
        return True
    if not call.name.startswith(_INDEXING):
        return False
    names = call.parameters or ("self", *("indices[0]" for _ in call.inputs[1:2]))
    return any(n.startswith("indices") and s.dtype in ("bool", "uint8") for n, s in zip(names, call.inputs))


def copies_to_host(call: OpCall) -> bool:
    return call.name == "aten::_to_copy" and dict(call.attributes).get("device", "").startswith("device(type='cpu'")


#: Operators of torch_npu that raise for any memory format but the contiguous one (and ``preserve_format``).
_CONTIGUOUS_ONLY = frozenset(
    {
        "aten::_to_copy", "aten::contiguous", "aten::empty.memory_format", "aten::empty", "aten::gelu",
        "aten::softplus_backward",
    }
)  # fmt: skip


def refused_memory_format(call: OpCall) -> str | None:
    """The memory format of a call that torch_npu 2.13.0 was seen to refuse:
    ``x.to(memory_format=torch.channels_last)``; for ``gelu``, an input whose strides have that format.
    """
    asked = dict(call.attributes).get("memory_format", "")
    return asked if call.name in _CONTIGUOUS_ONLY and "channels_last" in asked else None


def out_overloads(name: str) -> tuple[str, ...]:
    """Names that the ``.out`` overload of a structured operator may have: ``aten::add.Tensor`` → ``aten::add.out``.

    The first that exists is its own: ``all.out`` is not that of ``all.dims``, which has ``all.dims_out``.
    """
    base, _, overload = name.partition(".")
    base = base.removesuffix("_")
    guesses = [f"{overload}_out", f"{overload.removeprefix('dim_')}_out"] if overload else []
    return tuple(f"{base}.{guess}" for guess in (*guesses, "out", "grad_input", "X"))
