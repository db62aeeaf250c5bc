"""OPS610: Where a package with CUDA kernels is imported or called."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS610",
    name="cuda-extension",
    severity="error",
    verdict=None,
    title=Text(
        "a CUDA extension",
        "CUDA 扩展",
    ),
    message=Text(
        "{operator} is a CUDA extension, which is not installed here; the trace used a stand-in for it. {advice}",
        "{operator} 是 CUDA 扩展，此处未安装；跟踪时使用了替身。{advice}",
    ),
    why=Text(
        "As it is, the model does not run on an NPU: the import or the call fails there.",
        "模型目前无法在 NPU 上运行：导入或调用会失败。",
    ),
    fix=Text(
        "Replace it, or make the import optional and the model do without it.",
        "替换它，或将导入设为可选并让模型不依赖它。",
    ),
    example="from flash_attn import flash_attn_func",
    status="preview",
)
