"""Asking the matrix about one operator for one target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from opscan.assessment import Evidence
from opscan.errors import MatrixError
from opscan.inventory import KernelLaunch, Observed
from opscan.matrix.claims import KernelClaim, Registration
from opscan.matrix.data import find_table, matrix_roots
from opscan.matrix.files import Correction, ObservedOp, OpEntry, Row, Statement
from opscan.matrix.graph_engine import judge_launch
from opscan.matrix.join import Judgement, judge, names_of
from opscan.matrix.launches import LEGACY, Launch, of_observed, parse_launch
from opscan.matrix.measured import claim_of, like, over_tables
from opscan.matrix.releases import (
    cann_tables,
    load_overrides,
    load_releases,
    measured_tables,
    nearness,
    torch_npu_releases,
)
from opscan.matrix.rows import match_rows
from opscan.matrix.tables import (
    CannTable,
    MeasuredTable,
    ObservedTable,
    RegistrationTable,
    open_cann,
    open_measured,
    open_observed,
    open_registrations,
)
from opscan.matrix.torchair_table import TorchairTable
from opscan.matrix.verdict import MOVES, Grounds, combine, computes
from opscan.target import Target

#: The dispatch keys that decide whether an operator reaches a kernel of torch_npu.
NPU_KEYS = frozenset({"PrivateUse1", "AutogradPrivateUse1"})

#: Operators that torch_npu's own kernels call only where CANN has an API, and else take the kernels of the legacy path:
#: seen on 2.13.0 over a simulated runtime with and without the API. ``aclnnLSTM`` is in CANN since 9.0.0, ``aclnnGRU``
#: since 9.2.0.
_CALLED_WITH_API = {"npu::_gru_npu": "aclnnGRU", "npu::_lstm_npu": "aclnnLSTM"}


@dataclass(frozen=True)
class Matrix:
    """The support matrix for one target. Names are qualified overloads without ``.default``: ``aten::add.Tensor``.

    ``cann``: the table of the target's CANN release and SoC; where there is none, those of the nearest releases; empty
    where the matrix knows nothing. ``observed_releases``: torch_npu releases observed on the SoC, the nearest first.
    ``measured``: what probes measured on real NPUs of the target's own kind.
    """

    target: Target
    registrations: RegistrationTable
    cann: tuple[CannTable, ...]
    observed_releases: tuple[str, ...]
    measured: tuple[MeasuredTable, ...]
    statements: tuple[Statement, ...]
    corrections: dict[str, Evidence]
    roots: tuple[Path, ...]
    _observed: dict[str, ObservedTable] = field(default_factory=dict)
    _others: dict[str, RegistrationTable] = field(default_factory=dict)

    @classmethod
    def load(cls, target: Target, root: Path | None = None) -> Matrix:
        """Open the files of ``target`` only. Raises MatrixError for a damaged file or an unknown torch_npu release."""
        return cls._open(target, (root,) if root else matrix_roots())

    def at(self, target: Target) -> Matrix:
        """The same folders opened for another target. Raises MatrixError as :meth:`load` does."""
        return self._open(target, self.roots)

    @classmethod
    def _open(cls, target: Target, roots: tuple[Path, ...]) -> Matrix:
        releases = load_releases(roots)
        registrations = _registrations(roots, target.torch_npu)
        overrides = load_overrides(roots)
        observed = {path.parent.name for r in roots for path in (r / "observed").glob(f"*/{target.soc}.json")}
        return cls(
            target,
            registrations,
            tuple(map(open_cann, cann_tables(roots, target.cann, target.soc))),
            tuple(sorted(observed, key=lambda r: nearness(releases, target.torch_npu, r))),
            tuple(map(open_measured, measured_tables(roots, target.torch_npu, target.soc))),
            tuple(s for file in overrides for s in file.statements if _holds(s, target)),
            {c.id: reviewed(c) for file in overrides for c in file.corrections},
            roots,
        )

    @property
    def torch_release(self) -> str:
        """The torch release that the target's torch_npu is built for."""
        return self.registrations.torch

    @property
    def knows_soc(self) -> bool:
        """Whether kernels can be judged: there is a table for the target's CANN release and SoC, or near ones."""
        return bool(self.cann and self.observed_releases)

    @cached_property
    def _by_key(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for name in self.registrations.ops:
            for key in self._entry(name).keys:
                found.setdefault(key, set()).add(name)
        return {key: frozenset(names) for key, names in found.items()}

    def registered(self, key: str = "PrivateUse1") -> frozenset[str]:
        """Operators for which the release registers a kernel at a dispatch key. Without those that it calls only
        where CANN has an API, where the target's CANN has not.
        """
        return self._by_key.get(key, frozenset()) - self._out_of_reach

    @cached_property
    def _out_of_reach(self) -> frozenset[str]:
        lacking = (
            name for name, api in _CALLED_WITH_API.items() if self.cann and not any(api in t.apis for t in self.cann)
        )
        return frozenset(lacking)

    @cached_property
    def converters(self) -> TorchairTable | None:
        """The converters of the graph route in the target's torch_npu; None where there is no table of them."""
        return TorchairTable.load(self.target.torch_npu, self.roots)

    def registration(self, name: str) -> Registration | None:
        """What the release registers for an operator; None where its process does not have the operator at all."""
        entry = self.registrations.ops.get(name)
        if entry is None:
            return None
        return Registration(frozenset(entry.keys), entry.impl, entry.aclnn, entry.hidden_cpu)

    def registrations_of(self, release: str) -> RegistrationTable:
        """The registrations of a torch_npu release. Raises MatrixError where there is no table of it."""
        if release == self.target.torch_npu:
            return self.registrations
        if release not in self._others:
            self._others[release] = _registrations(self.roots, release)
        return self._others[release]

    def releases_with(self, name: str) -> tuple[str, ...]:
        """torch_npu releases of the matrix that register an NPU kernel for the operator, oldest first."""
        return tuple(r for r in torch_npu_releases(self.roots) if _npu_keys(self.registrations_of(r), name))

    def kernels(
        self, name: str, dtypes: tuple[str, ...], results: tuple[str, ...] = (), rank: int | None = None
    ) -> KernelClaim:
        """What the kernels of ``name`` accept for these dtypes of its tensor arguments, in order.

        ``results``: dtypes of its tensor results, which decide what a cast launches. For an operator without tensor
        arguments ``dtypes`` are taken as its results. ``rank``: the number of dimensions of its first tensor. What was
        measured on a real NPU comes before everything else.
        """
        tables = self._by_tables(name, dtypes, results, rank)
        measured = self._measured(name, dtypes, rank)
        return tables if measured is None else over_tables(measured, tables)

    def _measured(self, name: str, dtypes: tuple[str, ...], rank: int | None) -> KernelClaim | None:
        for table in self.measured:
            entry = table.ops.get(name)
            if entry is not None and (rows := like(entry.rows, dtypes, rank, self.target.cann)):
                return claim_of(rows, table.release, f"measured/{table.release}/{table.soc}.json")
        return None

    def _by_tables(self, name: str, dtypes: tuple[str, ...], results: tuple[str, ...], rank: int | None) -> KernelClaim:
        for statement in self.statements:
            if _answers(statement, name, dtypes + results, rank):
                return _stated(statement)
        if not self.knows_soc:
            detail = f"the matrix holds no table of CANN {self.target.cann} on {self.target.soc}"
            return KernelClaim("unknown", "no-table", detail=detail)
        claims = [self._claim(table, name, dtypes, results) for table in self.cann]
        if self.cann[0].release == self.target.cann:
            return claims[0]
        return _by_nearest(claims, self.cann, self.target.cann)

    def launched(
        self, name: str, dtypes: tuple[str, ...], results: tuple[str, ...], rank: int | None, observed: Observed
    ) -> KernelClaim:
        """What is documented of the very launches that a call made: its ranks are known, and no other call stands for
        it. What was measured on a real NPU comes first, then a reviewed statement; what launched nothing that is known
        is as good as not seen.
        """
        if (measured := self._measured(name, dtypes, rank)) is not None:
            return over_tables(measured, self._by_tables(name, dtypes, results, rank))
        for statement in self.statements:
            if _answers(statement, name, dtypes + results, rank):
                return _stated(statement)
        row = Row(
            kernels=tuple(dict.fromkeys(str(of_observed(launch)) for launch in observed.launches)),
            # To the device alone is no waiting for it; there and back is computing on the host.
            copies=len(observed.copies) if "D2H" in observed.copies else 0,
            refused=observed.raised,
        )
        if not self.cann or (not computes(row) and not row.copies):
            return self.kernels(name, dtypes, results, rank)
        evidence = Evidence("observed", self.target.torch_npu, "this model, on a simulated runtime")
        launches = tuple(dict.fromkeys(map(of_observed, observed.launches)))
        claims = [
            combine((row,), [_judged(launches, table)], Grounds(evidence, table, self.corrections))
            for table in self.cann
        ]
        claim = (
            claims[0] if self.cann[0].release == self.target.cann else _by_nearest(claims, self.cann, self.target.cann)
        )
        if claim.code == "undocumented":  # the release may lack the API: then the adapter takes another way there
            known = self.kernels(name, dtypes, results, rank)
            return claim if known.status == "unknown" else known
        return claim

    def names_of(self, launch: KernelLaunch) -> tuple[str, ...]:
        """The documented name of each argument of a launch; empty names where no signature fits."""
        seen = of_observed(launch)
        for table in self.cann:
            if (names := names_of(seen, table.apis.get(launch.api))) is not None:
                return names
        return ("",) * len(launch.arguments)

    def observed_rows(self, name: str) -> tuple[Row, ...]:
        """Every row that may tell of an operator on the target's release, the nearest observed release first."""
        return tuple(row for rows, _ in self._observations(name, self.target.cann) for row in rows)

    def _claim(self, table: CannTable, name: str, dtypes: tuple[str, ...], results: tuple[str, ...]) -> KernelClaim:
        """By the nearest observed release with calls of these dtypes that computed; else with any.

        Where its calls only moved tensors between devices, another release may have seen the kernel; where they
        launched what the CANN release does not document, another may have run without it.
        """
        results = results or _made_like(name, dtypes)
        found = [
            (rows, observed, observation)
            for observed, observation in self._observations(name, table.release)
            if (rows := match_rows(observed, dtypes, results))
        ]
        if not found:
            detail = f"never observed at {' '.join(dtypes) or 'no tensor'}"
            return KernelClaim("unknown", "unverified", detail=detail, kernels=self._entry(name).aclnn)
        computing = [f for f in found if any(map(computes, f[0]))] or found
        without = [f for f in computing[1:] if all(table.release in row.cann for row in f[0])]
        claims = (self._combined(table, name, *f) for f in (computing[0], *without))
        first = next(claims)
        return first if first.code != "undocumented" else next(claims, first)

    def _combined(
        self, table: CannTable, name: str, rows: tuple[Row, ...], observed: tuple[Row, ...], observation: Evidence
    ) -> KernelClaim:
        grounds = Grounds(observation, table, self.corrections)
        claim = combine(rows, [_judge(row, table) for row in rows], grounds)
        return self._silent(name, observation) if self._is_silent(name, claim, observed) else claim

    def _is_silent(self, name: str, claim: KernelClaim, observed: tuple[Row, ...]) -> bool:
        """Whether an operator that must launch something was never seen to: the log does not know its kernel, or its
        calls computed nothing. Views launch nothing, and some operators do so for some dtypes.
        """
        if claim.status != "supported" or claim.kernels or claim.host_sync or claim.cpu_inside:
            return False
        entry = self._entry(name)
        launched = {api for row in observed for api in _launched(row)}
        if entry.aclnn:
            return not any(api in entry.aclnn or api.startswith(LEGACY) for api in launched)
        return entry.impl == ("acl_op",) and not launched

    def _silent(self, name: str, observation: Evidence) -> KernelClaim:
        reached = self._entry(name).aclnn
        detail = "observed calls launched no kernel" + (f", and it reaches {', '.join(reached)}" if reached else "")
        return KernelClaim("unknown", "unverified", detail=detail, kernels=reached, evidence=(observation,))

    def _observations(self, name: str, cann: str) -> Iterator[tuple[tuple[Row, ...], Evidence]]:
        """The rows that tell of an operator on the target's release, and what they rest on, per observed release.

        A release that registers the same NPU kernels inherits every row; one that registers others inherits the rows
        whose kernels its own implementation reaches. Rows seen on a runtime that lacks what a CANN release lacks come
        before those of a complete one.
        """
        for release in self.observed_releases:
            rows = (self._observed_table(release).ops.get(name) or ObservedOp(())).rows
            detail = "observed on a simulated runtime"
            if self.target.torch_npu != release:
                detail = f"observed on {release}, same registration"
                if _npu_keys(self.registrations, name) != _npu_keys(self.registrations_of(release), name):
                    detail = f"observed on {release}, kernels reachable in {self.target.torch_npu}"
                    rows = tuple(row for row in rows if self._reaches(name, row))
            own = tuple(row for row in rows if cann in row.cann)
            rows = own or tuple(row for row in rows if not row.cann) or rows
            yield rows, Evidence("observed", release, detail, f"observed/{release}/{self.target.soc}.json")

    def _reaches(self, name: str, row: Row) -> bool:
        """Whether the release's own implementation of an operator reaches every kernel that a row computes with."""
        entry, launched = self.registrations.ops.get(name), _launched(row)
        if entry is None or "PrivateUse1" not in entry.keys:
            return False
        return bool(launched) and launched <= {*entry.aclnn, *MOVES}

    def _entry(self, name: str) -> OpEntry:
        return self.registrations.ops.get(name) or OpEntry()

    def _observed_table(self, release: str) -> ObservedTable:
        if release not in self._observed:
            path = find_table(self.roots, f"observed/{release}/{self.target.soc}.json")
            assert path is not None, "listed by load"
            self._observed[release] = open_observed(path)
        return self._observed[release]


#: SoCs before Ascend910B1, on which torch_npu lets single operators be narrowed to float16.
_NARROWING = frozenset({"ascend310p", "ascend910"})


def _made_like(name: str, dtypes: tuple[str, ...]) -> tuple[str, ...]:
    """The result dtype of a factory that makes a tensor like another one, where none is asked for; else empty."""
    base = name.partition("::")[2].partition(".")[0]
    return dtypes[:1] if base.endswith("_like") or base.startswith("new_") else ()


def _launched(row: Row) -> set[str]:
    return {launch.api for text in row.kernels if (launch := parse_launch(text)) is not None}


def _judge(row: Row, cann: CannTable) -> list[Judgement]:
    return _judged(tuple(launch for text in row.kernels if (launch := parse_launch(text)) is not None), cann)


def _judged(launches: tuple[Launch, ...], cann: CannTable) -> list[Judgement]:
    narrows = cann.soc in _NARROWING
    return [
        judge_launch(launch, cann.ge.get(launch.api.removeprefix(LEGACY)), cann.release, narrows)
        if launch.api.startswith(LEGACY)
        else judge(launch, cann.apis.get(launch.api), cann.release)
        for launch in launches
    ]


def _by_nearest(claims: list[KernelClaim], tables: tuple[CannTable, ...], cann: str) -> KernelClaim:
    """The answer for a CANN release without a table of its own: what the nearest releases say, where they agree."""
    near = " and ".join(table.release for table in tables)
    mark = Evidence("cann", near, f"CANN {cann} has no table; the nearest releases answer")
    first = claims[0]
    if all(c.status == first.status for c in claims):
        return replace(first, evidence=(*first.evidence, mark))
    said = "; ".join(f"{c.status} at CANN {table.release}" for c, table in zip(claims, tables, strict=True))
    detail = f"CANN {cann} has no table, and the nearest releases differ: {said}"
    return replace(first, status="unknown", code="conflict", detail=detail, evidence=(*first.evidence, mark))


def _registrations(roots: tuple[Path, ...], release: str) -> RegistrationTable:
    path = find_table(roots, f"torch_npu/{release}.json")
    if path is None:
        raise MatrixError(
            f"the support matrix has no table of torch_npu {release}",
            f"Build it: opscan matrix build --wheel {release}",
        )
    return open_registrations(path)


def _npu_keys(table: RegistrationTable, name: str) -> frozenset[str]:
    entry = table.ops.get(name)
    return frozenset() if entry is None else NPU_KEYS & set(entry.keys)


def reviewed(entry: Correction | Statement) -> Evidence:
    """A reviewed correction or answer as evidence."""
    return Evidence("override", entry.date, entry.evidence, entry.source)


def _holds(statement: Statement, target: Target) -> bool:
    return (
        target.soc in statement.socs
        and (not statement.cann or target.cann in statement.cann)
        and (not statement.torch_npu or target.torch_npu in statement.torch_npu)
    )


def _answers(statement: Statement, name: str, dtypes: tuple[str, ...], rank: int | None) -> bool:
    return bool(
        {"any", name} & set(statement.ops)
        and ("any" in statement.dtypes or set(dtypes) & set(statement.dtypes))
        and (not statement.ranks or rank in statement.ranks)
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
        evidence=(reviewed(statement),),
    )
