"""The join on hand-built launches and constraints."""

from __future__ import annotations

from opscan.matrix.files import Api, Parameter
from opscan.matrix.join import align, judge, names_of, rank_fits
from opscan.matrix.launches import Argument, Launch, parse_launch

SIGNATURE = (("T", "self"), ("L", "indices"), ("S", "alpha"), ("v", "dim"), ("T", "out"))


def _launch(text: str) -> Launch:
    launch = parse_launch(text)
    assert launch is not None
    return launch


def _api(**changes: object) -> Api:
    params = {
        "alpha": Parameter("in", ("float32",)),
        "self": Parameter("in", ("float32", "int64"), disputed=("bfloat16",)),
        "indices": Parameter("in", ("int64",), borrowed="8.5.0"),
        "out": Parameter("out", ("float32",)),
    }
    fields: dict[str, object] = {"supported": True, "signatures": (SIGNATURE,), "params": params}
    return Api(**{**fields, **changes})  # type: ignore[arg-type]


def _judge(text: str, api: Api | None) -> tuple[str, str, str]:
    judgement = judge(_launch(text), api, "9.1.0")
    return judgement.status, judgement.code, judgement.parameter


def test_arguments_align_by_arity_and_kind_and_join_by_name() -> None:
    launch = _launch("aclnnX[T:float32 L:int64,int64 S:float64 v T:float32]")
    assert _dtypes(align((SIGNATURE,), launch.arguments)) == [
        ("self", ("float32",)),
        ("indices", ("int64", "int64")),
        ("out", ("float32",)),
    ]


def _dtypes(named: list[tuple[str, Argument]] | None) -> list[tuple[str, tuple[str, ...]]]:
    assert named is not None
    return [(name, argument.dtypes) for name, argument in named]


def test_null_fits_every_kind() -> None:
    assert align((SIGNATURE,), _launch("aclnnX[T:float32 0 0 0 T:float32]").arguments) is not None
    assert align((SIGNATURE,), _launch("aclnnX[T:float32 T:int64 0 0 T:float32]").arguments) is None


def test_another_releases_signature_is_tried_too() -> None:
    older = (("T", "self"), ("T", "out"))
    assert _dtypes(align((SIGNATURE, older), _launch("aclnnX[T:float32 T:float32]").arguments)) == [
        ("self", ("float32",)),
        ("out", ("float32",)),
    ]


def test_of_two_spellings_of_a_page_the_one_of_its_table_counts() -> None:
    params = {"selfRef": Parameter("in", ("float32",))}
    spelled = Api(True, ((("T", "self"),), (("T", "selfRef"),)), params)
    assert _judge("aclnnOne[T:float32]", spelled) == ("supported", "ok", "")
    assert _judge("aclnnOne[T:complex64]", spelled) == ("unsupported", "dtype", "selfRef")


def test_inputs_decide() -> None:
    assert _judge("aclnnX[T:float32 L:int64 S:int64 v T:float64]", _api()) == ("supported", "ok", "")
    assert _judge("aclnnX[T:float64 L:int64 S:int64 v T:float32]", _api()) == ("unsupported", "dtype", "self")


def test_the_result_decides_where_there_are_no_tensors_else() -> None:
    made = Api(
        True, ((("v", "n"), ("T", "out")),), {"n": Parameter("in", ("int64",)), "out": Parameter("out", ("float32",))}
    )
    assert _judge("aclnnEye[v T:float32]", made) == ("supported", "ok", "")
    assert _judge("aclnnEye[v T:float64]", made) == ("unsupported", "dtype", "out")


def test_scalars_are_not_judged() -> None:
    assert _judge("aclnnX[T:int64 L:int64 S:complex128 v T:int64]", _api())[0] == "supported"


def test_disputed_and_borrowed_refusals_are_unknown() -> None:
    assert _judge("aclnnX[T:bfloat16 L:int64 S:int64 v T:float32]", _api()) == ("unknown", "conflict", "self")
    assert _judge("aclnnX[T:float32 L:int32 S:int64 v T:float32]", _api()) == ("unknown", "undocumented", "indices")


def test_borrowed_acceptance_names_its_release() -> None:
    judgement = judge(_launch("aclnnX[T:float32 L:int64 S:int64 v T:float32]"), _api(), "9.1.0")
    assert judgement.borrowed == {"8.5.0"}


