"""OPS112: In the graph route, torchair's converter of an operator refuses every call, or this one."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS112",
    name="converter-raises",
    severity="error",
    verdict="unsupported",
    title=Text(
        "the converter refuses",
        "转换器拒绝",
    ),
    message=Text(
        "torchair of torch_npu {release} refuses to convert {operator}: {detail}",
        "torch_npu {release} 的 torchair 拒绝转换 {operator}：{detail}",
    ),
    why=Text(
        "torch.compile with the torchair backend stops when it meets the operator.",
        "使用 torchair 后端的 torch.compile 遇到该算子会中止。",
    ),
    fix=Text(
        "Write it with operators that have a converter, or keep this part of the model eager.",
        "改用有转换器的算子，或让模型的这一部分保持单算子模式。",
    ),
    example="torch.compile(model, backend=npu_backend)",
    status="preview",
)
