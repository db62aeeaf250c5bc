"""OPS108: Nested tensors have no kernels on the device."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS108",
    name="nested-tensor",
    severity="error",
    verdict="unsupported",
    title=Text(
        "no kernels for nested tensors",
        "没有嵌套张量的内核",
    ),
    message=Text(
        "{operator} makes a nested tensor, and torch_npu {release} has no kernels for those: the next operator raises.",
        "{operator} 会创建嵌套张量，而 torch_npu {release} 没有其内核：下一个算子会报错。",
    ),
    why=Text(
        "nn.TransformerEncoder in eval makes one from a padding mask that is left-aligned, as padding usually is.",
        "eval 模式下的 nn.TransformerEncoder 会由左对齐的填充掩码（通常如此）创建嵌套张量。",
    ),
    fix=Text(
        "Build it with nn.TransformerEncoder(..., enable_nested_tensor=False), or keep padded tensors.",
        "以 nn.TransformerEncoder(..., enable_nested_tensor=False) 构建，或保留填充后的张量。",
    ),
    example="nn.TransformerEncoder(layer, 6)(x, src_key_padding_mask=mask)",
)
