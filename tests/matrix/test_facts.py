"""Facts that the matrix must state, each known from outside it."""

from __future__ import annotations

import re

import pytest

from opscan.matrix import Matrix
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import ObservedFile, load
from opscan.target import Target

from .conftest import MatrixFor

RELEASES = ("2.1.0.post17", "2.6.0.post5", "2.13.0")
CANN = ("8.5.0", "9.1.0")


def test_index_of_complex64_is_refused_at_8_5_0(matrix_for: MatrixFor) -> None:
    claim = matrix_for("2.13.0", "8.5.0").kernels("aten::index.Tensor", ("complex64", "int64"))
    assert (claim.status, claim.code) == ("unsupported", "dtype")
    assert (claim.api, claim.parameter, claim.dtype) == ("aclnnIndex", "self", "complex64")


def test_index_of_complex64_is_in_the_table_of_9_1_0_and_a_note_below_excludes_it_for_a2(matrix_for: MatrixFor) -> None:
    # ops-nn v9.1.0, index/index/docs/aclnnIndex.md: the note below the parameter table; the dtype check of
    # index/index/op_api/aclnn_index.cpp agrees with the note.
    claim = matrix_for("2.13.0", "9.1.0").kernels("aten::index.Tensor", ("complex64", "int64"))
    assert (claim.status, claim.code) == ("unsupported", "dtype")
    assert (claim.api, claim.parameter, claim.dtype) == ("aclnnIndex", "self", "complex64")


def test_addmv_takes_bfloat16_from_9_1_0_on(matrix_for: MatrixFor) -> None:
    old, new = (matrix_for("2.13.0", cann).kernels("aten::addmv", ("bfloat16",) * 3) for cann in ("8.5.0", "9.1.0"))
    assert (old.status, old.api, old.dtype) == ("unsupported", "aclnnAddmv", "bfloat16")
    assert new.status == "supported"


@pytest.mark.parametrize("cann", CANN)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64"])
def test_index_accepts_common_dtypes_and_unindexed_dimensions(matrix_for: MatrixFor, cann: str, dtype: str) -> None:
    claim = matrix_for("2.13.0", cann).kernels("aten::index.Tensor", (dtype, "int64"))
    assert (claim.status, claim.conflicts) == ("supported", ())


@pytest.mark.parametrize("cann", CANN)
def test_expm1_refuses_float64(matrix_for: MatrixFor, cann: str) -> None:
    claim = matrix_for("2.6.0.post5", cann).kernels("aten::expm1", ("float64",))
    assert (claim.status, claim.api, claim.parameter, claim.dtype) == ("unsupported", "aclnnExpm1", "self", "float64")


@pytest.mark.parametrize("release", RELEASES)
def test_lgamma_has_no_npu_kernel(matrix_for: MatrixFor, release: str) -> None:
    for name in ("aten::lgamma", "aten::lgamma.out"):
        registration = matrix_for(release, "8.5.0").registration(name)
        assert registration is not None
        assert "PrivateUse1" not in registration.keys
        assert "CPU" in registration.keys


@pytest.mark.parametrize("release", RELEASES)
def test_isin_is_registered(matrix_for: MatrixFor, release: str) -> None:
    registration = matrix_for(release, "8.5.0").registration("aten::isin.Tensor_Tensor")
    assert registration is not None
    assert "PrivateUse1" in registration.keys


def test_releases_that_register_an_operator(matrix_for: MatrixFor) -> None:
    matrix = matrix_for("2.13.0", "9.1.0")
    scatter = matrix.releases_with("aten::scatter_reduce.two")
    assert "2.13.0" in scatter
    assert not {"2.1.0.post17", "2.6.0.post5"} & set(scatter)
    assert set(RELEASES) <= set(matrix.releases_with("aten::addmm"))
    assert matrix.releases_with("aten::lgamma") == ()


def test_unknown_operator_has_no_registration(matrix_for: MatrixFor) -> None:
    assert matrix_for("2.13.0", "9.1.0").registration("aten::no_such_operator") is None


@pytest.mark.parametrize("cann", CANN)
def test_addmm_in_float32(matrix_for: MatrixFor, cann: str) -> None:
    claim = matrix_for("2.13.0", cann).kernels("aten::addmm", ("float32", "float32", "float32"))
    assert (claim.status, claim.kernels) == ("supported", ("aclnnAddmm",))
    assert {evidence.kind for evidence in claim.evidence} >= {"observed", "cann"}


