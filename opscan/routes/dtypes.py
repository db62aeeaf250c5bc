"""Dtypes that a SoC does not have at all."""

from __future__ import annotations

from opscan.assessment import Evidence
from opscan.matrix.query import Matrix
from opscan.verdict import Ruling


def lacking(matrix: Matrix, dtype: str, facts: dict[str, str]) -> Ruling | None:
    """The reviewed statement that no operator of the target's SoC has ``dtype``: no compiler can convert from it
    either. None where there is no such statement.
    """
    for statement in matrix.statements:
        if "any" in statement.ops and dtype in statement.dtypes and statement.status == "unsupported":
            evidence = Evidence("override", statement.date, statement.evidence, statement.source)
            facts = facts | {"dtype": dtype, "detail": statement.detail}
            return Ruling("unsupported", "OPS107", facts, (), (evidence,))
    return None
