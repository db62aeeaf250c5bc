"""Joining an observed launch with the documented constraints of its API.

Matching dtypes to documented parameters by position fails for almost half of the launches, because tables list scalars
and arrays too, repeat parameters or omit some. So: align the launch's arguments with the API's signature by arity and
kind, join dtypes by parameter **name**, let inputs decide (the result where there are none), and answer ``unknown``
where sources disagree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from opscan.matrix.claims import ClaimCode
from opscan.matrix.files import Api, Parameter
from opscan.matrix.launches import LEGACY, Argument, Launch

Signature = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether CANN accepts one launch. ``borrowed``: releases whose lists answered in place of missing ones.

    ``ai_cpu``: what is left to the AI CPU, a dtype or a conversion; empty where the AI Core computes.
    """

    status: Literal["supported", "unsupported", "unknown"]
    code: ClaimCode
    api: str
    parameter: str = ""
    dtype: str = ""
    detail: str = ""
    ai_cpu: str = ""
    borrowed: frozenset[str] = frozenset()
    corrected: frozenset[str] = frozenset()
    conflicts: tuple[str, ...] = ()


Named = list[tuple[str, Argument]]


def align(signatures: tuple[Signature, ...], arguments: tuple[Argument, ...]) -> Named | None:
    """(parameter name, argument) of the tensors of a launch by the first signature that fits; None where none does."""
    for signature in signatures:
        if len(signature) == len(arguments) and all(map(_fits, arguments, signature)):
            return _named(signature, arguments)
    return None


def names_of(launch: Launch, api: Api | None) -> tuple[str, ...] | None:
    """The documented name of each argument of a launch, in order; None where no signature fits."""
    if api is None:
        return None
    legacy = launch.api.startswith(LEGACY)
    for signature in api.signatures[:1] if legacy else _named_first(api):
        if len(signature) == len(launch.arguments) and all(map(_fits, launch.arguments, signature)):
            return tuple(name for _, name in signature)
    return None


def _named_first(api: Api) -> tuple[Signature, ...]:
    """The signatures, first those whose tensors the page's table has by name: some pages spell a name in two ways."""
    return tuple(sorted(api.signatures, key=lambda s: sum(k in "TL" and name not in api.params for k, name in s)))


def align_legacy(inputs: Signature, arguments: tuple[Argument, ...]) -> Named | None:
    """As ``align`` for a graph-engine operator: inputs come in the order of its op-info, trailing ones may be left
    out.
    """
    return _named(inputs, arguments) if len(arguments) <= len(inputs) else None


def _named(signature: Signature, arguments: tuple[Argument, ...]) -> Named:
    return [(name, a) for a, (kind, name) in zip(arguments, signature, strict=False) if kind in "TL" and a.dtypes]


def _fits(argument: Argument, parameter: tuple[str, str]) -> bool:
    """A null or plain value fits everything: an optional tensor may be null, a pointer the log lost is plain."""
    return argument.kind in "0v" or argument.kind == parameter[0]


def judge(launch: Launch, api: Api | None, cann: str) -> Judgement:
    """Whether an API as documented at CANN release ``cann`` accepts a launch's dtypes; ``api`` None is undocumented."""
    if api is None:
        return Judgement(
            "unknown", "undocumented", launch.api, detail=f"{launch.api} has no documentation at CANN {cann}"
        )
    if not api.supported and api.disputed:
        conflict = f"{launch.api} is documented as absent on the SoC at CANN {cann}, but {api.disputed}"
        return Judgement("unknown", "conflict", launch.api, detail=conflict, conflicts=(conflict,))
    if not api.supported:
        return Judgement("unsupported", "soc", launch.api, corrected=_ids(api.corrected))
    legacy = launch.api.startswith(LEGACY)
    tensors = (
        align_legacy(api.signatures[0], launch.arguments) if legacy else align(_named_first(api), launch.arguments)
    )
    if tensors is None:
        detail = f"no documented signature of {launch.api} fits the arguments seen"
        return Judgement("unknown", "undocumented", launch.api, detail=detail)
    facts = [(name, dtype, api.params.get(name)) for name, argument in tensors for dtype in argument.dtypes]
    creates = _creates(api)
    for name, dtype, parameter in facts:
        if parameter is not None and not _accepts(parameter, dtype, creates):
            return _refusal(launch.api, name, dtype, parameter, cann)
    for name, argument in tensors:
        for rank in argument.ranks:
            if (parameter := api.params.get(name)) is not None and not rank_fits(parameter, rank):
                return _refused_rank(launch.api, name, rank, parameter)
    inputs = {(name, dtype) for name, dtype, parameter in facts if parameter is None or parameter.io != "out"}
    used = [parameter for _, _, parameter in facts if parameter is not None]
    return Judgement(
        "supported",
        "ok",
        launch.api,
        ai_cpu=_slow_dtype(api, inputs) or _slow_cast(api, tensors),
        borrowed=_ids(api.borrowed, *(p.borrowed for p in used)),
        corrected=_ids(api.corrected, *(p.corrected for p in used)),
        conflicts=tuple(
            f"{launch.api}.{name}: {dtype} is listed at CANN {cann}, but a note of the same documentation excludes it"
            for name, dtype, parameter in facts
            if parameter is not None and dtype in parameter.contested
        ),
    )


