"""OPS671: A part of the model that the trace did not reach."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS671",
    name="module-not-run",
    severity="info",
    verdict=None,
    title=Text("a part of the model that did not run", "模型中未运行的部分"),
    message=Text(
        "With these inputs no operator takes a parameter of {modules}: {parameters} of the model's {total} parameters. What these modules would run is not in the inventory.",
        "在这些输入下，没有算子使用 {modules} 的参数：占模型 {total} 个参数中的 {parameters} 个。这些模块会运行的算子不在清单中。",
    ),
    why=Text(
        "The verdict speaks of what ran. A part that needs other inputs, that only training uses, or that a value sends nothing to, is not judged.",
        "结论只针对运行过的部分。需要其他输入、仅训练使用、或因取值而未被用到的部分不在结论之内。",
    ),
    fix=Text(
        "Give the inputs that reach it (--input NAME=SHAPE), add --train, or ignore it where your service does not use it either.",
        "请提供会用到它的输入（--input NAME=SHAPE），加上 --train；若实际业务也不使用它，可忽略。",
    ),
    example="model(input_ids)  # and no pixel_values: the vision tower does not run",
)
