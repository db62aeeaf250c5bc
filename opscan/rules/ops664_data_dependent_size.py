"""OPS664: The number of elements in a result, or a value that the host reads, depends on data."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS664",
    name="data-dependent-size",
    severity="info",
    verdict=None,
    title=Text("sizes and values that depend on data", "依赖数据的尺寸和值"),
    message=Text(
        "{operators}: the size of the result, or a value that the host reads, depends on data.",
        "{operators}：结果的大小或主机读取的值取决于数据。",
    ),
    why=Text(
        "In eager mode the host waits for the device here. A captured graph breaks or has a size that no gear covers, and ATC's batch and image gears refuse such a network.",
        "Eager 模式下主机在此等待设备；图捕获会在此中断，或出现档位无法覆盖的尺寸；ATC 的 batch 和分辨率分档不支持此类网络。",
    ),
    fix=Text(
        "Keep the size fixed: masks in place of selections, torch.where, top-k with a fixed k, bincount by one_hot and sum; or leave this part to the host, behind the graph.",
        "保持尺寸固定：用掩码代替选取、用 torch.where、固定 k 的 topk、以 one_hot 求和代替 bincount；或将该部分放在图之后由主机处理。",
    ),
    example="x[mask]; torch.nonzero(x); torch.bincount(ids); loss.item()",
    status="preview",
)
