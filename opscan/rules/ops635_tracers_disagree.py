"""OPS635: Inventories of several tracers differ about an operator that is not supported."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS635",
    name="tracers-disagree",
    severity="warning",
    verdict=None,
    title=Text(
        "tracers disagree about an operator",
        "各跟踪器对某算子的结果不一致",
    ),
    message=Text(
        "{operator} ({verdict}) is in the inventory of {seen}, and not in that of {missed}.",
        "{operator}（{verdict}）出现在 {seen} 的清单中，但不在 {missed} 的清单中。",
    ),
    why=Text(
        "One of the inventories missed something, or the tracers took different paths. The verdicts of this report are those of one inventory.",
        "其中一份清单有遗漏，或各跟踪器走了不同的路径。本报告的判定只依据一份清单。",
    ),
    fix=Text(
        "Look at the line: if the model calls the operator there with your inputs, count it; scan with the tracer that saw it (--tracer) for its verdict.",
        "查看该行代码：若模型在您的输入下会在此调用该算子，则应计入；可用看到它的跟踪器重新扫描（--tracer）以查看其判定。",
    ),
    example="opscan model.py --cross-check",
)
