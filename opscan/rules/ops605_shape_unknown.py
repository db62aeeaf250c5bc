"""OPS605: The operator has no shape function; the shapes of its results come from one run on the CPU."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS605",
    name="shape-unknown",
    severity="info",
    verdict=None,
    title=Text("an operator without a shape function", "没有形状函数的算子"),
    message=Text(
        "{operator} has no shape function (meta or fake kernel). Its CPU kernel ran once on made-up values of the recorded shapes.",
        "{operator} 没有形状函数（meta 或 fake 内核）。其 CPU 内核以记录的形状和虚构的值运行了一次。",
    ),
    why=Text(
        "If the shapes of its results depend on values, what follows may differ.",
        "如果其结果的形状取决于输入的值，后续内容可能不同。",
    ),
    fix=Text(
        "Register a fake kernel with torch.library.register_fake.",
        "请用 torch.library.register_fake 注册 fake 内核。",
    ),
    example='torch.library.define("ns::op", "(Tensor x) -> Tensor")  # with a CPU kernel only',
)
