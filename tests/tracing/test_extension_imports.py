"""Imports of CUDA extensions that are not installed: needed ones are answered, optional ones fail as ever."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from traced_files import Scanner, Trace

from opscan.errors import ModelError

#: Each leaves ``found`` false, as it does where the package is not installed.
OPTIONAL = [
    """
    try:
        import flash_attn
        found = True
    except ImportError:
        found = False
    """,
    """
    try:
        from flash_attn import flash_attn_func
        found = True
    except (OSError, ModuleNotFoundError):
        found = False
    """,
    """
    try:
        import flash_attn.bert_padding as padding
        found = True
    except Exception as error:
        print(error)
        found = False
    """,
    """
    try:
        import flash_attn
    except:
        flash_attn = None
    found = flash_attn is not None
    """,
    """
    import contextlib
    flash_attn = None
    with contextlib.suppress(ImportError):
        import flash_attn
    found = flash_attn is not None
    """,
    """
    import importlib.util
    found = importlib.util.find_spec("flash_attn") is not None
    """,
    """
    import importlib
    def has(name):
        try:
            importlib.import_module(name)
        except ImportError:
            return False
        return True
    found = has("flash_attn")
    """,
    """
    def load():
        from flash_attn import flash_attn_func
        return flash_attn_func
    try:
        found = load() is not None
    except ImportError:
        found = False
    """,
    """
    try:
        try:
            import flash_attn
        except ImportError:
            raise ImportError("install flash_attn")
        found = True
    except ImportError:
        found = False
    """,
    """
    import importlib.metadata
    try:
        found = bool(importlib.metadata.version("flash_attn"))
    except importlib.metadata.PackageNotFoundError:
        found = False
    """,
]

#: Each needs the package: where it is not there, the file does not load.
NEEDED = [
    "import flash_attn  # <-- here",
    "from flash_attn import flash_attn_func, flash_attn_varlen_func  # <-- here",
    "from flash_attn.bert_padding import pad_input  # <-- here",
    "import flash_attn.flash_attn_interface as fa  # <-- here",
    "import importlib; fa = importlib.import_module('flash_attn')  # <-- here",
    """
    try:
        import flash_attn  # <-- here
    except ImportError:
        raise ImportError("install flash_attn")
    """,
    """
    import sys
    try:
        import flash_attn  # <-- here
    except ImportError as error:
        print(error)
        sys.exit(1)
    """,
    """
    try:
        import flash_attn  # <-- here
    finally:
        pass
    """,
    """
    try:
        import flash_attn  # <-- here
    except ValueError:
        pass
    """,
    """
    try:
        def load():
            import flash_attn  # <-- here
            return flash_attn
    except ImportError:
        pass
    load()
    """,
]

MODEL = """
class M(nn.Module):
    def forward(self, x):
        return x.sin() if found else x.cos()