def test_an_older_release_inherits_observations_of_the_same_registration(matrix_for: MatrixFor) -> None:
    claim = matrix_for("2.12.0", "9.1.0").kernels("aten::addmm", ("float32", "float32", "float32"))
    assert claim.status == "supported"
    assert claim.evidence[0].detail == "observed on 2.13.0, same registration"


def test_the_nearest_observed_release_answers_first(matrix_for: MatrixFor) -> None:
    """2.6.0.post5 has rows of its own; a release without takes those of the nearest one."""
    for release, observed in (("2.6.0.post5", "2.6.0.post5"), ("2.6.0.post3", "2.6.0.post5"), ("2.14.0", "2.13.0")):
        claim = matrix_for(release, "8.5.0").kernels("aten::add.Tensor", ("float32", "float32"))
        assert (claim.status, claim.evidence[0].release) == ("supported", observed)


@pytest.mark.parametrize(("soc", "cann"), [("ascend950pr", "8.1.RC1"), ("ascend910b", "7.0.0")])
def test_without_a_table_nothing_is_known(soc: str, cann: str) -> None:
    matrix = Matrix.load(Target("2.13.0", cann, soc))
    assert not matrix.knows_soc
    claim = matrix.kernels("aten::addmm", ("float32", "float32", "float32"))
    assert (claim.status, claim.code) == ("unknown", "no-table")
    assert matrix.registration("aten::addmm") is not None


@pytest.mark.parametrize("soc", ["ascend910", "ascend310p"])
def test_bfloat16_is_refused_by_older_chips_whatever_the_operator(soc: str) -> None:
    claim = Matrix.load(Target("2.13.0", "9.1.0", soc)).kernels("aten::_to_copy", ("float32",), ("bfloat16",))
    assert (claim.status, claim.code) == ("unsupported", "dtype")
    assert claim.evidence[0].kind == "override"
    assert claim.evidence[0].source


@pytest.mark.parametrize("cann", CANN)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_flash_attention_is_there_on_a2(matrix_for: MatrixFor, cann: str, dtype: str) -> None:
    matrix = matrix_for("2.13.0", cann)
    assert matrix.kernels("npu::npu_fusion_attention_v3", (dtype,) * 3).status == "supported"
    masked = matrix.kernels("npu::npu_fusion_attention_v3", (dtype, dtype, dtype, "bool"))
    assert (masked.status, masked.kernels) == ("supported", ("aclnnFlashAttentionScore",))


def test_a_kernel_that_the_release_lacks_is_replaced_as_the_adapter_does(matrix_for: MatrixFor) -> None:
    topk = matrix_for("2.13.0", "9.1.0").kernels("aten::topk", ("float32",))
    assert (topk.status, topk.kernels) == ("supported", ("aclnnTopk",))
    scatter = matrix_for("2.13.0", "9.1.0").kernels("aten::scatter_reduce.two", ("float32", "int64", "float32"))
    assert scatter.cpu_inside


@pytest.mark.parametrize("cann", CANN)
def test_casts_are_judged_by_what_they_make(matrix_for: MatrixFor, cann: str) -> None:
    matrix = matrix_for("2.13.0", cann)
    assert matrix.kernels("aten::_to_copy", ("float32",), ("bfloat16",)).status == "supported"
    refused = matrix.kernels("aten::_to_copy", ("float32",), ("float8_e4m3fn",))
    assert (refused.status, refused.parameter, refused.dtype) == ("unsupported", "selfRef", "float8_e4m3fn")
    assert matrix.kernels("aten::_to_copy", ("complex64",), ("complex32",)).status == "unsupported"


@pytest.mark.parametrize("cann", CANN)
def test_ai_cpu(matrix_for: MatrixFor, cann: str) -> None:
    matrix = matrix_for("2.13.0", cann)
    assert matrix.kernels("aten::mul.Tensor", ("complex128", "complex128")).ai_cpu
    assert matrix.kernels("aten::sort", ("int64",)).ai_cpu
    assert not matrix.kernels("aten::mul.Tensor", ("complex64", "complex64")).ai_cpu
    assert not matrix.kernels("aten::mul.Tensor", ("float32", "float32")).ai_cpu


@pytest.mark.parametrize("cann", CANN)
def test_adapter_refusals(matrix_for: MatrixFor, cann: str) -> None:
    claim = matrix_for("2.13.0", cann).kernels("aten::sort.stable", ("float64",))
    assert (claim.status, claim.code) == ("unsupported", "raises")
    assert "float64" in claim.detail


