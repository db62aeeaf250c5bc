"""OPS302: A registration says that a kernel exists, not what it accepts."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS302",
    name="dtype-unverified",
    severity="info",
    verdict="unknown",
    title=Text(
        "registered, dtype unverified",
        "已注册，数据类型未验证",
    ),
    message=Text(
        "torch_npu {release} registers {operator}, but its kernels were never observed for {dtypes}.",
        "torch_npu {release} 注册了 {operator}，但从未观察到其内核处理 {dtypes}。",
    ),
    why=Text(
        "It probably runs; nothing here says for which dtypes.",
        "它很可能可以运行，但此处没有关于数据类型的依据。",
    ),
    fix=Text(
        "Probe it on a device before relying on it.",
        "依赖它之前请在设备上试运行。",
    ),
    example="",
)
