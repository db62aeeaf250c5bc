"""A whole model on a device, module by module: which is the first whose output departs from what it should be?"""

from __future__ import annotations

from opscan.probing.layers.comparing import compare_layers
from opscan.probing.layers.report import Layer, LayerReport, NoLayers

__all__ = ["Layer", "LayerReport", "NoLayers", "compare_layers"]
