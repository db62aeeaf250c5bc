from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opscan.matrix.launches import Argument, Launch, parse_launch, split_events

_dtypes = st.sampled_from(["float32", "int64", "complex64", "float8_e4m3fn", "-"])
_arguments = st.one_of(
    st.builds(Argument, st.sampled_from("0v")),
    st.builds(Argument, st.sampled_from("TSIBFZ"), st.tuples(_dtypes)),
    st.builds(Argument, st.just("L"), st.lists(_dtypes, min_size=1, max_size=4).map(tuple)),
)
_launches = st.builds(
    Launch, st.from_regex(r"aclnn[A-Z][A-Za-z0-9]{0,20}", fullmatch=True), st.lists(_arguments, max_size=12).map(tuple)
)


@given(_launches)
def test_a_launch_reads_as_it_was_written(launch: Launch) -> None:
    assert parse_launch(str(launch)) == launch


@given(st.lists(_launches.map(str) | st.sampled_from(["copy", "H2D", "D2H"]), max_size=6))
def test_events_of_a_call_are_told_apart(events: list[str]) -> None:
    assert split_events(" ; ".join(events)) == tuple(events)


@given(st.text())
def test_anything_else_is_no_launch_or_a_readable_one(text: str) -> None:
    launch = parse_launch(text)
    assert launch is None or launch.api


def test_copies_are_no_launches() -> None:
    assert parse_launch("copy") is None
    assert parse_launch("D2H") is None


def test_arguments_of_the_legacy_path_are_its_inputs() -> None:
    launch = parse_launch("GE DynamicRNN[float32 null float16 > float32 float16]")
    assert launch is not None
    assert launch.results == ("float32", "float16")
    assert launch == Launch("GE DynamicRNN", (Argument("T", ("float32",)), Argument("0"), Argument("T", ("float16",))))
