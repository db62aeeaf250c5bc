"""OPS609: In the graph route: torch.compile itself raises, at the user's line."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS609",
    name="not-compiled",
    severity="warning",
    verdict=None,
    title=Text(
        "torch.compile fails",
        "torch.compile 失败",
    ),
    message=Text(
        "torch.compile raises here, before torchair is given the operators that follow: {reason}.",
        "torch.compile 在此处报错，其后的算子不会交给 torchair：{reason}。",
    ),
    why=Text(
        "The model does not run in the graph route, and what follows the line is not in this report.",
        "模型无法以图模式运行，且该行之后的内容不在本报告中。",
    ),
    fix=Text(
        "Rewrite the line, or keep it out of the graph: torch.compiler.disable on the function that holds it.",
        "改写该行，或用 torch.compiler.disable 将所在函数排除在图之外。",
    ),
    example="F.interpolate(x, size=(16, 16), mode='bilinear')  # x of which torch_npu refuses the memory format",
    status="preview",
)
