"""OPS121: In the offline route, ATC has no parser for an ONNX operator."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS121",
    name="no-onnx-parser",
    severity="error",
    verdict="unsupported",
    title=Text(
        "no parser in the offline route",
        "离线转换没有解析器",
    ),
    message=Text(
        "ATC of CANN {cann} has no parser for {api}.",
        "CANN {cann} 的 ATC 没有 {api} 的解析器。",
    ),
    why=Text(
        "The conversion stops with E19010 or EZ9010.",
        "转换会以 E19010 或 EZ9010 中止。",
    ),
    fix=Text(
        "Export the operator as others that ATC parses, or write a parser plugin.",
        "导出为 ATC 可解析的算子，或编写解析插件。",
    ),
    example="torch.onnx.export(model, args, 'model.onnx', opset_version=18)",
    status="preview",
)
