"""OPS631: A tensor became a constant of a captured program."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS631",
    name="constant-in-program",
    severity="info",
    verdict=None,
    title=Text(
        "a tensor became a constant",
        "张量成为常量",
    ),
    message=Text(
        "Capturing the model turned a tensor that is made here into a constant: {what}.",
        "捕获模型时，此处创建的张量变成了常量：{what}。",
    ),
    why=Text(
        "The captured program keeps the values of this run; a large constant is stored with it once for every place that makes it.",
        "捕获的程序保留本次运行的值；较大的常量会随程序一同保存。",
    ),
    fix=Text(
        "Register the tensor as a buffer, or compute it from tensors of the inputs if it depends on them.",
        "将该张量注册为 buffer；若依赖输入，则由输入张量计算得到。",
    ),
    example="bias = torch.tensor(table)  # in forward",
    status="preview",
)
