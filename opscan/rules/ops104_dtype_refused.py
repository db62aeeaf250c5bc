"""OPS104: The kernel that the adapter launches documents the dtypes of each parameter, and this one is not among them."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS104",
    name="dtype-refused",
    severity="error",
    verdict="unsupported",
    title=Text(
        "dtype refused by the kernel",
        "内核不接受该数据类型",
    ),
    message=Text(
        "{api} does not list {dtype} for its parameter {parameter} at CANN {cann} on {soc}.",
        "在 CANN {cann}、{soc} 上，{api} 的参数 {parameter} 不支持 {dtype}。",
    ),
    why=Text(
        "The kernel rejects the call at run time (161002 or EZ1001), not at compile time.",
        "内核在运行时拒绝该调用（161002 或 EZ1001），而不是在编译时。",
    ),
    fix=Text(
        "Compute in a dtype that the kernel lists, or use a newer CANN release that lists it.",
        "改用内核支持的数据类型，或使用支持它的更新 CANN 版本。",
    ),
    example="torch.expm1(x.double())",
)
