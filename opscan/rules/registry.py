"""Every rule, by code."""

from __future__ import annotations

from collections.abc import Mapping

from opscan.rules import (
    ops101_no_kernel,
    ops102_cpu_fallback,
    ops103_sparse_tensor,
    ops104_dtype_refused,
    ops105_api_not_on_soc,
    ops106_adapter_refuses,
    ops107_dtype_not_on_soc,
    ops108_nested_tensor,
    ops110_rank_refused,
    ops111_no_converter,
    ops112_converter_raises,
    ops121_no_onnx_parser,
    ops122_onnx_opset,
    ops123_not_exported,
    ops201_hidden_cpu,
    ops202_ai_cpu,
    ops203_host_sync,
    ops204_host_copy,
    ops301_operator_not_in_release,
    ops302_dtype_unverified,
    ops303_sources_disagree,
    ops304_depends_on_arguments,
    ops305_no_table,
    ops306_undocumented,
    ops307_parts_unseen,
    ops308_route_not_observed,
    ops601_cuda_named,
    ops602_device_forgotten,
    ops603_data_dependent,
    ops604_cpu_tensor,
    ops605_shape_unknown,
    ops606_double_narrowed,
)
from opscan.rules.interface import Rule

RULES: Mapping[str, Rule] = {
    module.RULE.code: module.RULE
    for module in (
        ops101_no_kernel,
        ops102_cpu_fallback,
        ops103_sparse_tensor,
        ops104_dtype_refused,
        ops105_api_not_on_soc,
        ops106_adapter_refuses,
        ops107_dtype_not_on_soc,
        ops108_nested_tensor,
        ops110_rank_refused,
        ops111_no_converter,
        ops112_converter_raises,
        ops121_no_onnx_parser,
        ops122_onnx_opset,
        ops123_not_exported,
        ops201_hidden_cpu,
        ops202_ai_cpu,
        ops203_host_sync,
        ops204_host_copy,
        ops301_operator_not_in_release,
        ops302_dtype_unverified,
        ops303_sources_disagree,
        ops304_depends_on_arguments,
        ops305_no_table,
        ops306_undocumented,
        ops307_parts_unseen,
        ops308_route_not_observed,
        ops601_cuda_named,
        ops602_device_forgotten,
        ops603_data_dependent,
        ops604_cpu_tensor,
        ops605_shape_unknown,
        ops606_double_narrowed,
    )
}
