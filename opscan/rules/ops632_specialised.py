"""OPS632: A captured program holds for these inputs alone."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS632",
    name="specialised",
    severity="warning",
    verdict=None,
    title=Text(
        "captured for these inputs alone",
        "仅对这些输入有效",
    ),
    message=Text(
        "The captured program holds for these inputs alone here: {what}.",
        "捕获的程序在此处仅对这些输入有效：{what}。",
    ),
    why=Text(
        "What is captured repeats what these inputs led to. Other sizes or values need another capture, and a compilation of their own on the NPU.",
        "捕获的内容重复这些输入所走的路径；其他尺寸或取值需要重新捕获，并在 NPU 上重新编译。",
    ),
    fix=Text(
        "Write it with operators on whole tensors, or capture once for each of the few sizes that occur.",
        "改用对整个张量的算子，或对会出现的少数几种尺寸分别捕获。",
    ),
    example="for row in x: rows.append(self.cell(row))",
    status="preview",
)
