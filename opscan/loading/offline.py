"""No model is fetched from a network: libraries that would are told so, and torch.hub refuses."""

from __future__ import annotations

import os
from typing import Any, NoReturn
from urllib.error import URLError

from opscan.errors import LoadError

#: Variables by which libraries of Hugging Face stay off the network, and send nothing.
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "DIFFUSERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


def keep_offline() -> None:
    """For this process, before the user's code is imported. What torch.hub has in its cache stays at hand."""
    import torch.hub

    os.environ.update(_OFFLINE)
    torch.hub.download_url_to_file = _refuse
    torch.hub.urlopen = _unreachable  # type: ignore[attr-defined]


def _refuse(url: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise LoadError(
        f"The model would download {url}, and a scan downloads nothing.",
        "Build it without trained weights (weights=None, pretrained=False): operators do not depend on them.",
    )


def _unreachable(*args: Any, **kwargs: Any) -> NoReturn:
    """As where there is no network: torch.hub then looks into its cache."""
    raise URLError("a scan uses no network")
