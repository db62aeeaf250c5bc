"""OPS633: A write to memory that other tensors share may be lost in a captured program."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS633",
    name="write-may-be-lost",
    severity="warning",
    verdict=None,
    title=Text(
        "a write that capturing may lose",
        "捕获可能丢失的写入",
    ),
    message=Text(
        "Capturing may lose a write in place here: {what}.",
        "捕获可能丢失此处的原地写入：{what}。",
    ),
    why=Text(
        "Other tensors share the memory that is written; in a traced program they may keep the old values.",
        "其他张量共享被写入的内存；在跟踪得到的程序中它们可能保留旧值。",
    ),
    fix=Text(
        "Write the result to a tensor of its own, or use index_put and where.",
        "将结果写入独立的张量，或使用 index_put、where。",
    ),
    example="y = x[0]; y += 1",
    status="preview",
)
