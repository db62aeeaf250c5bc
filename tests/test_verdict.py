"""Verdicts of hand-built calls against a hand-built matrix: every way an operator can meet, or miss, a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from opscan.inventory import KernelLaunch, Observed, OpCall, TensorSpec
from opscan.matrix.claims import ClaimCode, KernelClaim, Registration
from opscan.rules.registry import RULES
from opscan.target import Target
from opscan.verdict import Judge, Ruling, copies_to_host, out_overloads, waits_for_data

NATIVE = ("PrivateUse1",)
EXPLICIT = ("CompositeExplicitAutograd",)
IMPLICIT = ("CompositeImplicitAutograd",)
STRUCTURED = ("CPU", "CUDA", "CompositeExplicitAutogradNonFunctional")


class FakeMatrix:
    """Stands in for ``Matrix``: registrations by name, claims by name, and a record of what was asked."""

    target = Target("2.6.0.post5", "8.5.0", "ascend910b")
    torch_release = "2.6.0"

    def __init__(self, registrations: dict[str, tuple[str, ...] | Registration], **claims: KernelClaim) -> None:
        self._registrations = {
            name: entry if isinstance(entry, Registration) else Registration(frozenset(entry))
            for name, entry in registrations.items()
        }
        self._claims = claims
        self.asked: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []

    def registration(self, name: str) -> Registration | None:
        return self._registrations.get(name)

    def kernels(
        self, name: str, dtypes: tuple[str, ...], results: tuple[str, ...] = (), rank: int | None = None
    ) -> KernelClaim:
        self.asked.append((name, dtypes, results))
        short = name.partition("::")[2].partition(".")[0]
        keys = self._registrations[name].keys if name in self._registrations else frozenset()
        if not {"PrivateUse1", "CompositeExplicitAutogradNonFunctional"} & keys:
            return self._claims.get(short, KernelClaim("unknown", "unverified"))
        return self._claims.get(short, KernelClaim("supported", kernels=(f"aclnn_{short}",)))


def spec(dtype: str = "float32", *shape: int) -> TensorSpec:
    return TensorSpec(dtype, shape or (2, 3))


def call(name: str, *dtypes: str, **fields: Any) -> OpCall:
    inputs = tuple(spec(d) for d in (dtypes or ("float32",)))
    return OpCall(name, "forward", inputs, fields.pop("outputs", (inputs[0],)), **fields)


def rule_on(
    asked: OpCall, registrations: dict[str, Any], host: dict[str, tuple[str, ...]] | None = None, **claims: KernelClaim
) -> Ruling:
    judge = Judge(FakeMatrix(registrations, **claims), host or {}, "2.13.0")  # type: ignore[arg-type]
    ruling = judge.call(asked)
    if ruling.rule is None:
        assert ruling.verdict == "supported"
    else:
        assert RULES[ruling.rule].verdict == ruling.verdict
        assert ruling.reason
        assert "{" not in ruling.reason
    assert ruling.evidence
    return ruling


# --- a kernel of the adapter ----------------------------------------------------------------------------------


def test_native() -> None:
    ruling = rule_on(call("aten::relu"), {"aten::relu": NATIVE})
    assert (ruling.verdict, ruling.rule, ruling.kernels) == ("supported", None, ("aclnn_relu",))
    assert ruling.evidence[0].kind == "torch_npu"
    assert ruling.evidence[0].release == "2.6.0.post5"


def test_native_beats_the_decomposition_that_stock_torch_has() -> None:
    ruling = rule_on(call("aten::matmul", "float32", "float32"), {"aten::matmul": (*IMPLICIT, *NATIVE)})
    assert ruling.verdict == "supported"


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("aten::add.Tensor", "aten::add.out"),
        ("aten::add_.Tensor", "aten::add.out"),
        ("aten::index.Tensor", "aten::index.Tensor_out"),
        ("aten::sum.dim_IntList", "aten::sum.IntList_out"),
        ("aten::expm1", "aten::expm1.out"),
        ("aten::expm1_", "aten::expm1.out"),
    ],
)
def test_a_structured_operator_runs_through_its_out_overload(name: str, out: str) -> None:
    assert out in out_overloads(name)
    assert rule_on(call(name), {name: STRUCTURED, out: NATIVE}).verdict == "supported"
    assert rule_on(call(name), {name: STRUCTURED, out: ("CPU", "CUDA")}).verdict == "fallback"


def test_another_overload_of_the_same_name_does_not_stand_in() -> None:
    registrations = {
        "aten::pow.Tensor_Scalar": STRUCTURED,
        "aten::pow.Tensor_Scalar_out": ("CPU",),
        "aten::pow.out": NATIVE,
    }
    assert rule_on(call("aten::pow.Tensor_Scalar"), registrations).verdict == "fallback"


def test_an_out_overload_alone_is_no_kernel_for_an_operator_that_is_not_structured() -> None:
    registrations = {"aten::lgamma": ("CPU", "CUDA"), "aten::lgamma.out": NATIVE}
    assert rule_on(call("aten::lgamma"), registrations).verdict == "fallback"


def test_hidden_cpu_is_slow_whatever_its_kernels_say() -> None:
    hidden = Registration(frozenset(NATIVE), hidden_cpu=True)
    ruling = rule_on(call("aten::logit"), {"aten::logit": hidden})
    assert (ruling.verdict, ruling.rule) == ("slow", "OPS201")
    assert "aten::logit" in (ruling.reason or "")


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        (KernelClaim("supported", cpu_inside=True), "OPS201"),
        (KernelClaim("supported", ai_cpu=True), "OPS202"),
        (KernelClaim("supported", host_sync=True), "OPS203"),
        (KernelClaim("supported", cpu_inside=True, host_sync=True), "OPS201"),
    ],
)
def test_what_the_kernel_was_seen_to_do(claim: KernelClaim, rule: str) -> None:
    ruling = rule_on(call("aten::sort"), {"aten::sort": NATIVE}, sort=claim)
    assert (ruling.verdict, ruling.rule) == ("slow", rule)


# --- what the kernel takes ------------------------------------------------------------------------------------


def test_a_refused_dtype_names_api_and_parameter() -> None:
    claim = KernelClaim("unsupported", "dtype", "aclnnIndex", "self", "complex64", kernels=("aclnnIndex",))
    ruling = rule_on(call("aten::index.Tensor", "complex64", "int64"), {"aten::index.Tensor": NATIVE}, index=claim)
    assert (ruling.verdict, ruling.rule, ruling.kernels) == ("unsupported", "OPS104", ("aclnnIndex",))
    reason = ruling.reason or ""
    for word in ("aclnnIndex", "self", "complex64", "8.5.0", "ascend910b"):
        assert word in reason


def test_a_dtype_the_soc_lacks_altogether() -> None:
    claim = KernelClaim("unsupported", "dtype", detail="Ascend 310P has no bfloat16.")
    ruling = rule_on(call("aten::relu", "bfloat16"), {"aten::relu": NATIVE}, relu=claim)
    assert (ruling.verdict, ruling.rule, ruling.reason) == ("unsupported", "OPS107", "Ascend 310P has no bfloat16.")


@pytest.mark.parametrize(
    ("code", "status", "rule"),
    [
        ("soc", "unsupported", "OPS105"),
        ("raises", "unsupported", "OPS106"),
        ("conflict", "unknown", "OPS303"),
        ("arguments", "unknown", "OPS304"),
        ("undocumented", "unknown", "OPS306"),
        ("unverified", "unknown", "OPS302"),
        ("no-table", "unknown", "OPS305"),
    ],
)
def test_every_code_of_a_claim_has_its_rule(code: ClaimCode, status: Any, rule: str) -> None:
    claim = KernelClaim(status, code, "aclnnSort", "self", "float32", "a detail", conflicts=("a conflict",))
    ruling = rule_on(call("aten::sort"), {"aten::sort": NATIVE}, sort=claim)
    assert (ruling.verdict, ruling.rule, ruling.conflicts) == (status, rule, ("a conflict",))


def test_an_unknown_soc_is_unknown_and_never_supported() -> None:
    claim = KernelClaim("unknown", "no-table")
    ruling = rule_on(call("aten::relu"), {"aten::relu": NATIVE}, relu=claim)
    assert (ruling.verdict, ruling.rule) == ("unknown", "OPS305")
    assert "no table of CANN 8.5.0 on ascend910b" in (ruling.reason or "")


def test_kernels_are_asked_for_arguments_and_results() -> None:
    matrix = FakeMatrix({"aten::_to_copy": NATIVE, "aten::arange": NATIVE})
    judge = Judge(matrix, {}, "2.13.0")  # type: ignore[arg-type]
    judge.call(call("aten::_to_copy", "float32", outputs=(spec("float16"),)))
    judge.call(replace(call("aten::arange"), inputs=(), outputs=(spec("int64"),)))
    assert matrix.asked == [("aten::_to_copy", ("float32",), ("float16",)), ("aten::arange", ("int64",), ())]


# --- waiting for the device -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["_local_scalar_dense", "nonzero", "masked_select", "_unique2"])
def test_a_value_or_size_from_the_device_is_waited_for(name: str) -> None:
    ruling = rule_on(call(f"aten::{name}"), {f"aten::{name}": NATIVE})
    assert (ruling.verdict, ruling.rule) == ("slow", "OPS203")


def index(*dtypes: str, parameters: tuple[str, ...] = ()) -> OpCall:
    return call("aten::index.Tensor", *dtypes, parameters=parameters)


def test_only_a_mask_among_the_indices_waits() -> None:
    registrations = {"aten::index.Tensor": NATIVE}
    assert rule_on(index("float32", "bool"), registrations).rule == "OPS203"
    assert rule_on(index("float32", "int64"), registrations).rule is None
    assert rule_on(index("bool", "int64"), registrations).rule is None
    second = index("float32", "int64", "bool", parameters=("self", "indices[0]", "indices[1]"))
    assert waits_for_data(second)
    values = call("aten::index_put_", "bool", "int64", "bool", parameters=("self", "indices[0]", "values"))
    assert not waits_for_data(values)


def test_a_copy_to_the_host() -> None:
    copy = call("aten::_to_copy", attributes=(("device", "device(type='cpu')"),))
    assert copies_to_host(copy)
    assert rule_on(copy, {"aten::_to_copy": NATIVE}).rule == "OPS204"
    cast = call("aten::_to_copy", attributes=(("dtype", "torch.float16"),))
    assert not copies_to_host(cast)
    assert rule_on(cast, {"aten::_to_copy": NATIVE}).verdict == "supported"


# --- compositions ---------------------------------------------------------------------------------------------


def composite(*parts: OpCall) -> OpCall:
    return call("aten::outer", parts=parts)


PARTS = {
    "aten::outer": EXPLICIT,
    "aten::good": NATIVE,
    "aten::cpu": ("CPU",),
    "aten::cuda": ("CUDA",),
    "aten::doubtful": NATIVE,
}
DOUBT = KernelClaim("unknown", "unverified")


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        (("good",), "supported"),
        (("good", "cpu"), "fallback"),
        (("cpu", "good"), "fallback"),
        (("cpu", "cuda", "good"), "unsupported"),
        (("cpu", "doubtful"), "fallback"),
    ],
)
def test_the_worst_part_decides(parts: tuple[str, ...], verdict: str) -> None:
    ruling = rule_on(composite(*(call(f"aten::{p}") for p in parts)), PARTS, doubtful=DOUBT)
    assert ruling.verdict == verdict
    if verdict != "supported":
        assert ruling.facts["within"] == "aten::outer"
        assert (ruling.reason or "").startswith("aten::outer calls other operators. ")


def test_a_part_that_is_composite_is_judged_by_its_own_parts() -> None:
    inner = replace(call("aten::inner"), parts=(call("aten::cpu"),))
    assert rule_on(composite(inner), PARTS | {"aten::inner": EXPLICIT}).verdict == "fallback"


def test_all_kernels_of_the_parts_are_named() -> None:
    ruling = rule_on(
        composite(call("aten::good"), call("aten::doubtful")),
        PARTS,
        doubtful=KernelClaim("supported", kernels=("aclnn_good", "aclnn_other")),
    )
    assert ruling.kernels == ("aclnn_good", "aclnn_other")


def test_parts_that_nobody_saw_are_unknown() -> None:
    ruling = rule_on(composite(), PARTS)
    assert (ruling.verdict, ruling.rule) == ("unknown", "OPS307")


def test_a_whole_that_was_observed_answers_for_parts_that_were_not() -> None:
    ruling = rule_on(composite(), PARTS, outer=KernelClaim("supported", kernels=("aclnnOuter",)))
    assert (ruling.verdict, ruling.kernels) == ("supported", ("aclnnOuter",))


def test_a_composition_with_a_cpu_kernel_beside_it_is_no_fallback() -> None:
    """``pixel_shuffle`` is not structured: its ``.out`` is made from it."""
    registrations = {
        "aten::pixel_shuffle": ("CPU", "CompositeExplicitAutogradNonFunctional"),
        "aten::pixel_shuffle.out": EXPLICIT,
        "aten::clone": NATIVE,
    }
    ruling = rule_on(call("aten::pixel_shuffle", parts=(call("aten::clone"),)), registrations)
    assert (ruling.verdict, ruling.kernels) == ("supported", ("aclnn_clone",))


def test_a_view_runs_no_kernel() -> None:
    ruling = rule_on(call("aten::t", is_view=True), {"aten::t": EXPLICIT})
    assert (ruling.verdict, ruling.kernels) == ("supported", ())


# --- sparse tensors -------------------------------------------------------------------------------------------

SPARSE = (("layout", "torch.sparse_coo"),)


def test_sparse_tensors_need_a_sparse_kernel() -> None:
    asked = call("aten::addmm", attributes=SPARSE)
    ruling = rule_on(asked, {"aten::addmm": (*NATIVE, "CPU")})
    assert (ruling.verdict, ruling.rule) == ("unsupported", "OPS103")
    assert rule_on(asked, {"aten::addmm": (*NATIVE, "SparsePrivateUse1")}).rule == "OPS302"
    strided = call("aten::zeros", attributes=(("layout", "torch.strided"),))
    assert rule_on(strided, {"aten::zeros": NATIVE}).verdict == "supported"


def test_a_composite_of_sparse_tensors_is_judged_by_its_parts() -> None:
    outer = call("aten::outer", attributes=SPARSE, parts=(call("aten::addmm", attributes=SPARSE),))
    assert rule_on(outer, {"aten::outer": EXPLICIT, "aten::addmm": NATIVE}).rule == "OPS103"


# --- nothing of the adapter -----------------------------------------------------------------------------------


def test_a_cpu_kernel_alone_is_a_fallback() -> None:
    ruling = rule_on(call("aten::lgamma"), {"aten::lgamma": ("CPU", "CUDA")})
    assert (ruling.verdict, ruling.rule) == ("fallback", "OPS102")
    assert "2.6.0.post5" in (ruling.reason or "")


def test_a_rehearsal_bears_a_fallback_out_or_contradicts_it() -> None:
    def rehearsed(observed: Observed) -> Ruling:
        return rule_on(call("aten::lgamma", observed=observed), {"aten::lgamma": ("CPU",)})

    moved = KernelLaunch("aclnnInplaceCopy")
    borne_out = rehearsed(Observed((moved,), ("D2H", "H2D")))
    assert [(each.kind, each.detail) for each in borne_out.evidence[1:]] == [
        ("observed", "this model, on a simulated runtime: copied to the host and back")
    ]
    assert borne_out.conflicts == ()
    contradicted = rehearsed(Observed((moved, KernelLaunch("aclnnLgamma"))))
    assert (contradicted.verdict, len(contradicted.evidence)) == ("fallback", 1)
    (conflict,) = contradicted.conflicts
    assert conflict.endswith("a rehearsal saw it launch aclnnLgamma.")
    assert rehearsed(Observed()).conflicts == ()


@pytest.mark.parametrize("keys", [("CUDA",), ()])
def test_no_kernel_to_fall_back_to_is_unsupported(keys: tuple[str, ...]) -> None:
    ruling = rule_on(call("aten::_scaled_dot_product_efficient_attention"), {
        "aten::_scaled_dot_product_efficient_attention": keys
    })  # fmt: skip
    assert (ruling.verdict, ruling.rule) == ("unsupported", "OPS101")


@pytest.mark.parametrize(
    ("keys", "verdict", "rule"),
    [
        (("CPU",), "fallback", "OPS102"),
        (("CPU", "Meta"), "fallback", "OPS102"),
        (("CUDA", "Meta"), "unsupported", "OPS101"),
        (("Meta",), "unsupported", "OPS101"),
        (("PrivateUse1",), "unknown", "OPS302"),
        (EXPLICIT, "unknown", "OPS307"),
    ],
)
def test_an_operator_of_the_users_own(keys: tuple[str, ...], verdict: str, rule: str) -> None:
    ruling = rule_on(call("mylib::op"), {}, host={"mylib::op": keys})
    assert (ruling.verdict, ruling.rule) == (verdict, rule)
    assert ruling.evidence[0].kind == "host"


@pytest.mark.parametrize("name", ["aten::from_the_future", "npu::new_kernel", "prims::something"])
def test_an_operator_of_a_newer_torch_is_unknown(name: str) -> None:
    ruling = rule_on(call(name), {}, host={name: ("CPU",)})
    assert (ruling.verdict, ruling.rule) == ("unknown", "OPS301")
    assert "2.13.0" in (ruling.reason or "")


@pytest.mark.parametrize("name", ["aten::_nested_tensor_from_mask", "aten::_nested_tensor_from_tensor_list"])
def test_nested_tensors_are_refused_although_a_cpu_kernel_makes_them(name: str) -> None:
    ruling = rule_on(call(name), {name: ("CPU",)})
    assert (ruling.verdict, ruling.rule) == ("unsupported", "OPS108")


@pytest.mark.parametrize(
    ("name", "given", "verdict", "rule"),
    [
        ("aten::gelu", "torch.channels_last", "unsupported", "OPS106"),
        ("aten::softplus_backward", "torch.channels_last", "unsupported", "OPS106"),
        ("aten::contiguous", "torch.channels_last_3d", "unsupported", "OPS106"),
        ("aten::contiguous", "torch.preserve_format", "supported", None),
        ("aten::clone", "torch.channels_last", "supported", None),
    ],
)
def test_a_memory_format_that_the_adapter_refuses(name: str, given: str, verdict: str, rule: str | None) -> None:
    asked = replace(call(name), attributes=(("memory_format", given),))
    ruling = rule_on(asked, {name: NATIVE}, **{name.partition("::")[2]: KernelClaim("supported", kernels=("aclnnX",))})
    assert (ruling.verdict, ruling.rule) == (verdict, rule)
