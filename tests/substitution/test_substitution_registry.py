from __future__ import annotations

import os
import subprocess
import sys

import pytest
from recorded_calls import call, spec

from opscan.substitution import registry


def test_a_call_may_have_several_replacements_the_precise_one_first() -> None:
    recorded = call("aten::polar", {"abs": spec("float64", 4), "angle": spec("float64", 4)})
    matches, misses = registry.find(recorded, "float64")
    assert [match.family for match in matches] == ["complex-to-real", "float64-to-float32"]
    assert misses == ()


def test_a_family_that_does_not_apply_says_why() -> None:
    matches, misses = registry.find(call("aten::relu", {"self": spec("float32", 4)}), "float32")
    assert matches == ()
    assert all(miss.why.en and miss.why.zh for miss in misses)


def test_families_are_known_by_their_id() -> None:
    assert [registry.family(family.id) for family in registry.FAMILIES] == list(registry.FAMILIES)
    assert all(family.title.zh and family.why.zh for family in registry.FAMILIES)
    with pytest.raises(KeyError):
        registry.family("no-such-family")


def test_matching_and_code_need_no_torch() -> None:
    program = (
        "import sys; from recorded_calls import call, spec; from opscan.substitution import registry\n"
        "recorded = call('aten::polar', {'abs': spec('float64', 4), 'angle': spec('float64', 4)})\n"
        "matches, _ = registry.find(recorded, 'float64')\n"
        "assert all(registry.family(match.family).code(match).after for match in matches)\n"
        "assert 'torch' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
