"""Which kind of values each parameter takes: by operator where its domain is special, else by the parameter's name.

An operator goes by its base name (``Bound.base``). ``*`` stands for every other tensor of the operator.
"""

from __future__ import annotations

import re

from opscan.probing.samples.kinds import Kind

_UNARY: dict[Kind, str] = {
    "positive": "log log2 log10 sqrt rsqrt lgamma digamma polygamma entr gammaln psi bessel_y0 bessel_y1 "
    "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
    "_standard_gamma _sample_dirichlet igamma igammac logspace poisson",
    "above_minus_one": "log1p",
    "above_one": "acosh arccosh",
    "inside_one": "acos asin atanh arccos arcsin arctanh erfinv chebyshev_polynomial_t chebyshev_polynomial_u "
    "chebyshev_polynomial_v chebyshev_polynomial_w legendre_polynomial_p hermite_polynomial_h hermite_polynomial_he",
    "unit": "logit ndtri bernoulli binary_cross_entropy binary_cross_entropy_backward logit_backward "
    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w laguerre_polynomial_l",
    "nonzero": "reciprocal",
    "moderate": "tan exp exp2 sinh cosh cumprod prod lerp logcumsumexp",
    "probabilities": "multinomial",
    "distinct": "sort argsort msort topk kthvalue median nanmedian max min argmax argmin cummax cummin _cummax_helper "
    "_cummin_helper aminmax amax amin max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices "
    "max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d "
    "fractional_max_pool2d fractional_max_pool3d",
}  # fmt: skip

#: The second operand divides.
_DIVISIONS = "div divide true_divide floor_divide fmod remainder"

_BY_PARAMETER: dict[str, dict[str, Kind]] = {
    "binary_cross_entropy": {"weight": "positive"},
    "binary_cross_entropy_backward": {"grad_output": "normal", "weight": "positive"},
    "binary_cross_entropy_with_logits": {"target": "unit", "weight": "positive", "pos_weight": "positive"},
    "logit_backward": {"grad_output": "normal"},
    "sigmoid_backward": {"output": "unit"},
    "tanh_backward": {"output": "inside_one"},
    "rsqrt_backward": {"result": "positive"},
    "xlogy": {"other": "positive"},
    "xlog1py": {"other": "positive"},
    "zeta": {"self": "above_one", "other": "above_one"},
    "addcdiv": {"tensor2": "nonzero", "tensors2": "nonzero"},
    "kl_div": {"self": "log_probabilities", "target": "probabilities"},
    "normal": {"std": "positive"},
    "binomial": {"count": "counts", "prob": "unit"},
    "_dirichlet_grad": {"x": "unit", "alpha": "positive", "total": "positive"},
    "_standard_gamma_grad": {"self": "positive", "output": "positive"},
    "grid_sampler_2d": {"grid": "grid"},
    "grid_sampler_3d": {"grid": "grid"},
    "grid_sampler_2d_backward": {"grid": "grid"},
    "grid_sampler_3d_backward": {"grid": "grid"},
    "_grid_sampler_2d_cpu_fallback": {"grid": "grid"},
    "fractional_max_pool2d": {"random_samples": "unit"},
    "fractional_max_pool3d": {"random_samples": "unit"},
    "poisson_nll_loss": {"target": "counts"},
    "quantile": {"q": "unit"},
    "nanquantile": {"q": "unit"},
    "bitwise_left_shift": {"other": "shift"},
    "bitwise_right_shift": {"other": "shift"},
    "__lshift__": {"other": "shift"},
    "__rshift__": {"other": "shift"},
    "__ilshift__": {"other": "shift"},
    "__irshift__": {"other": "shift"},
    "ldexp": {"other": "shift"},
    "logspace": {"start": "unit", "end": "unit"},
    "polar": {"abs": "positive"},
    "_assert_async": {"self": "ones"},
    "fake_quantize_per_tensor_affine_cachemask": {"scale": "positive", "zero_point": "coin"},
    "fake_quantize_per_channel_affine_cachemask": {"scale": "positive", "zero_point": "coin"},
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": {
        "scale": "positive", "zero_point": "coin", "fake_quant_enabled": "ones",
    },
    "_fake_quantize_learnable_per_tensor_affine": {"scale": "positive", "zero_point": "coin"},
    "_fake_quantize_learnable_per_channel_affine": {"scale": "positive", "zero_point": "coin"},
    "_amp_update_scale": {"self": "positive", "growth_tracker": "zeros", "found_inf": "zeros"},
    "_amp_foreach_non_finite_check_and_unscale": {"found_inf": "zeros", "inv_scale": "positive"},
    "_native_batch_norm_legit": {"weight": "positive"},
    "batch_norm_elemt": {"invstd": "positive"},
    "batch_norm_backward_elemt": {"invstd": "positive", "count": "counts"},
    "batch_norm_backward_reduce": {"invstd": "positive"},
    "_linalg_check_errors": {"info": "zeros"},
    "npu_rms_norm_backward": {"rstd": "positive"},
}  # fmt: skip

#: Fused optimizer steps: second moments are not negative, steps are counted from one.
_OPTIMIZER: dict[str, Kind] = {
    "exp_avg_sqs": "nonnegative", "max_exp_avg_sqs": "nonnegative", "state_sums": "nonnegative", "state_steps": "ones",
    "grad_scale": "ones", "found_inf": "zeros", "lr": "small_positive",
}  # fmt: skip

_MOMENTS: dict[str, Kind] = {
    "running_var": "positive", "save_invstd": "positive", "save_var": "positive", "invstd": "positive",
    "rstd": "positive", "running_variance": "positive",
}  # fmt: skip

#: Names of parameters that hold a place, a length or a flag, for operators that no table knows.
_INDEX = re.compile(r"ind(ex|ices)$|idx$|_ids?$|slot|position|target$|labels?$|offsets?$|block_table")
_SCALE = re.compile(r"scales?$|rstd$|invstd$|var$|std$|softmax_sum$")

_OF_OPERATOR: dict[str, Kind] = {name: kind for kind, names in _UNARY.items() for name in names.split()}


def kind_of(base: str, parameter: str, dtype: str, others: dict[str, object]) -> Kind:
    """The kind of values for one tensor parameter of an operator."""
    own = _BY_PARAMETER.get(base, {})
    if parameter in own:
        return own[parameter]
    if base.startswith("_fused_") and parameter in _OPTIMIZER:
        return _OPTIMIZER[parameter]
    if parameter in _MOMENTS:
        return _MOMENTS[parameter]
    if base in ("pow", "float_power"):
        return _power(parameter, dtype, others)
    if base in _DIVISIONS.split() and parameter in ("other", "exponent"):
        return "nonzero"
    if base == "gcd" or base == "lcm":
        return "positive"
    if base in _OF_OPERATOR and not parameter.startswith(("grad", "weight", "index", "n")):
        return _OF_OPERATOR[base]
    if not dtype.startswith(("float", "bfloat", "complex")) and _INDEX.search(parameter):
        return "zeros"  # in range of whatever it indexes
    return "positive" if _SCALE.search(parameter) and dtype.startswith(("float", "bfloat")) else "normal"


def _power(parameter: str, dtype: str, others: dict[str, object]) -> Kind:
    """A whole exponent takes any base but zero; any other a positive one. Integers have no negative powers."""
    if parameter == "self":
        exponent = others.get("exponent")
        whole = isinstance(exponent, int) or (isinstance(exponent, float) and exponent.is_integer())
        return "nonzero" if whole else "positive"
    return "moderate" if dtype.startswith(("float", "bfloat", "complex")) else "nonnegative"