def test_waiting_for_the_device(matrix_for: MatrixFor) -> None:
    matrix = matrix_for("2.13.0", "9.1.0")
    assert matrix.kernels("aten::bincount", ("int64",)).host_sync
    assert matrix.kernels("aten::_local_scalar_dense", ("float32",)).host_sync
    assert not matrix.kernels("aten::_to_copy", ("float32",), ("float16",)).host_sync
    assert not matrix.kernels("aten::addmm", ("float32", "float32", "float32")).host_sync


def test_factories_are_asked_by_their_results(matrix_for: MatrixFor) -> None:
    matrix = matrix_for("2.13.0", "9.1.0")
    assert matrix.kernels("aten::arange", ("int64",)).status == "supported"
    assert matrix.kernels("aten::arange", ("uint64",)).code == "raises"
    assert matrix.kernels("aten::zeros", ("float32",)).kernels == ("aclnnInplaceZero",)


def test_views_launch_nothing(matrix_for: MatrixFor) -> None:
    claim = matrix_for("2.13.0", "9.1.0").kernels("aten::view", ("float32",))
    assert (claim.status, claim.kernels) == ("supported", ())


@pytest.mark.parametrize("cann", CANN)
@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("aten::convolution", ("float32", "float32", "float32")),
        ("aten::convolution", ("bfloat16", "bfloat16")),
        ("aten::convolution_backward", ("float16", "float16", "float16")),
        ("aten::native_layer_norm", ("float32", "float32", "float32")),
        ("aten::native_batch_norm", ("float32",) * 5),
        ("aten::embedding", ("bfloat16", "int64")),
        ("aten::max_pool2d_with_indices", ("float32",)),
        ("aten::grid_sampler_2d", ("float32", "float32")),
        ("aten::upsample_bilinear2d", ("float32",)),
        ("aten::_log_softmax", ("float32",)),
        ("aten::nll_loss_forward", ("float32", "int64")),
        ("aten::cat", ("float32", "float32", "float32", "float32")),
        ("aten::linalg_vector_norm", ("float32",)),
        ("aten::_foreach_add_.List", ("float32",) * 6),
    ],
)
def test_what_common_models_call(matrix_for: MatrixFor, cann: str, name: str, dtypes: tuple[str, ...]) -> None:
    assert matrix_for("2.13.0", cann).kernels(name, dtypes).status == "supported"


def test_no_float32_refusal_among_torchs_own_operators(matrix_for: MatrixFor) -> None:
    """A refusal of plain float32 is almost always a mistake of the join: the only true ones want integers."""
    matrix = matrix_for("2.13.0", "9.1.0")
    observed = load(support_matrix_dir() / "observed" / "2.13.0" / "ascend910b.json", ObservedFile)
    refused = {
        name.partition(".")[0]
        for name, op in observed.ops.items()
        for row in op.rows
        if name.startswith("aten::")
        if set(row.dtypes.split()) == {"float32"} and set(row.results.split()) <= {"float32"}
        if matrix.kernels(name, tuple(row.dtypes.split()), tuple(row.results.split())).status == "unsupported"
    }
    refused = {name for name in refused if not name.startswith("aten::bitwise_")}
    shifts_and_bits = {"aten::__ilshift__", "aten::__irshift__", "aten::__lshift__", "aten::__ior__"}
    counting = {"aten::bincount", "aten::one_hot", "aten::_amp_update_scale_"}  # the last one's tracker is int32
    assert refused == shifts_and_bits | counting


def test_conversion_to_uint64_is_not_documented_by_the_adapter(matrix_for: MatrixFor) -> None:
    matrix = matrix_for("2.13.0", "9.1.0")
    for dtypes, results in ((("int64",), ("uint64",)), (("uint64",), ("int64",))):
        claim = matrix.kernels("aten::_to_copy", dtypes, results)
        assert (claim.status, claim.code) == ("unsupported", "dtype")
        assert "aclnnInplaceCopy" in claim.detail
    assert matrix.kernels("aten::add.Tensor", ("uint64", "uint64")).parameter == "self"
    assert matrix.kernels("aten::empty.memory_format", ("uint64",)).status == "supported"


@pytest.mark.parametrize("release", ["2.1.0.post17", "2.4.0"])
@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("aten::gelu", ("float16",)),
        ("aten::matmul", ("bfloat16", "bfloat16")),
        ("aten::native_dropout", ("float32",)),
        ("aten::zeros_like", ("float32",)),
    ],
)
def test_a_release_inherits_from_the_nearest_with_the_same_registration(
    matrix_for: MatrixFor, release: str, name: str, dtypes: tuple[str, ...]
) -> None:
    claim = matrix_for(release, "8.5.0").kernels(name, dtypes)
    assert claim.status == "supported"
    assert claim.evidence[0].detail == "observed on 2.6.0.post5, same registration"


