"""What a model is judged for: a torch_npu release, a CANN release, a SoC, and a migration route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Route = Literal["eager", "graph", "offline"]


@dataclass(frozen=True, slots=True)
class Target:
    """Canonical spellings only: ``opscan.matrix`` resolves aliases and defaults before it builds one."""

    torch_npu: str
    cann: str
    soc: str
    route: Route = "eager"

    @property
    def takes_foreach(self) -> bool:
        """Whether torch_npu lets optimizers take kernels over lists of tensors by themselves on the chip: it names the
        chips in ``torch_npu/utils/_optim.py``, and was asked on the simulated runtime.
        """
        return self.soc not in ("ascend910", "ascend310p", "ascend310b")

    @property
    def autocasts_bfloat16(self) -> bool:
        """Whether torch_npu lists bfloat16 among the dtypes of autocast on the chip (``get_amp_supported_dtype``, asked
        on the simulated runtime); elsewhere autocast to it is switched off with a warning.
        """
        return self.soc not in ("ascend910", "ascend310p")

    def __str__(self) -> str:
        return f"torch_npu {self.torch_npu}, CANN {self.cann}, {self.soc}, {self.route}"
