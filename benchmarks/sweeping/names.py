"""Which models there are, in the interpreter that has the libraries: run as a script, it prints one JSON object a line.

A section whose library is not installed is empty.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgspec

from opscan.loading.factory_arguments import Argument
from opscan.loading.reference import ConfigurationReference, ImportedReference, LibraryReference
from sweeping.diffusion import CONFIGURATIONS
from sweeping.records import Model, Section

#: Of timm's more than a thousand.
_OF_TIMM = 300


def torchvision() -> Iterator[Model]:
    """Every model: classification, segmentation, detection, video and optical flow."""
    from torchvision.models import list_models

    for name in list_models():
        yield Model("torchvision", name, LibraryReference("torchvision", name))


def timm() -> Iterator[Model]:
    """Spread over families, which are its modules: each has its share, and of a share the models stand evenly."""
    import timm

    families: dict[str, list[str]] = defaultdict(list)
    for name in timm.list_models():
        families[timm.models.model_entrypoint(name).__module__].append(name)
    for name in spread(families, _OF_TIMM):
        yield Model("timm", name, LibraryReference("timm", name))


def spread(families: dict[str, list[str]], count: int) -> Iterable[str]:
    """One of each family by turns until there are enough; of each as many, evenly from first to last."""
    shares = dict.fromkeys(families, 0)
    while sum(shares.values()) < count and any(shares[f] < len(families[f]) for f in families):
        for family in sorted(families):
            if sum(shares.values()) < count and shares[family] < len(families[family]):
                shares[family] += 1
    for family, share in sorted(shares.items()):
        names = sorted(families[family])
        yield from (names[index * len(names) // share] for index in range(share))


def transformers() -> Iterator[Model]:
    """Every configuration class that makes one from its defaults."""
    section: Section = "transformers-4" if importlib.metadata.version("transformers") < "5" else "transformers-5"
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

    for kind in sorted(CONFIG_MAPPING_NAMES):
        try:
            CONFIG_MAPPING[kind]()
        except Exception as error:
            print(
                f"no defaults: {kind} ({type(error).__name__}: {' '.join(str(error).split())[:150]})", file=sys.stderr
            )
            continue
        file = f"transformers/{kind}/config.json"
        text = msgspec.json.encode({"model_type": kind}).decode()
        yield Model(section, kind, ConfigurationReference(file), files={file: text})


def diffusers() -> Iterator[Model]:
    for name, values in CONFIGURATIONS.items():
        file = f"diffusers/{name}/config.json"
        yield Model("diffusers", name, ConfigurationReference(file), files={file: msgspec.json.encode(values).decode()})


def segmentation() -> Iterator[Model]:
    """Every architecture of segmentation_models_pytorch, over its default encoder."""
    import segmentation_models_pytorch as library
    from torch import nn

    arguments = (Argument("encoder_weights", "None"),)
    for name in sorted(n for n in dir(library) if isinstance(getattr(library, n), type)):
        if issubclass(getattr(library, name), nn.Module):
            reference = ImportedReference("segmentation_models_pytorch", name, arguments)
            yield Model("segmentation", name, reference, shape=(1, 3, 224, 224))


_LISTS: dict[str, tuple[str, Callable[[], Iterator[Model]]]] = {
    "torchvision": ("torchvision", torchvision),
    "timm": ("timm", timm),
    "transformers-4": ("transformers", transformers),
    "transformers-5": ("transformers", transformers),
    "diffusers": ("diffusers", diffusers),
    "segmentation": ("segmentation_models_pytorch", segmentation),
}


def main() -> None:
    from opscan.loading.offline import keep_offline
    from opscan.loading.torchvision_operators import ensure_importable

    keep_offline()
    ensure_importable()
    for section in sys.argv[1:]:
        package, listed = _LISTS[section]
        if importlib.util.find_spec(package) is None:
            print(f"{section}: {package} is not installed for {sys.executable}", file=sys.stderr)
            continue
        release = f"{package} {importlib.metadata.version(package)}"
        for model in listed():
            if model.section != section:  # the other line of releases is installed
                continue
            model = msgspec.structs.replace(model, release=release)
            sys.stdout.buffer.write(msgspec.json.encode(model) + b"\n")


if __name__ == "__main__":
    main()
