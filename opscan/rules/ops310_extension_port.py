"""OPS310: A function of a package with CUDA kernels, of which there is a version for NPUs."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS310",
    name="extension-port",
    severity="warning",
    verdict="unknown",
    title=Text(
        "left to a version for NPUs",
        "取决于 NPU 版本",
    ),
    message=Text(
        "{operator} belongs to a package with kernels for CUDA, of which there is a version for NPUs; whether that has this one is not known here. {advice}",
        "{operator} 所属软件包使用 CUDA 内核，但有 NPU 版本；该版本是否包含此项尚不清楚。{advice}",
    ),
    why=Text(
        "The package as it is for CUDA does not run on an NPU; what its version for NPUs does was not tried.",
        "该软件包的 CUDA 版本不能在 NPU 上运行；其 NPU 版本未经试验。",
    ),
    fix=Text(
        "Install the version for NPUs and run this part on a device, or write it with torch operators.",
        "安装其 NPU 版本并在设备上运行这一部分，或用 torch 算子改写。",
    ),
    example="kernel[grid](x, y, n)  # @triton.jit",
    status="preview",
)
