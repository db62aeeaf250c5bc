"""OPS307: A composite kernel calls other operators; here their list could not be had."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS307",
    name="parts-unseen",
    severity="info",
    verdict="unknown",
    title=Text(
        "parts could not be observed",
        "无法观察其组成部分",
    ),
    message=Text(
        "{operator} is composed of other operators below the dispatcher's sight, and they could not be observed.",
        "{operator} 由调度器不可见的其他算子组成，且无法观察到它们。",
    ),
    why=Text(
        "Its verdict is that of its parts, and they are not known.",
        "其结论取决于组成部分，而它们未知。",
    ),
    fix=Text(
        "Probe it on a device.",
        "请在设备上试运行。",
    ),
    example="",
)
