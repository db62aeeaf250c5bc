"""Results of a device beside a reference on the CPU in higher precision."""

from __future__ import annotations

from opscan.probing.comparison.judging import Comparison, compare
from opscan.probing.comparison.reference import NoReference, Reference, reference_of, results_of

__all__ = ["Comparison", "NoReference", "Reference", "compare", "reference_of", "results_of"]
