"""Looks at everything, in turn."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

from opscan import __version__
from opscan.doctor import cann, driver, npu_smi, packages, variables
from opscan.doctor.facts import SCHEMA, Facts, Places, Rehearsal
from opscan.matrix.data import matrix_roots
from opscan.matrix.releases import canonical_soc, load_socs
from opscan.probing import environment

#: C compilers that can build the simulated runtime, the first that is there is taken.
_COMPILERS = ("cc", "gcc", "clang")


def here() -> Places:
    """This machine, as a program started from this shell sees it."""
    return Places(dict(os.environ), Path.home())


def inspect(places: Places, progress: Callable[[str], None]) -> Facts:
    """All the facts. What is missing or broken is a fact too: this raises only where opscan's own matrix is broken."""
    socs = load_socs(matrix_roots())
    progress("reading what is installed")
    versions, elsewhere = packages.read_packages()
    toolkits = cann.find_toolkits(places, frozenset(socs.socs))
    progress("asking npu-smi")
    smi, devices = npu_smi.ask(places, lambda name: canonical_soc(name, socs))
    return Facts(
        schema=SCHEMA,
        taken=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        opscan=__version__,
        python=platform.python_version(),
        interpreter=sys.executable,
        platform=platform.platform(),
        machine=platform.machine(),
        npu_smi=smi,
        torch=packages.read_torch(versions),
        torch_npu=versions.get("torch-npu", "").partition("+")[0] or None,
        toolkits=toolkits,
        driver=driver.read_driver(places),
        firmware=driver.read_firmware(places),
        devices=devices,
        pci=driver.count_accelerators(places),
        nodes=driver.count_nodes(places),
        variables=variables.read_variables(places),
        rehearsals=_rehearsals(),
        compiler=_compiler(places),
        packages=versions,
        from_elsewhere=elsewhere,
    )


def _rehearsals() -> tuple[Rehearsal, ...]:
    return tuple(
        Rehearsal(each.torch_npu, each.torch, str(each.interpreter), each.managed) for each in environment.available()
    )


def _compiler(places: Places) -> str:
    path = places.variables.get("PATH", os.defpath)
    return next((found for name in _COMPILERS if (found := shutil.which(name, path=path))), "")
