"""OPS122: In the offline route, ATC parses an ONNX operator, but not at the opset asked for."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS122",
    name="onnx-opset",
    severity="error",
    verdict="unsupported",
    title=Text(
        "ONNX opset not parsed",
        "ONNX opset 无法解析",
    ),
    message=Text(
        "ATC of CANN {cann} parses {api} at opsets {detail}, not at {opset}.",
        "CANN {cann} 的 ATC 可解析 opset {detail} 的 {api}，不支持 {opset}。",
    ),
    why=Text(
        "The conversion stops with E16002.",
        "转换会以 E16002 中止。",
    ),
    fix=Text(
        "Export at an opset that ATC parses, 18 at most.",
        "以 ATC 可解析的 opset 导出，最高为 18。",
    ),
    example="torch.onnx.export(model, args, 'model.onnx', opset_version=20)",
    status="preview",
)
