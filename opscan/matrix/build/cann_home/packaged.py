"""The packaged tables that a user's toolkit corrects: those of its release, else of the nearest one."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from opscan.matrix.build.cann_home.headers import InstalledApis, Signature
from opscan.matrix.files import Api, CannFile, OnnxFile, Parameter, load
from opscan.matrix.releases import cann_key

#: Why an API counts as absent.
_HEADERS = "headers of the installed toolkit"


def packaged_cann(root: Path, release: str, soc: str) -> CannFile | None:
    """The packaged table of a SoC at a release, else at the nearest one; None where the matrix has none of the SoC."""
    nearest = _nearest([path.parent.name for path in root.glob(f"cann/*/{soc}.json")], release)
    return load(root / "cann" / nearest / f"{soc}.json", CannFile) if nearest else None


def packaged_onnx(root: Path, release: str) -> OnnxFile | None:
    """The packaged ONNX table of a release, else of the nearest one."""
    nearest = _nearest([path.stem for path in root.glob("onnx/*.json")], release)
    return load(root / "onnx" / f"{nearest}.json", OnnxFile) if nearest else None


def _nearest(releases: list[str], asked: str) -> str | None:
    """The newest that is no newer, else the oldest."""
    order = sorted(releases, key=cann_key)
    earlier = [r for r in order if cann_key(r) <= cann_key(asked)]
    return earlier[-1] if earlier else next(iter(order), None)


def corrected_apis(packaged: CannFile | None, installed: InstalledApis, release: str) -> dict[str, Api]:
    """The packaged APIs, those that the toolkit lacks absent. Without headers nothing is corrected.

    A header tells that an API exists, neither on which SoC nor for which dtypes: an API that only the toolkit has
    stays undocumented, and one that the documents of its release deny to the SoC stays denied.
    """
    apis = {}
    for name, api in (packaged.apis if packaged else {}).items():
        if installed.known() and name.startswith("aclnn") and not installed.has(name):
            apis[name] = Api(False, source=_HEADERS)
            continue
        if packaged is not None and packaged.release != release:
            api = _from(api, packaged.release, installed.has(name))
        apis[name] = _with_signature(api, installed.declared.get(name))
    return dict(sorted(apis.items()))


def _from(api: Api, release: str, exists: bool) -> Api:
    """The entry, marked as taken from another release. Its "no" is in doubt where the toolkit declares the API."""
    params = {name: _parameter_from(parameter, release) for name, parameter in api.params.items()}
    doubt = f"only CANN {release} documents that, and the {_HEADERS} declare it" if exists and not api.supported else ""
    return replace(api, borrowed=api.borrowed or release, params=params, disputed=api.disputed or doubt)


def _parameter_from(parameter: Parameter, release: str) -> Parameter:
    return replace(parameter, borrowed=parameter.borrowed or release) if parameter.dtypes else parameter


def _with_signature(api: Api, own: Signature | None) -> Api:
    """The toolkit's own parameters first; but where a documented signature is of the same kinds, that one, for dtypes
    are looked up by its names."""
    if own is None:
        return api
    kinds = [kind for kind, _ in own]
    same = [s for s in api.signatures if [kind for kind, _ in s] == kinds]
    return replace(api, signatures=tuple(dict.fromkeys((*(same or [own]), *api.signatures))))