@pytest.mark.parametrize("cann", CANN)
@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_batch_norm_takes_half_precision_with_float32_statistics(matrix_for: MatrixFor, cann: str, half: str) -> None:
    claim = matrix_for("2.13.0", cann).kernels("aten::native_batch_norm", (half, *["float32"] * 4))
    assert (claim.status, claim.kernels) == ("supported", ("aclnnBatchNorm",))


@pytest.mark.parametrize(
    ("cann", "fused_lstm", "fused_gru"),
    [("8.5.0", False, False), ("9.0.0", True, False), ("9.1.0", True, False), ("9.2.0-beta.1", True, True)],
)
def test_recurrent_kernels_are_in_reach_from_the_release_of_cann_that_has_their_api(
    matrix_for: MatrixFor, cann: str, fused_lstm: bool, fused_gru: bool
) -> None:
    # ops-nn: aclnn_lstm.h from v9.0.0, aclnn_gru.h from v9.2.0; without them torch_npu takes the legacy path
    registered = matrix_for("2.13.0", cann).registered()
    assert ("npu::_lstm_npu" in registered, "npu::_gru_npu" in registered) == (fused_lstm, fused_gru)
    assert {"npu::npu_lstm", "npu::npu_gru"} <= registered


@pytest.mark.parametrize("soc", ["ascend910", "ascend310p", "ascend310b"])
def test_the_legacy_path_finds_what_is_not_zero(soc: str) -> None:
    """Operators whose result has a size that depends on values."""
    matrix = Matrix.load(Target("2.13.0", "8.1.RC1", soc))
    claims = (
        matrix.kernels("aten::nonzero", ("float32",), ("int64",)),
        matrix.kernels("aten::index.Tensor", ("float32", "bool"), ("float32",)),
    )
    assert all("GE NonZero" in claim.kernels and claim.code != "unverified" for claim in claims)


def test_every_argument_of_an_observed_launch_was_read() -> None:
    """Where an end was not found, a launch had the word ``NOEND``; where a dtype had no name, its number."""
    for path in sorted((support_matrix_dir() / "observed").glob("*/*.json")):
        text = path.read_text(encoding="utf-8")
        assert "NOEND" not in text
        assert not re.search(r'[":, ](T|L):\d', text)


def test_an_attention_kernel_of_many_parameters_is_judged(matrix_for: MatrixFor) -> None:
    name = "npu::npu_fused_infer_attention_score"
    half, whole = (
        matrix_for("2.13.0", "9.1.0").kernels(name, (d,) * 3, (d, "float32")) for d in ("float16", "float32")
    )
    assert half.status == "supported"
    assert (whole.status, whole.api, whole.dtype) == ("unsupported", "aclnnFusedInferAttentionScoreV3", "float32")


@pytest.mark.parametrize("cann", CANN)
def test_a_dtype_that_is_asked_for_decides(matrix_for: MatrixFor, cann: str) -> None:
    matrix = matrix_for("2.13.0", cann)
    assert matrix.kernels("aten::full_like", ("float32",), ("int64",)).status == "supported"
    assert matrix.kernels("aten::zeros_like", ("int64",), ("float32",)).status == "supported"
    summed = matrix.kernels("aten::cumsum", ("bool",), ("float32",))
    assert (summed.status, summed.api, summed.parameter, summed.dtype) == ("unsupported", "aclnnCumsum", "self", "bool")


@pytest.mark.parametrize("cann", CANN)
@pytest.mark.parametrize("window", ["hann", "hamming"])
def test_a_window_without_a_dtype_is_made_of_integers(matrix_for: MatrixFor, cann: str, window: str) -> None:
    name, matrix = f"aten::{window}_window", matrix_for("2.13.0", cann)
    untyped = matrix.kernels(name, (), ("int64",))
    assert (untyped.status, untyped.api, untyped.dtype) == ("unsupported", "aclnnInplaceCos", "int64")
    assert matrix.kernels(name, (), ("float32",)).status == "supported"


def test_a_kaiser_window_raises(matrix_for: MatrixFor) -> None:
    claim = matrix_for("2.13.0", "9.1.0").kernels("aten::kaiser_window.beta", (), ("float32",))
    assert (claim.status, claim.code) == ("unsupported", "raises")
