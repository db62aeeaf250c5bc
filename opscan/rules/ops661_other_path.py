"""OPS661: At other sizes of an input the model runs other operators."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS661",
    name="other-path",
    severity="warning",
    verdict=None,
    title=Text("another path at another size", "尺寸不同时走另一条路径"),
    message=Text(
        "At {sizes} the model runs other operators than at {given}: {operators}.",
        "{sizes} 时模型运行的算子与 {given} 时不同：{operators}。",
    ),
    why=Text(
        "Compiled graphs and exported models hold one path: torch.compile compiles again for the other, and an ONNX "
        "export keeps the one of its sample inputs.",
        "编译后的图和导出的模型只含一条路径：torch.compile 会为另一条路径重新编译，ONNX 导出则只保留样例输入所走的路径。",
    ),
    fix=Text(
        "Where a loop runs over a size, write it over the whole tensor; where a branch asks for a size, pad to sizes of "
        "one branch, or compile and export once for each.",
        "若循环次数取决于尺寸，改为对整个张量运算；若分支取决于尺寸，将输入填充到同一分支的尺寸，或分别编译和导出。",
    ),
    example="for t in range(x.shape[1]): h = cell(x[:, t], h)",
    status="preview",
)
