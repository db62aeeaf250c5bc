"""OPS102: torch_npu's boxed fallback computes the operator on the host. It is for dense tensors."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS102",
    name="cpu-fallback",
    severity="warning",
    verdict="fallback",
    title=Text(
        "falls back to the CPU",
        "回退到 CPU",
    ),
    message=Text(
        "torch_npu {release} registers no kernel for {operator}: it runs on the CPU, with copies to the host and back.",
        "torch_npu {release} 未注册 {operator} 的内核：它在 CPU 上运行，并与主机来回拷贝。",
    ),
    why=Text(
        "Each call waits for the NPU, copies its inputs to the host, computes there and copies back: slow in a loop, tolerable once.",
        "每次调用都要等待 NPU、把输入拷回主机计算再拷回设备：循环中很慢，偶尔一次尚可。",
    ),
    fix=Text(
        "Replace it with operators that have a kernel, or keep it out of the hot path.",
        "改用有内核的算子，或将其移出热点路径。",
    ),
    example="torch.lgamma(x)",
)
