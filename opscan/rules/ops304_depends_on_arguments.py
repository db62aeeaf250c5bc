"""OPS304: Several launches were observed for the same dtypes, and they are judged differently."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS304",
    name="depends-on-arguments",
    severity="warning",
    verdict="unknown",
    title=Text(
        "depends on arguments",
        "取决于参数",
    ),
    message=Text(
        "Which kernel {operator} launches depends on its arguments, and not every one accepts {dtypes}: {detail}",
        "{operator} 启动哪个内核取决于参数，且并非都接受 {dtypes}：{detail}",
    ),
    why=Text(
        "Some calls of this operator are refused and others are not.",
        "该算子的部分调用会被拒绝，其余不会。",
    ),
    fix=Text(
        "Compare the arguments of your call, or probe it on a device.",
        "请核对调用参数，或在设备上试运行。",
    ),
    example="",
)
