"""From facts to lines, in the order in which the layers lie on each other."""

from __future__ import annotations

from opscan.doctor.checks.cann import check_cann
from opscan.doctor.checks.devices import check_devices
from opscan.doctor.checks.interface import Check
from opscan.doctor.checks.python import check_python
from opscan.doctor.checks.rehearsal import check_rehearsal
from opscan.doctor.checks.variables import check_variables
from opscan.doctor.facts import Facts
from opscan.matrix.data import matrix_roots
from opscan.matrix.releases import load_releases


def judge(facts: Facts) -> tuple[Check, ...]:
    """What is to be said of the machine."""
    releases = load_releases(matrix_roots())
    return (
        *check_python(facts, releases),
        *check_cann(facts, releases),
        *check_devices(facts, releases),
        *check_variables(facts),
        *check_rehearsal(facts, releases),
    )
