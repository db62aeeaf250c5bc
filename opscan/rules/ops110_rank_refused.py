"""OPS110: The kernel that the adapter launches documents how many dimensions a parameter may have, and this call has more."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS110",
    name="rank-refused",
    severity="error",
    verdict="unsupported",
    title=Text(
        "number of dimensions refused by the kernel",
        "内核不接受该维数",
    ),
    message=Text(
        "{api} does not take a tensor of {detail} dimensions for its parameter {parameter} at CANN {cann} on {soc}.",
        "在 CANN {cann}、{soc} 上，{api} 的参数 {parameter} 不接受 {detail} 维张量。",
    ),
    why=Text(
        "The kernel rejects the call at run time (161002 or EZ1001), not at compile time.",
        "内核在运行时拒绝该调用（161002 或 EZ1001），而不是在编译时。",
    ),
    fix=Text(
        "Merge dimensions before the call (flatten, reshape) and split them behind it.",
        "在调用前合并维度（flatten、reshape），调用后再拆分。",
    ),
    example="torch.ones((1,) * 9, device='npu').neg()",
)
