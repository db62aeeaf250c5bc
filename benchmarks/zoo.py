#!/usr/bin/env python3
"""How many models of each kind lead to an inventory, and why the others do not.

    python benchmarks/zoo.py [SECTION ...] [--results FILE] [--python INTERPRETER] [--only REGEX] [--again REGEX]
                             [--jobs 2] [--seconds 90] [--gigabytes 12] [--check-cpu] [--onnx FILE|FOLDER|WHEEL ...]
    python benchmarks/zoo.py --write docs/zoo.md

Sections: torchvision, timm, transformers-4, transformers-5, diffusers, segmentation, onnx-cases, onnx-files; all of
them without, as far as the interpreter has the libraries. Each model is scanned as ``opscan REF`` scans it, on the
virtual device, in a process that is shared until one outlasts its time. The results file is appended to: a sweep goes
on where it ended, ``--again`` repeats what matches by name, outcome or reason. With ``--check-cpu`` a model without an
inventory is run on the CPU as well, without the tracer.

``INTERPRETER`` is one that has torch and the libraries; opscan itself needs none of them here. Wheels with ``.onnx``
files are, for instance, those of rapidocr-onnxruntime, silero-vad and magika (``pip download --no-deps``).
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgspec
from sweeping.page import page
from sweeping.records import Model, Record, Results, Section
from sweeping.running import Runner, side_by_side

from opscan.loading.reference import ConfigurationReference

_SECTIONS: tuple[Section, ...] = get_args(Section)
_RESULTS = Path(__file__).with_name("zoo_results.jsonl")


def main() -> None:
    options = _options()
    results = Results(options.results)
    if options.write is None:
        _limit_memory(options.gigabytes)
        for section in options.sections or _SECTIONS:
            if section.startswith("onnx"):
                _sweep_onnx(section, options, results)
        _sweep(options, results)
        results.tidy()
    text = page(list(results.records.values()))
    if options.write is not None:
        options.write.write_text(text, encoding="utf-8")
    else:
        print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument("--results", type=Path, default=_RESULTS)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the models")
    parser.add_argument("--only", type=re.compile, help="models whose name matches")
    parser.add_argument("--again", type=re.compile, help="repeat those whose name, outcome, kind or reason matches")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=90, help="of the processor's time, a model")
    parser.add_argument("--gigabytes", type=float, default=12, help="address space of a process")
    parser.add_argument("--check-cpu", action="store_true", help="run what has no inventory without the tracer as well")
    parser.add_argument("--onnx", type=Path, nargs="*", default=[], help="files, folders or wheels for onnx-files")
    parser.add_argument("--write", type=Path, help="write the page from the results and scan nothing")
    options = parser.parse_args()
    unknown = [section for section in options.sections if section not in _SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]}; there are {', '.join(_SECTIONS)}")
    return options


def _limit_memory(gigabytes: float) -> None:
    """For this process and its children: a model that needs more ends with an error, and the machine lives."""
    limit = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _sweep(options: argparse.Namespace, results: Results) -> None:
    asked = [section for section in options.sections or _SECTIONS if not section.startswith("onnx")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listed = [_placed(model, folder) for model in _models(asked, options.python)]
        todo = [model for model in listed if _is_wanted(model.section, model.name, options, results)]
        waiting: queue.SimpleQueue[Model] = queue.SimpleQueue()
        for model in todo:
            waiting.put(model)
        print(f"{len(todo)} of {len(listed)} models to scan", file=sys.stderr)
        began = time.monotonic()

        def work() -> None:
            runner = Runner(options.python, options.seconds, options.check_cpu, folder)
            try:
                while True:
                    record = runner.run(waiting.get_nowait())
                    results.add(record)
                    _tell(record, waiting.qsize(), time.monotonic() - began)
            except queue.Empty:
                runner.close()

        side_by_side(work, options.jobs)


def _sweep_onnx(section: Section, options: argparse.Namespace, results: Results) -> None:
    from sweeping.onnx_files import sweep

    for record in sweep(section, options.onnx):
        if _is_wanted(section, record.name, options, results):
            results.add(record)
            if record.outcome != "whole":
                _tell(record, 0, 0.0)


def _models(sections: list[Section], interpreter: str) -> Iterator[Model]:
    if not sections:
        return
    script = Path(__file__).with_name("sweeping") / "names.py"
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    listed = subprocess.run([interpreter, str(script), *sections], stdout=subprocess.PIPE, check=True, env=environment)
    for line in listed.stdout.splitlines():
        yield msgspec.json.decode(line, type=Model)


def _placed(model: Model, folder: Path) -> Model:
    """Its files are written, and its reference leads to them."""
    for name, text in model.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if isinstance(model.reference, ConfigurationReference):
        path = folder / model.reference.path
        return msgspec.structs.replace(model, reference=msgspec.structs.replace(model.reference, path=str(path)))
    return model


def _is_wanted(section: Section, name: str, options: argparse.Namespace, results: Results) -> bool:
    if options.only and not options.only.search(name):
        return False
    known = results.records.get((section, name))
    if known is None:
        return True
    said = (name, known.outcome, known.kind, known.reason)
    return bool(options.again and any(options.again.search(text) for text in said))


def _tell(record: Record, left: int, seconds: float) -> None:
    about = f"{record.kind} {record.reason}".strip()
    plain = f" [plainly: {record.plain}]" if record.plain else ""
    print(
        f"{record.outcome:8}{record.section}:{record.name} ({record.seconds:.1f} s; {left} left after {seconds:.0f} s)"
        f"{f': {about}' if about else ''}{plain}",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    main()