def test_no_documentation_is_unknown() -> None:
    assert _judge("aclnnX[T:float32]", None) == ("unknown", "undocumented", "")
    assert _judge("aclnnX[T:float32]", _api()) == ("unknown", "undocumented", "")


def test_absent_on_the_soc() -> None:
    assert _judge("aclnnX[T:float32]", _api(supported=False)) == ("unsupported", "soc", "")
    assert _judge("aclnnX[T:float32]", _api(supported=False, disputed="CANN 8.5.0 has it"))[1] == "conflict"


def test_ai_cpu_by_dtype_and_by_conversion() -> None:
    slow = _api(ai_cpu=("int64",))
    assert judge(_launch("aclnnX[T:int64 L:int64 S:int64 v T:int64]"), slow, "9.1.0").ai_cpu == "int64"
    of_self = _api(ai_cpu=("self:int64",))
    assert judge(_launch("aclnnX[T:int64 L:int64 S:int64 v T:int64]"), of_self, "9.1.0").ai_cpu == "int64"
    assert not judge(_launch("aclnnX[T:float32 L:int64 S:float32 v T:float32]"), of_self, "9.1.0").ai_cpu
    pairs = (("T", "selfRef"), ("T", "src"))
    accepting = {name: Parameter("in", ("float32", "float16", "float64")) for name in ("selfRef", "src")}
    copy = Api(True, (pairs,), accepting, ai_core_casts=(("float32", "float16"),))
    assert not judge(_launch("aclnnX[T:float16 T:float32]"), copy, "9.1.0").ai_cpu
    assert not judge(_launch("aclnnX[T:float64 T:float64]"), copy, "9.1.0").ai_cpu
    assert judge(_launch("aclnnX[T:float64 T:float32]"), copy, "9.1.0").ai_cpu == "float32 → float64"


def test_the_legacy_path_joins_inputs_in_order() -> None:
    api = Api(
        True, ((("T", "x"), ("T", "w")),), {"x": Parameter("in", ("float16",)), "w": Parameter("in", ("float32",))}
    )
    assert _judge("GE Y[float16 > float32]", api)[0] == "supported"
    assert _judge("GE Y[float16 float16 > float32]", api) == ("unsupported", "dtype", "w")
    assert _judge("GE Y[float16 float32 float32 > float32]", api)[1] == "undocumented"


def _ranked(rank: int, ranks: str, io: str = "in") -> tuple[str, str, str, str]:
    api = Api(True, ((("T", "self"),),), {"self": Parameter(io, ("float32",), ranks=ranks)})
    judgement = judge(Launch("aclnnX", (Argument("T", ("float32",), (rank,)),)), api, "9.1.0")
    return judgement.status, judgement.code, judgement.parameter, judgement.detail


def test_more_dimensions_than_are_listed_are_refused_where_the_shape_was_seen() -> None:
    assert _ranked(9, "0-8") == ("unsupported", "rank", "self", "9 (listed: 0-8)")
    assert _ranked(8, "0-8")[0] == "supported"
    assert _ranked(9, "0-8", "out")[0] == "supported"
    assert _ranked(5, "")[0] == "supported"


def test_fewer_dimensions_than_are_listed_are_no_refusal() -> None:
    assert _ranked(1, "2")[0] == "supported"
    assert _ranked(0, "1-8")[0] == "supported"


def test_a_launch_without_shapes_is_not_judged_by_them() -> None:
    api = Api(True, ((("T", "self"),),), {"self": Parameter("in", ("float32",), ranks="4")})
    assert judge(Launch("aclnnX", (Argument("T", ("float32",)),)), api, "9.1.0").status == "supported"


def test_no_list_allows_more_than_its_largest_number() -> None:
    assert [rank_fits(Parameter("in", ranks="1-8"), rank) for rank in (0, 8, 9)] == [True, True, False]
    assert [rank_fits(Parameter("in", ranks="2|4"), rank) for rank in (3, 4, 5)] == [True, True, False]


def test_arguments_are_named_by_the_signature_that_fits() -> None:
    launch = _launch("aclnnX[T:float32 L:int64 S:float64 v T:float32]")
    assert names_of(launch, _api()) == ("self", "indices", "alpha", "dim", "out")
    assert names_of(_launch("aclnnX[T:float32]"), _api()) is None
    assert names_of(launch, None) is None
