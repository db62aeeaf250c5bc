"""OPS105: Kernels differ by SoC: an operator registered by torch_npu may still have no kernel on the chip at hand."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS105",
    name="api-not-on-soc",
    severity="error",
    verdict="unsupported",
    title=Text(
        "kernel not on this SoC",
        "该 SoC 上没有此内核",
    ),
    message=Text(
        "{api} is documented as not available on {soc} at CANN {cann}.",
        "文档说明在 CANN {cann} 上 {api} 不支持 {soc}。",
    ),
    why=Text(
        "The adapter launches a kernel that this SoC does not have: the call raises.",
        "适配器调用了该 SoC 上不存在的内核：调用会报错。",
    ),
    fix=Text(
        "Use another operator or another SoC.",
        "改用其他算子或其他 SoC。",
    ),
    example="torch.fft.fft2(x)",
)
