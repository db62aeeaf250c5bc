"""OPS663: Operators whose sizes vary are launched through a path that compiles kernels for each shape."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS663",
    name="compiled-per-shape",
    severity="warning",
    verdict=None,
    title=Text("kernels compiled for each shape", "按形状编译的内核"),
    message=Text(
        "{operators}: torch_npu launches these through the graph engine's single operators, and their sizes vary.",
        "{operators}：torch_npu 通过图引擎的单算子路径下发，而其尺寸会变化。",
    ),
    why=Text(
        "Where CANN has no built kernel, or jit_compile is on, each new shape is compiled at run time, which takes seconds.",
        "若 CANN 没有预编译内核或启用了 jit_compile，每种新形状都会在运行时编译，耗时数秒。",
    ),
    fix=Text(
        "Call torch_npu.npu.set_compile_mode(jit_compile=False) and install CANN's kernel package; pad to a few sizes, or run all of them once before serving.",
        "调用 torch_npu.npu.set_compile_mode(jit_compile=False) 并安装 CANN 的算子包；将输入填充到少数几种尺寸，或在上线前逐一预热。",
    ),
    example="torch_npu.npu.set_compile_mode(jit_compile=False)",
    status="preview",
)