def _slow_dtype(api: Api, inputs: set[tuple[str, str]]) -> str:
    """The dtype of an input, (name, dtype), that leaves the call to the AI CPU; empty where none does."""
    return min((d for name, d in inputs if d in api.ai_cpu or f"{name}:{d}" in api.ai_cpu), default="")


def _slow_cast(api: Api, tensors: Named) -> str:
    """The conversion between the two tensors of a launch, where it is not one of those that the AI Core does.

    ``aclnnInplaceCopy`` names the destination first, ``aclnnCast`` the source.
    """
    if not api.ai_core_casts or len(tensors) != 2:
        return ""
    dtypes = {name: argument.dtypes[0] for name, argument in tensors}
    source, onto = (dtypes.get("src", dtypes.get("self", "")), dtypes.get("selfRef", dtypes.get("out", "")))
    return "" if source == onto or (source, onto) in api.ai_core_casts else f"{source} → {onto}"


def _creates(api: Api) -> bool:
    """Whether an API makes a tensor of none (``aclnnEye``): then its result is what is asked about."""
    tensors = {name for signature in api.signatures for kind, name in signature if kind in "TL"}
    return all(name in api.params and api.params[name].io == "out" for name in tensors)


def _accepts(parameter: Parameter, dtype: str, creates: bool) -> bool:
    """Inputs decide: what an output lists says nothing of a call that has any. No list is no refusal."""
    if parameter.io == "out" and not creates:
        return True
    return not parameter.dtypes or dtype in parameter.dtypes


def _refusal(api: str, name: str, dtype: str, parameter: Parameter, cann: str) -> Judgement:
    if dtype in parameter.disputed:
        conflict = f"{api}.{name}: {dtype} is not listed at CANN {cann}, but another release's table contradicts that"
        return Judgement("unknown", "conflict", api, name, dtype, conflict, conflicts=(conflict,))
    if parameter.borrowed:
        detail = f"{api}.{name} is not listed at CANN {cann}; CANN {parameter.borrowed} lists it without {dtype}"
        return Judgement("unknown", "undocumented", api, name, dtype, detail)
    return Judgement("unsupported", "dtype", api, name, dtype, corrected=_ids(parameter.corrected))


def rank_fits(parameter: Parameter, rank: int) -> bool:
    """Whether a parameter may take tensors of so many dimensions: no list allows more than its largest number.

    Fewer than are listed are no refusal: pages leave out tensors that are broadcast (the bias of ``aclnnAddmm``, listed
    with 2 dimensions, has 1 in every linear layer) and numbers.
    """
    listed = [int(number) for number in re.findall(r"\d+", parameter.ranks)]
    return not listed or parameter.io == "out" or rank <= max(listed)


def _refused_rank(api: str, name: str, rank: int, parameter: Parameter) -> Judgement:
    detail = f"{rank} (listed: {parameter.ranks})"
    return Judgement("unsupported", "rank", api, name, "", detail, corrected=_ids(parameter.corrected))


def _ids(*names: str) -> frozenset[str]:
    return frozenset(name for name in names if name)
