"""OPS113: Measured on an NPU: the operator takes the process or its kernel down."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS113",
    name="crashes-on-npu",
    severity="error",
    verdict="unsupported",
    title=Text(
        "crashes on the NPU",
        "在 NPU 上崩溃",
    ),
    message=Text(
        "{operator} for {dtypes} crashes on {soc}: {detail}",
        "{operator} 以 {dtypes} 在 {soc} 上崩溃：{detail}",
    ),
    why=Text(
        "A probe ran the operator alone, in a process of its own: the process died, or the device reported that the kernel did.",
        "探测在独立进程中单独运行了该算子：进程崩溃，或设备报告内核崩溃。",
    ),
    fix=Text(
        "Write it with other operators or other dtypes, or update CANN and the driver.",
        "改用其他算子或其他数据类型，或升级 CANN 与驱动。",
    ),
    example="opscan probe model.py",
)
