"""OPS305: Absent is unknown, never unsupported."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS305",
    name="no-table",
    severity="info",
    verdict="unknown",
    title=Text(
        "no table for this target",
        "没有该目标的数据表",
    ),
    message=Text(
        "torch_npu {release} registers {operator}, but the support matrix has no table of CANN {cann} on {soc}.",
        "torch_npu {release} 注册了 {operator}，但支持矩阵没有 CANN {cann} 在 {soc} 上的数据表。",
    ),
    why=Text(
        "Nothing is known of kernels and dtypes there; it is not a no.",
        "此处对内核与数据类型一无所知；这并不意味着不支持。",
    ),
    fix=Text(
        "Choose a target the matrix covers, or probe on a device.",
        "选择支持矩阵覆盖的目标，或在设备上试运行。",
    ),
    example="opscan model.py --soc ascend310p",
)
