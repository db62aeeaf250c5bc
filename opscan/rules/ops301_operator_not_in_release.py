"""OPS301: Decompositions change from torch to torch: an operator seen here need not exist there."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS301",
    name="operator-not-in-release",
    severity="warning",
    verdict="unknown",
    title=Text(
        "operator unknown to the release",
        "该版本没有此算子",
    ),
    message=Text(
        "torch {torch}, which torch_npu {release} is built for, has no operator {operator}; the trace was taken on torch {host_torch}.",
        "torch_npu {release} 所基于的 torch {torch} 没有算子 {operator}；跟踪是在 torch {host_torch} 上进行的。",
    ),
    why=Text(
        "The model runs other operators on the target than the ones seen here.",
        "模型在目标环境上运行的算子与此处看到的不同。",
    ),
    fix=Text(
        "Scan with the target's own torch installed.",
        "请安装目标版本的 torch 后再扫描。",
    ),
    example="opscan model.py --torch-npu 2.1.0.post17  # under a newer torch",
)
