"""The words of the reports in every language, from ``reports/strings.json``."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from opscan.rendering.interface import Lang
from opscan.rendering.templates import read_source


@lru_cache(maxsize=1)
def _texts() -> dict[str, dict[str, str]]:
    return msgspec.json.decode(read_source("strings.json"), type=dict[str, dict[str, str]])


def text(key: str, lang: Lang, **values: object) -> str:
    """The text ``key`` in ``lang``, filled with ``values``; those must be inert already.

    English that differs for one thing has a second form under ``en_one``, used where the value ``n`` is 1.
    """
    forms = _texts()[key]
    form = forms.get(f"{lang}_one") if values.get("n") == 1 else None
    return (form or forms[lang]).format(**values)
