"""OPS625: An ONNX file has no inputs."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS625",
    name="no-inputs",
    severity="warning",
    verdict=None,
    title=Text(
        "a model without inputs",
        "没有输入的模型",
    ),
    message=Text(
        "The model has no inputs: all its values are constants.",
        "模型没有输入：所有值均为常量。",
    ),
    why=Text(
        "ATC stops with E16001 at a graph that has none.",
        "遇到没有输入的图，ATC 会以 E16001 中止。",
    ),
    fix=Text(
        "Give the model the input that it computes on.",
        "为模型添加其计算所用的输入。",
    ),
    example="torch.onnx.export(model, (), 'model.onnx')",
    status="preview",
)
