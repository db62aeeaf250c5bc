"""What holds for every operator: dtypes that a SoC does not have, SoCs that a torch_npu release does not know."""

from __future__ import annotations

from opscan.matrix.query import Matrix, reviewed
from opscan.verdict import Ruling


def lacking(matrix: Matrix, dtype: str, facts: dict[str, str]) -> Ruling | None:
    """The reviewed statement that no operator of the target's SoC has ``dtype``: no compiler can convert from it
    either. None where there is no such statement.
    """
    for statement in matrix.statements:
        if "any" in statement.ops and dtype in statement.dtypes and statement.status == "unsupported":
            facts = facts | {"dtype": dtype, "detail": statement.detail}
            return Ruling("unsupported", "OPS107", facts, (), (reviewed(statement),))
    return None


def unknown_soc(matrix: Matrix, facts: dict[str, str]) -> Ruling | None:
    """The reviewed statement that the target's torch_npu does not know the SoC: it raises before anything runs. None
    where there is no such statement.
    """
    for statement in matrix.statements:
        if "any" in statement.ops and "any" in statement.dtypes and statement.status == "unsupported":
            return Ruling("unsupported", "OPS106", facts | {"detail": statement.detail}, (), (reviewed(statement),))
    return None
