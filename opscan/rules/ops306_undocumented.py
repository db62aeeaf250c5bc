"""OPS306: The adapter was seen to launch the kernel."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS306",
    name="undocumented",
    severity="info",
    verdict="unknown",
    title=Text(
        "kernel without documented limits",
        "内核没有文档约束",
    ),
    message=Text(
        "{operator} launches {api}, which has no documented constraints at CANN {cann} on {soc}.",
        "{operator} 启动 {api}，但在 CANN {cann}、{soc} 上没有其约束文档。",
    ),
    why=Text(
        "The kernel exists in the adapter; what it accepts at this release is not written down.",
        "适配器中存在该内核，但该版本没有记录其接受的类型。",
    ),
    fix=Text(
        "Probe it on a device.",
        "请在设备上试运行。",
    ),
    example="",
)