"""


@pytest.mark.parametrize("snippet", OPTIONAL)
def test_an_optional_import_fails(trace: Trace, snippet: str) -> None:
    found = trace(textwrap.dedent(snippet) + MODEL, "2,3")
    assert found.names() == ["aten::cos"]
    assert found.findings("OPS610") == []
    assert found.complete


@pytest.mark.parametrize("snippet", NEEDED)
def test_a_needed_import_is_answered_and_written_down(trace: Trace, snippet: str) -> None:
    found = trace(textwrap.dedent(snippet) + "\nfound = False\n" + MODEL, "2,3")
    assert found.names() == ["aten::cos"]
    assert found.finding_lines("OPS610") == {found.line()}
    assert found.complete


def test_a_guard_around_another_file_of_the_models_own(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("import triton\n")
    source = """
    try:
        import kernels
        found = True
    except ImportError:
        found = False
    """
    assert trace(textwrap.dedent(source) + MODEL, "2,3").names() == ["aten::cos"]


def test_who_asks_later_is_told_that_it_is_absent(trace: Trace) -> None:
    source = """
    import importlib.util, sys
    import flash_attn
    import spconv.pytorch as spconv
    found = any(importlib.util.find_spec(n) for n in ("flash_attn", "spconv")) or "flash_attn" in sys.modules
    """
    assert trace(textwrap.dedent(source) + MODEL, "2,3").names() == ["aten::cos"]


def test_torch_itself_is_told_so_too(trace: Trace) -> None:
    source = """
    import triton  # <-- here
    from torch.utils._triton import has_triton_package
    found = has_triton_package()
    """
    found = trace(textwrap.dedent(source) + MODEL, "2,3")
    assert found.names() == ["aten::cos"]
    assert found.finding_lines("OPS611") == {found.line()}


def test_a_model_that_does_not_run_without_an_optional_package(trace: Trace) -> None:
    found = trace(
        """
        try:
            from flash_attn import flash_attn_func  # <-- import
        except ImportError:
            flash_attn_func = None
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                assert flash_attn_func is not None, "install flash_attn"
            def forward(self, x):
                return flash_attn_func(x, x, x)  # <-- call
        """,
        "1,4,2,8",
    )
    assert found.names() == ["cuda_extension::flash_attn.flash_attn_func"]
    assert found.finding_lines("OPS610") == {found.line("import"), found.line("call")}


def test_an_error_that_has_nothing_to_do_with_it(trace: Trace) -> None:
    with pytest.raises(ModelError, match="a mistake"):
        trace(
            """
            try:
                import flash_attn
            except ImportError:
                flash_attn = None
            class M(nn.Module):
                def forward(self, x):
                    raise ValueError("a mistake")
            """,
            "2,3",
        )


@pytest.mark.parametrize("name", ["no_such_package", "mmcv", "numba"])
def test_other_packages_have_to_be_installed(trace: Trace, name: str) -> None:
    with pytest.raises(ModelError) as raised:
        trace(f"import {name}\nmodel = nn.ReLU()", "2,3")
    assert name in raised.value.hint


@pytest.mark.parametrize("statement", ["from mmcv import ops", "import mmcv.ops", "from mmcv.ops import nms"])
def test_the_part_of_a_package_that_has_the_kernels(trace: Trace, statement: str) -> None:
    found = trace(f"{statement}  # <-- here\nmodel = nn.ReLU()", "2,3")
    assert found.finding_lines("OPS611") == {found.line()}


def test_an_installed_package_is_left_alone(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "gsplat.py").write_text("def rasterization(x):\n    return x.tan()\n")
    found = trace(
        """
        from gsplat import rasterization
        class M(nn.Module):
            def forward(self, x):
                return rasterization(x)
        """,
        "2,3",
    )
    assert found.names() == ["aten::tan"]
    assert found.findings("OPS610") == []


def test_names_and_versions_of_what_is_imported(trace: Trace) -> None:
    found = trace(
        """
        import inspect
        import flash_attn
        from flash_attn import flash_attn_func
        from flash_attn.flash_attn_interface import flash_attn_func as same
        assert flash_attn_func is same is flash_attn.flash_attn_func
        assert tuple(map(int, flash_attn.__version__.split("."))) >= (2, 1, 0)
        assert "window_size" in inspect.signature(flash_attn_func).parameters
        assert not hasattr(flash_attn, "__no_such_thing__")
        model = nn.ReLU()
        """,
        "2,3",
    )
    assert found.complete


def test_the_import_statement_is_put_back(scanner: Scanner, tmp_path: Path) -> None:
    """One patch at a time, however many models a process has seen."""
    source = """
    import builtins, inspect
    original = inspect.getclosurevars(builtins.__import__).nonlocals["original"]
    assert original.__module__ == "builtins", original
    import flash_attn
    model = nn.ReLU()
    """
    for _ in range(2):
        assert scanner(tmp_path, source, ("2,3",)).complete
