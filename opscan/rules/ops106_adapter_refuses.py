"""OPS106: Observed: the adapter raised for these dtypes."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS106",
    name="adapter-refuses",
    severity="error",
    verdict="unsupported",
    title=Text(
        "refused by torch_npu",
        "被 torch_npu 拒绝",
    ),
    message=Text(
        "torch_npu refuses {operator} for {dtypes}: {detail}",
        "torch_npu 拒绝以 {dtypes} 执行 {operator}：{detail}",
    ),
    why=Text(
        "The adapter checks the dtype itself and raises before any kernel is launched.",
        "适配器自行检查数据类型，并在启动内核之前报错。",
    ),
    fix=Text(
        "Compute in a dtype that it accepts.",
        "改用其接受的数据类型。",
    ),
    example="torch.sort(x.double())",
)
