"""OPS607: In the graph route: what torch.compile could not capture, at the user's line."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS607",
    name="graph-break",
    severity="warning",
    verdict=None,
    title=Text(
        "a graph break",
        "图中断",
    ),
    message=Text(
        "torch.compile leaves the graph here: {reason}.",
        "torch.compile 在此处离开计算图：{reason}。",
    ),
    why=Text(
        "What runs between two graphs runs operator by operator and is not in this report of the graph route; each break costs a round trip to the host.",
        "两个图之间的部分逐算子执行，不在本次图模式报告中；每次中断都要与主机往返一次。",
    ),
    fix=Text(
        "Move the line out of forward, or write it with tensors (torch.where, masks, torch.cond).",
        "把该行移出 forward，或改用张量表达（torch.where、掩码、torch.cond）。",
    ),
    example="if x.sum() > 0: x = x * 2",
    status="preview",
)
