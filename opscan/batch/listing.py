"""The list of models of a batch, as TOML: a table of defaults, and one ``[[model]]`` for each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opscan.batch.entries import Entry, OptionValue, check_options, input_options, shared_options
from opscan.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_EXAMPLE = (
    'Write [[model]] tables: reference = "model.py", and where wanted name, inputs = ["1,3,224,224"] and options.'
)


def read_list(path: Path, given: Mapping[str, OptionValue], known: Mapping[str, bool]) -> list[Entry]:
    """The models of a list, in its order; references are relative to its folder.

    An option of a model comes before one ``given`` for all on the command line, and that before one of the list's
    defaults. Raises UsageError, with the place in the file, for what cannot be used.
    """
    table = _parse(path)
    unknown = sorted(set(table) - {"defaults", "model"})
    if unknown:
        raise UsageError(f"{path}: {unknown[0]} is no part of a list.", _EXAMPLE)
    defaults = _defaults(table.get("defaults", {}), path, known)
    models = table.get("model", [])
    if not isinstance(models, list) or not models:
        raise UsageError(f"{path} lists no model.", _EXAMPLE)
    entries: list[Entry] = []
    for number, model in enumerate(models, 1):
        entry = _entry(model, f"{path}, model {number}", path, {**defaults, **given}, known)
        if any(each.name == entry.name for each in entries):
            raise UsageError(f"{path}: two models are called {entry.name!r}.", 'Give each its own: name = "…"')
        entries.append(entry)
    return entries


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(f"Cannot read {path}: {reason}.", "Give a folder of models, or a list as TOML.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}.", _EXAMPLE) from error


def _defaults(table: Any, path: Path, known: Mapping[str, bool]) -> dict[str, OptionValue]:
    """``inputs`` and ``options``; options may also stand in the table itself."""
    where = f"{path}, defaults"
    if not isinstance(table, dict):
        raise UsageError(f"{where}: it is no table.", _EXAMPLE)
    rest = {name: value for name, value in table.items() if name not in ("inputs", "options")}
    options = _options({**rest, **_table(table, "options", where)}, where)
    options = {**options, **input_options(_texts(table, "inputs", where))}
    check_options(options, known, where)
    return options


def _entry(model: Any, where: str, path: Path, shared: Mapping[str, OptionValue], known: Mapping[str, bool]) -> Entry:
    if not isinstance(model, dict):
        raise UsageError(f"{where}: it is no table.", _EXAMPLE)
    unknown = sorted(set(model) - {"name", "reference", "inputs", "options"})
    if unknown:
        raise UsageError(f"{where}: {unknown[0]} is no key of a model.", _EXAMPLE)
    reference = model.get("reference")
    if not isinstance(reference, str) or not reference.strip():
        raise UsageError(f"{where}: it names no reference.", _EXAMPLE)
    name = model.get("name", reference)
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{where}: its name is no text.", _EXAMPLE)
    own = _options(_table(model, "options", where), where) | input_options(_texts(model, "inputs", where))
    check_options(own, known, where)
    if set(own) & {"input", "input-shape"}:  # a model's inputs are its own, all of them
        shared = {name: value for name, value in shared.items() if name not in ("input", "input-shape")}
    options = {**shared_options(reference, shared), **own}
    return Entry(name, reference, path.resolve().parent, options)


def _table(table: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise UsageError(f"{where}: {key} is no table.", f'Write {key} = {{soc = "ascend910b", train = true}}')
    return found


def _texts(table: Mapping[str, Any], key: str, where: str) -> list[str]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise UsageError(f"{where}: {key} is no list of texts.", f'Write {key} = ["1,3,224,224", "mask=1x128:bool"]')
    return found


def _options(table: Mapping[str, Any], where: str) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {}
    for name, value in table.items():
        if isinstance(value, bool | str):
            options[name] = value
        elif isinstance(value, int | float):
            options[name] = str(value)
        elif isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
            options[name] = tuple(str(each) for each in value)
        else:
            raise UsageError(
                f"{where}: the value of {name} is neither text, number, true nor a list of texts.", _EXAMPLE
            )
    return options
