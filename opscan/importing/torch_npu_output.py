"""What a run with torch_npu prints: operators left to the CPU, kernels on the AI CPU, calls of kernels that failed.

Forms: ``The operator 'aten::x' is not currently supported on the NPU backend and will fall back`` (once an operator and
process), ``kernel [ArgSort] can not support dtype … on AiCore, Now this kernel is running on AiCpu``, ``call aclnnX
failed, error code is N``, and behind such a call ``… not implemented for DT_FLOAT16, should be in dtype support list``.
They are in torch_npu's sources (https://gitcode.com/Ascend/pytorch) and its FAQ on operators that are not supported.
"""

from __future__ import annotations

import re

from opscan.importing import vocabulary
from opscan.importing.collector import Collector
from opscan.importing.observations import FileKind, Key

_FALLBACK = re.compile(r"The operator '([^']{1,200})' is not currently supported on the NPU backend(?: and will fall)?")
_AI_CPU = re.compile(r"kernel \[(\w{1,64})\] can ?not support .{0,200}?on AiCore", re.IGNORECASE)
_CALL = re.compile(r"call (aclnn\w{1,80}) failed(?:,? ?(?:error code is|detail:)\D{0,4}(\d{6}))?", re.ASCII)
_ERR = re.compile(r"\bERR\d{5}\b")
_DTYPE = re.compile(r"not implemented for (DT_\w{2,24}), ?should be in dtype support list")

#: Lines after the failure of a call in which its reason is given.
_NEAR = 40


class TorchNpuOutput:
    kind: FileKind = "torch_npu"

    def __init__(self) -> None:
        self._line = 0
        self._failed = ("", "", 0)

    def read(self, line: str, into: Collector) -> bool:
        self._line += 1
        if "NPU backend" in line and (match := _FALLBACK.search(line)):
            # Without the second half it is an error: nothing falls back, for sparse tensors for instance.
            falls = match[0].endswith("will fall")
            into.add(Key("fallback" if falls else "no_kernel", vocabulary.operator(match[1])))
            return True
        if "AiC" in line and (match := _AI_CPU.search(line)):
            into.add(Key("ai_cpu", vocabulary.engine_type(match[1]), unit="AI_CPU"))
            return True
        if "call aclnn" in line and (match := _CALL.search(line)):
            kernel, code = vocabulary.kernel(match[1]), match[2] or ""
            self._failed = (kernel, code, self._line)
            into.add(Key("refused", kernel=kernel, code=code))
            return True
        if "dtype support list" in line and (match := _DTYPE.search(line)):
            self._refused_dtype(vocabulary.dtype(match[1]), into)
            return True
        return "ERR" in line and bool(_ERR.search(line))

    def _refused_dtype(self, dtype: str, into: Collector) -> None:
        kernel, code, at = self._failed
        if kernel and dtype and self._line - at <= _NEAR:
            into.replace(
                Key("refused", kernel=kernel, code=code), Key("refused", kernel=kernel, dtypes=(dtype,), code=code)
            )
            self._failed = ("", "", 0)
