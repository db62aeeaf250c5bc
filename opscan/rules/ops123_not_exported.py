"""OPS123: In the offline route, torch's ONNX exporters have no translation of an operator."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS123",
    name="not-exported",
    severity="error",
    verdict="unsupported",
    title=Text(
        "no export to ONNX",
        "无法导出为 ONNX",
    ),
    message=Text(
        "torch.onnx.export of torch {exporter_torch} refuses {operator} on {dtypes}: {detail}",
        "torch {exporter_torch} 的 torch.onnx.export 拒绝 {dtypes} 的 {operator}：{detail}",
    ),
    why=Text(
        "There is no ONNX model for ATC to convert.",
        "没有可供 ATC 转换的 ONNX 模型。",
    ),
    fix=Text(
        "Write it with operators that export, or give the exporter a translation of your own.",
        "改用可导出的算子，或为导出器提供自定义转换。",
    ),
    example="torch.onnx.export(model, args, 'model.onnx', custom_translation_table={op: translation})",
    status="preview",
)
