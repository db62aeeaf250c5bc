"""Which dtypes an aclnn API computes on the AI CPU only."""

from __future__ import annotations

from pathlib import Path


def ai_cpu_dtypes(root: Path, soc: str) -> dict[str, frozenset[str]]:
    """API → dtypes that only the AI CPU kernel of its graph-engine operator lists."""
    return {}
