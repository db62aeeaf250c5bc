"""Asking the matrix about one operator for one target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from opscan.assessment import Evidence
from opscan.matrix.claims import KernelClaim, Registration
from opscan.matrix.data import support_matrix_dir
from opscan.matrix.files import (
    CannFile,
    ObservedFile,
    ObservedOp,
    OverridesFile,
    RegistrationsFile,
    ReleasesFile,
    Row,
    Statement,
    load,
)
from opscan.matrix.join import Judgement, judge
from opscan.matrix.launches import parse_launch
from opscan.matrix.rows import match_rows
from opscan.matrix.verdict import MOVES, Grounds, combine
from opscan.target import Target

#: The release whose launches were observed; others inherit them where they register the same keys.
OBSERVED_RELEASE = "2.13.0"

#: The dispatch keys that decide whether an operator reaches a kernel of torch_npu.
_NPU_KEYS = frozenset({"PrivateUse1", "AutogradPrivateUse1"})


@dataclass(frozen=True, slots=True)
class Matrix:
    """The support matrix for one target. Names are qualified overloads without ``.default``: ``aten::add.Tensor``."""

    target: Target
    registrations: RegistrationsFile
    observed_registrations: RegistrationsFile
    observed: ObservedFile | None
    cann: CannFile | None
    statements: tuple[Statement, ...]
    corrections: dict[str, Evidence]
    root: Path

    @classmethod
    def load(cls, target: Target, root: Path | None = None) -> Matrix:
        """Open the files of ``target`` only. Raises MatrixError for a damaged file or an unknown torch_npu release."""
        root = root or support_matrix_dir()
        registrations = load(root / "torch_npu" / f"{target.torch_npu}.json", RegistrationsFile)
        observed = root / "observed" / OBSERVED_RELEASE / f"{target.soc}.json"
        cann = root / "cann" / target.cann / f"{target.soc}.json"
        overrides = [load(path, OverridesFile) for path in sorted((root / "overrides").glob("*.json"))]
        return cls(
            target,
            registrations,
            registrations
            if target.torch_npu == OBSERVED_RELEASE
            else load(root / "torch_npu" / f"{OBSERVED_RELEASE}.json", RegistrationsFile),
            load(observed, ObservedFile) if observed.exists() else None,
            load(cann, CannFile) if cann.exists() else None,
            tuple(s for file in overrides for s in file.statements if _holds(s, target)),
            {c.id: Evidence("override", c.date, c.evidence, c.source) for file in overrides for c in file.corrections},
            root,
        )

    @property
    def torch_release(self) -> str:
        """The torch release that the target's torch_npu is built for."""
        return self.registrations.torch

    @property
    def knows_soc(self) -> bool:
        """Whether kernels can be judged: there is a table for the target's CANN release and SoC."""
        return self.cann is not None and self.observed is not None

    def registered(self, key: str = "PrivateUse1") -> frozenset[str]:
        """Operators for which the release registers a kernel at a dispatch key."""
        return frozenset(name for name, entry in self.registrations.ops.items() if key in entry.keys)

    def registration(self, name: str) -> Registration | None:
        """What the release registers for an operator; None where its process does not have the operator at all."""
        entry = self.registrations.ops.get(name)
        if entry is None:
            return None
        return Registration(frozenset(entry.keys), entry.impl, entry.aclnn, entry.hidden_cpu)

    def releases_with(self, name: str) -> tuple[str, ...]:
        """torch_npu releases of the matrix that register an NPU kernel for the operator, oldest first."""
        releases = load(self.root / "releases.json", ReleasesFile)
        tables = [r for r in releases.torch_npu_order if releases.torch_npu[r].table]
        files = {r: load(self.root / "torch_npu" / f"{r}.json", RegistrationsFile) for r in tables}
        return tuple(r for r, file in files.items() if name in file.ops and _NPU_KEYS & set(file.ops[name].keys))

    def kernels(self, name: str, dtypes: tuple[str, ...], results: tuple[str, ...] = ()) -> KernelClaim:
        """What the kernels of ``name`` accept for these dtypes of its tensor arguments, in order.

        ``results``: dtypes of its tensor results, which decide what a cast launches. For an operator without tensor
        arguments ``dtypes`` are taken as its results.
        """
        for statement in self.statements:
            if _answers(statement, name, dtypes + results):
                return _stated(statement)
        if self.cann is None or self.observed is None:
            detail = f"the matrix holds no table of CANN {self.target.cann} on {self.target.soc}"
            return KernelClaim("unknown", "no-table", detail=detail)
        observed, observation = self._observations(name)
        rows = match_rows(observed, dtypes, results)
        if not rows:
            return self._unverified(name, dtypes)
        grounds = Grounds(observation, self.cann, self.corrections)
        return combine(rows, [self._judge(row) for row in rows], grounds)

    def _observations(self, name: str) -> tuple[tuple[Row, ...], Evidence]:
        """The rows that tell of an operator on the target's release, and what they rest on.

        A release that registers the same NPU kernels inherits every row; one that registers others inherits the rows
        whose kernels its own implementation reaches. Rows seen on a runtime that lacks what the target's CANN lacks
        come before those of a complete one.
        """
        assert self.observed is not None
        rows = self.observed.ops.get(name, ObservedOp(())).rows
        detail = "observed on a simulated runtime"
        if self.target.torch_npu != OBSERVED_RELEASE:
            detail = f"observed on {OBSERVED_RELEASE}, same registration"
            if _npu_keys(self.registrations, name) != _npu_keys(self.observed_registrations, name):
                detail = f"observed on {OBSERVED_RELEASE}, kernels reachable in {self.target.torch_npu}"
                rows = tuple(row for row in rows if self._reaches(name, row))
        own = tuple(row for row in rows if self.target.cann in row.cann)
        rows = own or tuple(row for row in rows if not row.cann) or rows
        source = f"observed/{OBSERVED_RELEASE}/{self.target.soc}.json"
        return rows, Evidence("observed", OBSERVED_RELEASE, detail, source)

    def _reaches(self, name: str, row: Row) -> bool:
        """Whether the release's own implementation of an operator reaches every kernel that a row computes with."""
        entry = self.registrations.ops.get(name)
        launched = {launch.api for text in row.kernels if (launch := parse_launch(text)) is not None}
        if entry is None or "PrivateUse1" not in entry.keys:
            return False
        return bool(launched) and launched <= {*entry.aclnn, *MOVES}

    def _judge(self, row: Row) -> list[Judgement]:
        assert self.cann is not None
        launches = [launch for text in row.kernels if (launch := parse_launch(text)) is not None]
        return [judge(launch, self.cann.apis.get(launch.api), self.target.cann) for launch in launches]

    def _unverified(self, name: str, dtypes: tuple[str, ...]) -> KernelClaim:
        entry = self.registrations.ops.get(name)
        detail = f"never observed at {' '.join(dtypes) or 'no tensor'}"
        return KernelClaim("unknown", "unverified", detail=detail, kernels=entry.aclnn if entry else ())


def _npu_keys(file: RegistrationsFile, name: str) -> frozenset[str] | None:
    entry = file.ops.get(name)
    return None if entry is None else _NPU_KEYS & set(entry.keys)


def _holds(statement: Statement, target: Target) -> bool:
    return (
        target.soc in statement.socs
        and (not statement.cann or target.cann in statement.cann)
        and (not statement.torch_npu or target.torch_npu in statement.torch_npu)
    )


def _answers(statement: Statement, name: str, dtypes: tuple[str, ...]) -> bool:
    return bool(
        {"any", name} & set(statement.ops) and ("any" in statement.dtypes or set(dtypes) & set(statement.dtypes))
    )


def _stated(statement: Statement) -> KernelClaim:
    return KernelClaim(
        statement.status,
        statement.code,
        detail=statement.detail,
        kernels=statement.kernels,
        host_sync=statement.host_sync,
        cpu_inside=statement.cpu_inside,
        ai_cpu=statement.ai_cpu,
        evidence=(Evidence("override", statement.date, statement.evidence, statement.source),),
    )
