"""OPS308: What an operator becomes in this route was not observed."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS308",
    name="route-not-observed",
    severity="warning",
    verdict="unknown",
    title=Text(
        "not observed in this route",
        "该路线未观察到",
    ),
    message=Text(
        "What {operator} becomes in this route is not known: {detail}",
        "未知 {operator} 在该路线中会变成什么：{detail}",
    ),
    why=Text(
        "The model's own export decides.",
        "取决于模型自身的导出结果。",
    ),
    fix=Text(
        "Export the model and look at the operators of its graph.",
        "导出模型并查看图中的算子。",
    ),
    example="",
    status="preview",
)
