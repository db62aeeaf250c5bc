"""What the documents say about names, options and files is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from opscan.assessment import VERDICTS
from opscan.cli.main import app
from opscan.rules.interface import Rule
from opscan.rules.registry import RULES

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    page.relative_to(ROOT)
    for pattern in ("*.md", "docs/**/*.md", "support_matrix/sources/*.md")
    for page in ROOT.glob(pattern)
)
READMES = ("README.md", "README.zh.md")


def read(page: str | Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", read(page))
    assert [t for t in targets if not (ROOT / page.parent / t).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_paths_in_the_text_exist(page: Path) -> None:
    named = set(
        re.findall(r"`((?:opscan|benchmarks|examples|support_matrix|docs|tests|reports)/[\w./-]*\w)`", read(page))
    )
    missing = [path for path in named if "NNN" not in path and not (ROOT / path).exists()]
    # Folders that only appear with their first file.
    assert [path for path in missing if path not in ("support_matrix/overrides", "support_matrix/schema")] == []


def test_files_of_the_trace_are_those_that_exist() -> None:
    section = read("docs/architecture.md").partition("## The trace")[2].partition("\n## ")[0]
    files = re.findall(r"`((?!opscan/)[\w/]+\.py)`", section)
    assert files
    folder = ROOT / "opscan" / "tracing"
    assert [name for name in files if not (folder / name).exists()] == []
    own = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if path.name != "__init__.py"}
    assert {name for name in own - set(files) if not name.startswith("cuda/extensions/")} == set()


@pytest.mark.parametrize("page", READMES)
def test_readme_shows_the_commands_that_ci_runs(page: str) -> None:
    commands = re.findall(r'^readme_command "(.+)"$', read(".ci/run"), flags=re.MULTILINE)
    assert len(commands) == 3
    assert set(commands) <= set(read(page).splitlines())


@pytest.mark.parametrize("page", [*READMES, "docs/verdicts.md"])
def test_every_verdict_is_explained(page: str) -> None:
    rows = [line for line in read(page).splitlines() if line.startswith("|")]
    for verdict in VERDICTS:
        assert any(verdict in row.split("|")[1] for row in rows), verdict


def test_every_rule_has_its_row() -> None:
    rows = re.findall(r"^\| `(OPS\d+)` ([\w-]+) \| (\w+) \|", read("docs/verdicts.md"), flags=re.MULTILINE)
    assert rows == [(rule.code, rule.name, rule.verdict or rule.severity) for rule in sorted_rules()]


def sorted_rules() -> list[Rule]:
    """As the page lists them: those of operators, then findings, each by code."""
    return sorted(RULES.values(), key=lambda rule: (rule.verdict is None, rule.code))


COMMANDS = (
    "scan",
    "rehearse",
    "probe",
    "batch",
    "import-log",
    "doctor",
    "explain",
    *(f"matrix {name}" for name in ("list", "query", "diff", "lint", "build")),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented_with_its_command(command: str) -> None:
    (section,) = re.findall(
        rf"^## `opscan {command}\b.*?(?=^## |\Z)", read("docs/cli.md"), flags=re.MULTILINE | re.DOTALL
    )
    heading, _, text = section.partition("\n")
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    documented = set(re.findall(r"--[a-z][\w-]*", " ".join([heading, *cells])))
    assert documented | {"--debug"} == options(command) | {"--debug"}


def options(command: str) -> set[str]:
    found = typer.main.get_command(app)
    for name in command.split():
        found = found.commands[name]  # type: ignore[attr-defined]
    return {name for parameter in found.params for name in parameter.opts if name.startswith("--")} - {"--help"}
