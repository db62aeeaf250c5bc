"""OPS603: One path of many was traced."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS603",
    name="data-dependent",
    severity="warning",
    verdict=None,
    title=Text(
        "a value that depends on data",
        "依赖数据的值",
    ),
    message=Text(
        "The model asks for {what} here, which depends on data; the trace assumed {answer} and went on. Other data may take another path.",
        "模型在此处需要依赖数据的值（{what}）；跟踪时假定为 {answer} 并继续。其他数据可能走另一条路径。",
    ),
    why=Text(
        "Operators on other paths are not in this report; the host waits for the device here; graph capture breaks here.",
        "其他路径上的算子不在本报告中；主机在此等待设备；图捕获在此中断。",
    ),
    fix=Text(
        "Give example_inputs() that take the usual path, or write the branch with tensors (torch.where, masks).",
        "提供走常用路径的 example_inputs()，或用张量表达分支（torch.where、掩码）。",
    ),
    example="while order.numel() > 0: order = order[overlap < 0.5]",
)
