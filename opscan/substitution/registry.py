"""The families, listed: a new one is a line here."""

from __future__ import annotations

from opscan.inventory import OpCall
from opscan.substitution.complex_to_real import ComplexToReal
from opscan.substitution.float64_to_float32 import Float64ToFloat32
from opscan.substitution.interface import Family, Match, Miss

#: In the order in which a report offers them: what keeps precision comes first.
FAMILIES: tuple[Family, ...] = (ComplexToReal(), Float64ToFloat32())


def family(identifier: str) -> Family:
    """The family with this id; ``KeyError`` if there is none."""
    return {known.id: known for known in FAMILIES}[identifier]


def find(call: OpCall, refused_dtype: str) -> tuple[tuple[Match, ...], tuple[Miss, ...]]:
    """Families that replace this call, whose ``refused_dtype`` the target refuses, and the others, with why not."""
    answers = [known.applies(call, refused_dtype) for known in FAMILIES]
    return (
        tuple(answer for answer in answers if isinstance(answer, Match)),
        tuple(answer for answer in answers if isinstance(answer, Miss)),
    )
