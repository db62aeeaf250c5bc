"""OPS111: In the graph route, torchair has no converter for an operator that reaches it."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS111",
    name="no-converter",
    severity="error",
    verdict="unsupported",
    title=Text(
        "no converter in the graph route",
        "图模式没有转换器",
    ),
    message=Text(
        "torchair of torch_npu {release} has no converter for {operator}.",
        "torch_npu {release} 的 torchair 没有 {operator} 的转换器。",
    ),
    why=Text(
        "torch.compile with the torchair backend stops when it meets the operator.",
        "使用 torchair 后端的 torch.compile 遇到该算子会中止。",
    ),
    fix=Text(
        "Write it with operators that have a converter, register one, or keep this part of the model eager.",
        "改用有转换器的算子、自行注册转换器，或让模型的这一部分保持单算子模式。",
    ),
    example="torch.compile(model, backend=npu_backend)",
    status="preview",
)
