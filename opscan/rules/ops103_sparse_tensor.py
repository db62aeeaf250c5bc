"""OPS103: Sparse tensors dispatch to kernels of their own, and torch_npu's CPU fallback is for dense ones."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS103",
    name="sparse-tensor",
    severity="error",
    verdict="unsupported",
    title=Text(
        "no kernel for sparse tensors",
        "没有稀疏张量的内核",
    ),
    message=Text(
        "torch_npu {release} has no kernel of {operator} for sparse tensors, and its CPU fallback takes dense ones only.",
        "torch_npu {release} 没有 {operator} 的稀疏张量内核，且其 CPU 回退只接受稠密张量。",
    ),
    why=Text(
        "The model stops at this line on an NPU.",
        "模型在 NPU 上运行到这一行会中止。",
    ),
    fix=Text(
        "Use dense tensors, or index_add and scatter_add over the indices.",
        "改用稠密张量，或对索引使用 index_add、scatter_add。",
    ),
    example="torch.sparse.mm(adjacency, x)",
)
