"""The join on hand-built launches and constraints."""

from __future__ import annotations

from opscan.matrix.files import Api, Parameter
from opscan.matrix.join import align, judge
from opscan.matrix.launches import Launch, parse_launch

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
    assert align((SIGNATURE,), launch.arguments) == [
        ("self", ("float32",)),
        ("indices", ("int64", "int64")),
        ("out", ("float32",)),
    ]


def test_null_fits_every_kind() -> None:
    assert align((SIGNATURE,), _launch("aclnnX[T:float32 0 0 0 T:float32]").arguments) is not None
    assert align((SIGNATURE,), _launch("aclnnX[T:float32 T:int64 0 0 T:float32]").arguments) is None


def test_another_releases_signature_is_tried_too() -> None:
    older = (("T", "self"), ("T", "out"))
    assert align((SIGNATURE, older), _launch("aclnnX[T:float32 T:float32]").arguments) == [
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
