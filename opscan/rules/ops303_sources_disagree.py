"""OPS303: Both sides are kept in the report; neither is believed."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS303",
    name="sources-disagree",
    severity="warning",
    verdict="unknown",
    title=Text(
        "sources disagree",
        "来源互相矛盾",
    ),
    message=Text(
        "Sources disagree: {detail}",
        "来源互相矛盾：{detail}",
    ),
    why=Text(
        "A dtype that was listed at one release and is not at another may be an error of the documents.",
        "某版本列出而另一版本未列出的数据类型，可能是文档错误。",
    ),
    fix=Text(
        "Probe it on a device.",
        "请在设备上试运行。",
    ),
    example="",
)
