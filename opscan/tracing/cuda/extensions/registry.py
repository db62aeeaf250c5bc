"""All families of stand-ins, by package."""

from __future__ import annotations

from collections.abc import Mapping

from opscan.tracing.cuda.extensions import (
    apex,
    bitsandbytes,
    causal_conv1d,
    deformable_attention,
    flash_attn,
    mamba_ssm,
    torch_scatter,
    triton,
    xformers,
)
from opscan.tracing.cuda.extensions.interface import StandIns

STAND_INS: Mapping[str, StandIns] = {
    family.STAND_INS.package: family.STAND_INS
    for family in (
        apex,
        bitsandbytes,
        causal_conv1d,
        deformable_attention,
        flash_attn,
        mamba_ssm,
        torch_scatter,
        triton,
        xformers,
    )
}
