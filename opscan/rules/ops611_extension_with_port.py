"""OPS611: Where a package with CUDA kernels is imported or called, of which there is a version for NPUs."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS611",
    name="extension-with-port",
    severity="warning",
    verdict=None,
    title=Text(
        "an extension with a version for NPUs",
        "有 NPU 版本的扩展包",
    ),
    message=Text(
        "{operator} is an extension for CUDA, which is not installed here; the trace used a stand-in for it. {advice}",
        "{operator} 是面向 CUDA 的扩展，此处未安装；跟踪时使用了替身。{advice}",
    ),
    why=Text(
        "On an NPU it needs another package, or another build, than on CUDA.",
        "在 NPU 上需要不同于 CUDA 的软件包或编译版本。",
    ),
    fix=Text(
        "Install the version for NPUs there, or make the import optional and the model do without it.",
        "在目标机器上安装其 NPU 版本，或将导入设为可选并让模型不依赖它。",
    ),
    example="import triton",
    status="preview",
)
