"""OPS622: An ONNX file is of a newer opset than ATC reads; it was judged as the version converter makes it."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS622",
    name="opset-converted",
    severity="warning",
    verdict=None,
    title=Text(
        "an opset newer than ATC reads",
        "opset 新于 ATC 可读的版本",
    ),
    message=Text(
        "The file is of opset {opset}, which ATC does not read. It was converted to opset {converted} and judged as such.",
        "文件的 opset 为 {opset}，ATC 无法读取。已转换为 opset {converted} 并据此判断。",
    ),
    why=Text(
        "ATC has parsers for operators up to opset 18, and stops with E16002 at a newer one.",
        "ATC 的解析器最高支持 opset 18，更高版本会以 E16002 中止。",
    ),
    fix=Text(
        "Export with opset_version=18, or convert the file with onnx.version_converter.",
        "以 opset_version=18 导出，或用 onnx.version_converter 转换文件。",
    ),
    example="onnx.save(onnx.version_converter.convert_version(onnx.load('model.onnx'), 18), 'model18.onnx')",
    status="preview",
)
