"""What all HTML pages of opscan share: how untrusted text gets in, both languages side by side, and what may run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from opscan.rendering import overview
from opscan.rendering.inert import inert, shorten
from opscan.rendering.interface import LANGS, Lang
from opscan.rendering.strings import text
from opscan.rendering.templates import reports_folder

#: Values of the ``lang`` attribute.
TAGS: Mapping[Lang, str] = {"en": "en", "zh": "zh-CN"}


def environment() -> Environment:
    """Templates of the reports folder: every string is escaped and inert, and ``t`` gives texts in both languages."""
    made = Environment(
        loader=FileSystemLoader(reports_folder()),
        autoescape=True,
        finalize=lambda value: inert(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(percent=overview.percent, shorten=shorten)
    made.globals.update(t=both)
    return made


def both(key: str, **values: object) -> Markup:
    """A text of ``strings.json`` in both languages. Strings among ``values`` may be untrusted."""
    safe = {name: inert(value) if isinstance(value, str) else value for name, value in values.items()}
    return pair({lang: text(key, lang, **safe) for lang in LANGS})


def pair(texts: Mapping[Lang, str]) -> Markup:
    """One element a language, of which the style shows one; a single one where both say the same."""
    if texts["en"] == texts["zh"]:
        return escape(inert(texts["en"]))
    return Markup("").join(
        Markup('<span class="t" lang="{}">{}</span>').format(TAGS[lang], inert(texts[lang])) for lang in LANGS
    )


def policy(style: str, script: str) -> str:
    """Nothing may load; only this style and this script may act. ``data:`` is for the icon of the page."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode("utf-8")).digest()).decode("ascii")
