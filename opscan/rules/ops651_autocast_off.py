"""OPS651: torch_npu switches autocast off where the chip does not have its dtype."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS651",
    name="autocast-off",
    severity="warning",
    verdict=None,
    title=Text(
        "autocast is switched off",
        "autocast 被关闭",
    ),
    message=Text(
        "Autocast to {dtype} is switched off on this chip, with a warning: the operators run in the model's own dtypes.",
        "该芯片上转换到 {dtype} 的 autocast 会被关闭（仅有一条警告）：算子以模型自身的数据类型运行。",
    ),
    why=Text(
        "torch asks torch_npu for the dtypes that autocast may use; the chips before Ascend910B1 have no bfloat16. The "
        "model is slower and takes more memory than expected.",
        "torch 会向 torch_npu 询问 autocast 可用的数据类型；Ascend910B1 之前的芯片没有 bfloat16。模型会比预期更慢、占用更多内存。",
    ),
    fix=Text(
        "Use float16 on these chips: --amp fp16, torch.autocast('npu', dtype=torch.float16).",
        "在这些芯片上使用 float16：--amp fp16，torch.autocast('npu', dtype=torch.float16)。",
    ),
    example="with torch.autocast('npu', dtype=torch.bfloat16):  # on Ascend 310P",
    status="preview",
)
