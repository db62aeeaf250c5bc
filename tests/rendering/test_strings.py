from __future__ import annotations

import json
import re
import string
from pathlib import Path

from opscan.rendering.strings import text
from opscan.rendering.templates import read_source, reports_folder

TEXTS: dict[str, dict[str, str]] = json.loads(read_source("strings.json"))


def _fields(form: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(form) if name}


def test_every_text_has_both_languages_with_the_same_values() -> None:
    for key, forms in TEXTS.items():
        assert {"en", "zh"} <= set(forms) <= {"en", "zh", "en_one"}, key
        assert len({frozenset(_fields(form)) for form in forms.values()}) == 1, key
        assert all(forms.values()), key


def _sources() -> str:
    rendering = Path(__file__).parents[2] / "opscan" / "rendering"
    return "\n".join(
        path.read_text(encoding="utf-8") for path in [*rendering.glob("*.py"), *reports_folder().glob("*.jinja")]
    )


def test_no_text_is_unused_and_none_is_missing() -> None:
    sources = _sources()
    quoted = set(re.findall(r"""["']([a-z_]+\.[a-z_.]+)["']""", sources))
    families = {key.rsplit(".", 1)[0] for key in TEXTS}
    built = {family for family in families if re.search(rf"""["']{re.escape(family)}\.(?:["']|\{{)""", sources)}
    unused = {key for key in TEXTS if key not in quoted and key.rsplit(".", 1)[0] not in built}
    missing = {key for key in quoted if key.split(".")[0] in {k.split(".")[0] for k in TEXTS}} - set(TEXTS)
    assert unused == set()
    assert {key for key in missing if not key.endswith(".")} == set()


def test_one_thing_has_its_own_form() -> None:
    assert text("terminal.parameters", "en", n=1) == "1 parameter"
    assert text("terminal.parameters", "en", n=1000) == "1,000 parameters"
    assert text("terminal.parameters", "zh", n=1) == "1 个参数"
