from __future__ import annotations

import pytest

from opscan.errors import UsageError
from opscan.matrix import resolve_target


def test_defaults_follow_the_hosts_torch() -> None:
    target, _ = resolve_target(host_torch="2.6.0+cpu")
    assert (target.torch_npu, target.cann, target.soc, target.route) == ("2.6.0.post5", "8.5.0", "ascend910b", "eager")


@pytest.mark.parametrize("host", [None, "2.99.0", ""])
def test_without_a_release_for_the_hosts_torch_the_newest(host: str | None) -> None:
    target, _ = resolve_target(host_torch=host)
    assert (target.torch_npu, target.cann) == ("2.14.0", "9.1.0")


def test_the_newest_post_release_for_the_hosts_torch() -> None:
    """No document names it: its CANN is that of the release that it is built like."""
    target, _ = resolve_target(host_torch="2.9.0")
    assert (target.torch_npu, target.cann) == ("2.9.0.post9", "9.1.0")


@pytest.mark.parametrize(
    ("asked", "soc"),
    [
        ("ascend910b", "ascend910b"),
        ("Ascend910B3", "ascend910b"),
        ("910b", "ascend910b"),
        ("Atlas A2", "ascend910b"),
        ("a2", "ascend910b"),
        ("910A", "ascend910"),
        ("Ascend310P3", "ascend310p"),
        ("310P", "ascend310p"),
        ("910_93", "ascend910_93"),
        ("A3", "ascend910_93"),
        ("Ascend910_9392", "ascend910_93"),
        ("950DT", "ascend950dt"),
    ],
)
def test_soc_spellings(asked: str, soc: str) -> None:
    target, warnings = resolve_target("2.10.0", "9.0.0", asked)
    assert (target.soc, warnings) == (soc, ())


@pytest.mark.parametrize(("asked", "soc"), [("Ascend910B", "ascend910b"), ("A5", "ascend950pr")])
def test_ambiguous_spellings_warn(asked: str, soc: str) -> None:
    target, warnings = resolve_target("2.10.0", "9.0.0", asked)
    assert target.soc == soc
    assert len(warnings) == 1


def test_a_release_from_before_the_soc_warns() -> None:
    _, warnings = resolve_target("2.6.0.post5", "8.5.0", "950PR")
    assert [w.en for w in warnings] == [
        "torch_npu 2.6.0.post5 does not know ascend950pr: it raises before anything runs."
    ]
    assert resolve_target("2.6.0.post5", "8.5.0", "950PR", "offline")[1] == ()


def test_undocumented_pair_warns() -> None:
    _, warnings = resolve_target("2.1.0.post17", "9.1.0")
    assert len(warnings) == 1
    assert "2.1.0.post17" in warnings[0].en
    assert "8.3.RC1" in warnings[0].zh


def test_compatible_lines_do_not_warn() -> None:
    assert resolve_target("2.6.0.post5", "9.1.0")[1] == ()


def test_known_releases_without_a_table_are_accepted() -> None:
    assert resolve_target("2.6.0.post5", "8.3.RC1", "310P")[0].cann == "8.3.RC1"


@pytest.mark.parametrize(
    ("options", "nearest"),
    [
        ({"torch_npu": "2.6.0.post4"}, "2.6.0.post5"),
        ({"cann": "8.5"}, "8.5.0"),
        ({"soc": "ascend910bb"}, "ascend910b"),
        ({"route": "eagre"}, "eager"),
    ],
)
def test_unknown_spellings_name_the_nearest(options: dict[str, str], nearest: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_target(**options)
    assert f"Did you mean {nearest}?" in caught.value.hint


def test_a_release_without_registrations_lists_those_with() -> None:
    with pytest.raises(UsageError, match=r"2\.2\.0 exists") as caught:
        resolve_target("2.2.0")
    assert "2.6.0.post5" in caught.value.hint
