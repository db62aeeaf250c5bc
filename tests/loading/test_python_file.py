"""Which model a file means, with which inputs, and what the file itself may do on import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from opscan.errors import LoadError
from opscan.loading.inputs import parse_input, parse_input_shape
from opscan.loading.python_file import LoadedModel, forget_imports, import_file, load
from opscan.loading.reference import PythonFileReference

HEADER = "import torch\nfrom torch import nn\n"
LINEAR = "nn.Linear(3, 2)"
SEQUENTIAL = f"class Net(nn.Sequential):\n    def __init__(s): super().__init__({LINEAR})"

Load = Callable[..., LoadedModel]


@pytest.fixture(autouse=True)
def clean_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Imports and paths of one test do not reach the next."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if not name.startswith(("torch", "numpy")):
            del sys.modules[name]


@pytest.fixture
def load_text(tmp_path: Path) -> Load:
    def run(text: str, *inputs: str, name: str | None = None, train: bool = False, file: str = "net.py") -> LoadedModel:
        (tmp_path / file).write_text(HEADER + text)
        specs = tuple(parse_input(i) if "=" in i else parse_input_shape(i) for i in inputs)
        return load(PythonFileReference(str(tmp_path / file), name), specs, train)

    return run


def failure(load_text: Load, *args: str, **options: object) -> tuple[str, str]:
    with pytest.raises(LoadError) as raised:
        load_text(*args, **options)
    return raised.value.message, raised.value.hint


# --- which model ----------------------------------------------------------------------------------------------

ALL_WAYS = """
class Net(nn.Linear):
    def __init__(self): super().__init__(3, 1)
