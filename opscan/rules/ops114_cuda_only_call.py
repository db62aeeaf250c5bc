"""OPS114: A function of a package whose kernels are written for CUDA."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS114",
    name="cuda-only-call",
    severity="error",
    verdict="unsupported",
    title=Text(
        "a kernel for CUDA only",
        "仅有 CUDA 内核",
    ),
    message=Text(
        "{operator} is computed by a CUDA kernel of its own package, outside of torch: an NPU cannot run it. {advice}",
        "{operator} 由其软件包自带的 CUDA 内核计算，不经过 torch：NPU 无法运行。{advice}",
    ),
    why=Text(
        "Neither torch_npu nor CANN is asked: the package's kernel is machine code for NVIDIA GPUs.",
        "该调用不经过 torch_npu 和 CANN：软件包的内核是 NVIDIA GPU 的机器码。",
    ),
    fix=Text(
        "Call what computes the same with torch's or torch_npu's operators, then scan again.",
        "改用 torch 或 torch_npu 的等价算子，然后重新扫描。",
    ),
    example="flash_attn.flash_attn_func(q, k, v, causal=True)",
    status="preview",
)
