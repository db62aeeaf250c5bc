"""OPS669: An exported model holds a size that should vary as a constant."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS669",
    name="size-in-export",
    severity="warning",
    verdict=None,
    title=Text("a size that the export fixes", "导出时固定的尺寸"),
    message=Text(
        "The exported model holds sizes that should vary as constants: {sizes}.",
        "导出的模型把应当变化的尺寸固化为常量：{sizes}。",
    ),
    why=Text(
        "Gears and ranges of ATC change the inputs' sizes; constants within the graph stay, and the model then fails or computes something else.",
        "ATC 的档位和范围只改变输入尺寸；图内的常量不变，模型会转换失败或计算结果不同。",
    ),
    fix=Text(
        "Export with dynamic_shapes (dynamic_axes for the older exporter), and compute sizes from x.shape within forward; or convert one model for each size.",
        "导出时使用 dynamic_shapes（旧导出器用 dynamic_axes），并在 forward 中用 x.shape 计算尺寸；或为每种尺寸分别转换模型。",
    ),
    example='torch.onnx.export(model, args, "m.onnx", dynamo=True, dynamic_shapes={"x": {0: "batch"}})',
    status="preview",
)