model = nn.Linear(3, 2)
def build_model(): return nn.Linear(3, 3)
def other(): return nn.Linear(3, 4)
"""


def width(loaded: LoadedModel) -> int:
    assert isinstance(loaded.callable, nn.Linear)
    return loaded.callable.out_features


def test_build_model_comes_before_model_before_the_class(load_text: Load) -> None:
    assert width(load_text(ALL_WAYS, "1,3")) == 3
    assert width(load_text(ALL_WAYS.replace("build_model", "build"), "1,3")) == 2
    assert width(load_text(ALL_WAYS.replace("build_model", "build").replace("model =", "m ="), "1,3")) == 1


@pytest.mark.parametrize(("name", "expected"), [("Net", 1), ("model", 2), ("build_model", 3), ("other", 4)])
def test_a_name_picks_one(load_text: Load, name: str, expected: int) -> None:
    assert width(load_text(ALL_WAYS, "1,3", name=name)) == expected


def test_a_name_that_is_not_there(load_text: Load) -> None:
    message, hint = failure(load_text, ALL_WAYS, "1,3", name="Nett")
    assert message == "net.py has no 'Nett'."
    assert "Net" in hint
    assert "build_model" in hint


def test_a_name_of_something_else(load_text: Load) -> None:
    message, _ = failure(load_text, "width = 3", name="width")
    assert message == "width in net.py is int, not a model: it cannot be called."


def test_a_function_of_tensors_is_a_model(load_text: Load) -> None:
    loaded = load_text("def run(x): return x + 1", "1,3", name="run")
    assert loaded.callable.__name__ == "run"


def test_two_candidates(load_text: Load) -> None:
    message, hint = failure(
        load_text,
        "class A(nn.Module):\n    pass\nclass B(nn.Module):\n    pass\nclass C(A):\n    def __init__(s, n): ...",
    )
    assert message == "net.py defines 2 candidate models: A, B."
    assert hint.startswith("Pick one: net.py:B")


def test_the_only_one_that_can_be_built(load_text: Load) -> None:
    text = "class Part(nn.Module):\n    def __init__(s, n): ...\n" + SEQUENTIAL
    assert type(load_text(text, "1,3").callable).__name__ == "Net"


def test_an_alias_is_no_second_candidate(load_text: Load) -> None:
    text = f"{SEQUENTIAL}\nModel = Net"
    assert type(load_text(text, "1,3").callable).__name__ == "Net"


def test_classes_of_other_files_are_no_candidates(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "parts_of_a_net.py").write_text(
        "from torch import nn\nclass Part(nn.Linear):\n    pass\nclass Whole(nn.Identity): ...\n"
    )
    message, hint = failure(load_text, "from parts_of_a_net import Whole\nfrom torch.nn import Linear")
    assert message.startswith("No model in net.py")
    assert "It imports Whole: name one as net.py:Whole." in hint
    assert type(load_text("from parts_of_a_net import Whole", "1,3", name="Whole").callable).__name__ == "Whole"


def test_constructors_that_need_arguments(load_text: Load) -> None:
    text = "class A(nn.Module):\n    def __init__(self, width, *, depth): ...\n"
    text += "class B(nn.Module):\n    def __init__(self, n): ..."
    message, hint = failure(load_text, text)
    assert message == "Every nn.Module in net.py needs constructor arguments: A(width, depth); B(n)."
    assert "build_model()" in hint
    message, hint = failure(load_text, text, name="A")
    assert message == "net.py:A needs constructor arguments: width, depth."
    assert "build_model()" in hint


def test_a_constructor_with_defaults_and_rests(load_text: Load) -> None:
    text = "class Net(nn.Identity):\n    def __init__(self, width=3, *args, depth=1, **more): super().__init__()"
    assert type(load_text(text, "1,3").callable).__name__ == "Net"


def test_no_model_at_all(load_text: Load) -> None:
    message, hint = failure(load_text, "width = 3\ndef run(x): return x")
    assert message == "No model in net.py: neither build_model(), nor model, nor an nn.Module subclass."
    assert hint.startswith("Add a function build_model()")


@pytest.mark.parametrize(("result", "kind"), [("None", "NoneType"), ("(nn.Identity(), 3)", "tuple"), ("{}", "dict")])
def test_build_model_that_returns_no_model(load_text: Load, result: str, kind: str) -> None:
    message, _ = failure(load_text, f"def build_model(): return {result}")
    assert message == f"build_model() in net.py is {kind}, not a model: it cannot be called."


def test_build_model_that_needs_arguments(load_text: Load) -> None:
    message, hint = failure(load_text, "def build_model(config): return None")
    assert message == "build_model() in net.py needs arguments: config."
    assert "defaults" in hint


def test_model_that_is_a_class_counts_as_a_class(load_text: Load) -> None:
    assert type(load_text("class Net(nn.Identity): ...\nmodel = Net", "1,3").callable).__name__ == "Net"


@pytest.mark.parametrize("train", [False, True])
def test_the_mode_is_set(load_text: Load, train: bool) -> None:
    loaded = load_text(f"model = {LINEAR}", "1,3", train=train)
    assert isinstance(loaded.callable, nn.Module)
    assert loaded.callable.training is train


def test_an_object_that_trains_itself_is_left_alone(load_text: Load) -> None:
    text = "class Runner:\n    def train(self, mode): raise SystemExit\n    def __call__(self, x): return x\n"
    text += "model = Runner()"
    assert callable(load_text(text, "1,3").callable)


def test_errors_of_the_file_pass_through(load_text: Load) -> None:
    with pytest.raises(ZeroDivisionError):
        load_text("1 / 0")
    assert "net" not in sys.modules
    with pytest.raises(ValueError, match="no such size"):
        load_text("def build_model(): raise ValueError('no such size')")
    with pytest.raises(SyntaxError):
        load_text("class (")
    with pytest.raises(SystemExit):
        load_text("raise SystemExit(3)")


# --- which inputs ---------------------------------------------------------------------------------------------

TAKES = "class Net(nn.Module):\n    def forward(self, x, mask=None, *, scale=1): return x\n"


def shapes(loaded: LoadedModel) -> tuple[list[tuple[int, ...]], dict[str, tuple[int, ...]]]:
    return [tuple(t.shape) for t in loaded.args], {name: tuple(t.shape) for name, t in loaded.kwargs.items()}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("torch.ones(2)", ([(2,)], {})),
        ("(torch.ones(2),)", ([(2,)], {})),
        ("[torch.ones(2), torch.ones(3)]", ([(2,), (3,)], {})),
        ("{'x': torch.ones(2)}", ([], {"x": (2,)})),
        ("(torch.ones(2),), {'mask': torch.ones(3)}", ([(2,)], {"mask": (3,)})),
        ("[torch.ones(2)], {}", ([(2,)], {})),
        ("torch.ones(2), torch.ones(3)", ([(2,), (3,)], {})),
    ],
)
def test_forms_of_example_inputs(load_text: Load, given: str, expected: object) -> None:
    assert shapes(load_text(f"{TAKES}def example_inputs(): return {given}")) == expected


EXAMPLE = "def example_inputs(): return (torch.ones(2), torch.ones(3)), {'scale': torch.ones(4)}"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ([(2,), (3,)], {"scale": (4,)})),
        (("9",), ([(9,), (3,)], {"scale": (4,)})),
        (("8", "9"), ([(8,), (9,)], {"scale": (4,)})),
        (("mask=9",), ([(2,), (9,)], {"scale": (4,)})),
        (("x=9",), ([(9,), (3,)], {"scale": (4,)})),
        (("scale=9",), ([(2,), (3,)], {"scale": (9,)})),
        (("8", "scale=9", "mask=7"), ([(8,), (7,)], {"scale": (9,)})),
    ],
)
def test_options_override_by_place_and_by_name(load_text: Load, options: tuple[str, ...], expected: object) -> None:
    assert shapes(load_text(TAKES + EXAMPLE, *options)) == expected


def test_a_place_overrides_a_name_of_the_example(load_text: Load) -> None:
    text = TAKES + "def example_inputs(): return {'x': torch.ones(2), 'mask': torch.ones(3)}"
    assert shapes(load_text(text, "9")) == ([(9,)], {"mask": (3,)})


def test_names_alone(load_text: Load) -> None:
    assert shapes(load_text(TAKES, "x=2", "scale=3")) == ([], {"x": (2,), "scale": (3,)})


def test_a_name_the_model_does_not_take(load_text: Load) -> None:
    message, hint = failure(load_text, TAKES, "1", "masks=3")
    assert "--input masks" in message
    assert hint == "Its inputs are: x, mask, scale"


def test_a_model_that_takes_any_name(load_text: Load) -> None:
    loaded = load_text("class Net(nn.Module):\n    def forward(self, **kw): return 1", "masks=3")
    assert shapes(loaded) == ([], {"masks": (3,)})


def test_no_inputs_where_some_are_needed(load_text: Load) -> None:
    message, hint = failure(load_text, TAKES)
    assert message == "The model in net.py takes inputs (x), and none are given."
    assert "--input-shape" in hint
    _, hint = failure(load_text, "class Net(nn.Module):\n    def forward(self, ids, mask): return ids")
    assert "--input ids=1x128:int64 --input mask=1x128:int64" in hint


@pytest.mark.parametrize(
    ("options", "missing"), [(("1",), "'mask'"), (("1", "2", "3"), "too many"), (("mask=1",), "'x'")]
)
def test_inputs_that_do_not_fit(load_text: Load, options: tuple[str, ...], missing: str) -> None:
    message, hint = failure(load_text, "class Net(nn.Module):\n    def forward(self, x, mask): return x", *options)
    assert message.startswith("The inputs do not fit the model in net.py:")
    assert missing in message
    assert "It takes: x, mask." in hint


def test_a_hook_may_fill_in_what_is_missing(load_text: Load) -> None:
    text = (
        "class Net(nn.Module):\n    def forward(self, x, mask): return x\nmodel = Net()\n"
        "model.register_forward_pre_hook(lambda m, a: (*a, None))"
    )
    assert shapes(load_text(text, "1")) == ([(1,)], {})


def test_a_model_without_inputs(load_text: Load) -> None:
    assert shapes(load_text("class Net(nn.Module):\n    def forward(self): return torch.ones(1)")) == ([], {})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("example_inputs = 3", "cannot be called without arguments"),
        ("def example_inputs(n): return n", "cannot be called without arguments"),
        ("def example_inputs(): return 3", "returned int"),
        ("def example_inputs(): pass", "returned NoneType"),
    ],
)
def test_example_inputs_that_are_none(load_text: Load, text: str, says: str) -> None:
    message, hint = failure(load_text, TAKES + text)
    assert says in message
    assert hint


def test_inputs_that_are_no_tensors_stay_what_they_are(load_text: Load) -> None:
    loaded = load_text(TAKES + "def example_inputs(): return torch.ones(2), 'text'")
    assert loaded.args[1] == "text"


# --- importing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file", ["types.py", "json.py", "torch.py", "random.py", "opscan.py", "my model.py", "a:b.py", "1.py"]
)
def test_names_of_installed_modules_are_free(load_text: Load, file: str) -> None:
    before = {name: sys.modules.get(name) for name in ("types", "json", "torch", "random", "opscan")}
    loaded = load_text(f"import json, types, random\njson.dumps({{}})\nmodel = {LINEAR}", "1,3", file=file)
    assert width(loaded) == 2
    assert {name: sys.modules.get(name) for name in before} == before


def test_siblings_come_from_the_files_own_folder(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "a_sibling_of_net.py").write_text("WIDTH = 5\n")
    assert width(load_text("from a_sibling_of_net import WIDTH\nmodel = nn.Linear(3, WIDTH)", "1,3")) == 5
    assert sys.path[0] == str(tmp_path)
    load_text(f"model = {LINEAR}", "1,3")
    assert sys.path.count(str(tmp_path)) == 1


def test_a_relative_path_and_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "helper_beside_the_real.py").write_text("WIDTH = 6\n")
    (tmp_path / "real" / "net.py").write_text(
        HEADER + "from helper_beside_the_real import WIDTH\nmodel = nn.Linear(3, WIDTH)"
    )
    (tmp_path / "link.py").symlink_to("real/net.py")
    monkeypatch.chdir(tmp_path)
    for path in ("real/net.py", "link.py", "./real/../link.py"):
        assert width(load(PythonFileReference(path), (parse_input_shape("1,3"),), train=False)) == 6


def test_the_module_knows_itself(load_text: Load) -> None:
    text = "import sys\nassert sys.modules[__name__].__file__ == __file__ and __name__ != '__main__'\n"
    load_text(text + "model = nn.Identity()", "1,3")


def test_dataclasses_and_pickles_find_their_module(load_text: Load) -> None:
    text = (
        "from __future__ import annotations\nimport copy, pickle\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Config:\n    width: int = 3\nassert pickle.loads(pickle.dumps(Config(4))) == Config(4)\n"
        "model = nn.Identity()"
    )
    load_text(text.replace("from __future__ import annotations\n", ""), "1,3", file="types.py")


def test_imports_are_forgotten_below_the_folder_only(tmp_path: Path) -> None:
    package = tmp_path / "site-packages"
    package.mkdir()
    for folder, name in ((tmp_path, "mine_to_forget"), (package, "installed_to_keep"), (tmp_path, "mine_from_before")):
        (folder / f"{name}.py").write_text("")
    import_file(tmp_path / "mine_from_before.py")
    own = frozenset(sys.modules)
    import_file(tmp_path / "mine_to_forget.py")
    import_file(package / "installed_to_keep.py")
    forget_imports(tmp_path, own)
    assert "mine_to_forget" not in sys.modules
    assert {"installed_to_keep", "mine_from_before"} <= set(sys.modules)


def test_opscan_itself_is_never_forgotten() -> None:
    import opscan

    root = Path(opscan.__file__).parent.parent
    forget_imports(root, frozenset(name for name in sys.modules if not name.startswith("opscan")))
    assert sys.modules["opscan.loading.python_file"].load is load


def test_a_model_at_module_level_with_weights(load_text: Load, tmp_path: Path) -> None:
    torch.save(nn.Linear(3, 2).state_dict(), tmp_path / "weights.pt")
    text = f"model = {LINEAR}\nmodel.load_state_dict(torch.load('{tmp_path}/weights.pt'))"
    assert width(load_text(text, "1,3")) == 2
