"""OPS634: A model changes what it holds, or its inputs, when it runs."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS634",
    name="state-changes",
    severity="info",
    verdict=None,
    title=Text(
        "state that a run changes",
        "运行时改变的状态",
    ),
    message=Text(
        "The model changes {what} in place here when it runs.",
        "模型运行时在此处原地修改 {what}。",
    ),
    why=Text(
        "A graph on the NPU has to carry the state in and out; runs side by side see each other. An offline model (OM) keeps none.",
        "NPU 上的图必须将该状态作为输入输出传递；并行运行会互相影响。离线模型（OM）不保留状态。",
    ),
    fix=Text(
        "For the offline route, make the state an input and an output of the model.",
        "若走离线路线，请将该状态改为模型的输入与输出。",
    ),
    example="self.cache[:, position] = key",
    status="preview",
)
