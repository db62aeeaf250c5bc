"""OPS107: A curated fact about dtypes, SoCs and releases, with its evidence."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS107",
    name="dtype-not-on-soc",
    severity="error",
    verdict="unsupported",
    title=Text(
        "dtype not on this SoC",
        "该 SoC 不支持此数据类型",
    ),
    message=Text(
        "{detail}",
        "{detail}",
    ),
    why=Text(
        "No operator can use the dtype on this SoC, whatever its kernel.",
        "无论哪个内核，该 SoC 上的任何算子都不能使用此数据类型。",
    ),
    fix=Text(
        "Use a dtype the SoC has: float16 in place of bfloat16, int64 in place of uint64.",
        "改用 SoC 支持的类型：以 float16 代替 bfloat16，以 int64 代替 uint64。",
    ),
    example="model.to(torch.bfloat16)  # on Ascend 310P",
)
