"""OPS626: A model exported to ONNX does not compute what the module does."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS626",
    name="export-differs",
    severity="warning",
    verdict=None,
    title=Text(
        "the exported model computes something else",
        "导出的模型计算结果不同",
    ),
    message=Text(
        "onnxruntime and the module differ in output {output}: {detail}.",
        "onnxruntime 与模型在输出 {output} 上不一致：{detail}。",
    ),
    why=Text(
        "What is converted is not the model that was written: the exporter baked in a value or took another path.",
        "被转换的不是原来的模型：导出器固化了某个值，或走了另一条分支。",
    ),
    fix=Text(
        "Look for values of Python that depend on tensors, and for branches on them.",
        "检查依赖张量的 Python 值及其分支。",
    ),
    example="n = int(x.sum())  # a constant of the exported model",
    status="preview",
)
