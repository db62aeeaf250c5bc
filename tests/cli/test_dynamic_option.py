"""``--dynamic`` from the command line to the report: symbols in shapes, sizes that were tried, gears for ATC."""

from __future__ import annotations

import json
from pathlib import Path

from ended_commands import Opscan

TARGET = ("--torch-npu", "2.13.0", "--cann", "9.1.0", "--fail-on", "never")

DOUBLED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, size=(x.shape[2] * 2, x.shape[3] * 2), mode="nearest")
"""


def test_symbols_stand_in_the_report(opscan: Opscan, folder: Path) -> None:
    (folder / "model.py").write_text(DOUBLED)
    ended = opscan("model.py", "--input-shape", "1,3,5,7", "--dynamic", "x:2,3", *TARGET, "--json", "report.json")
    assert ended.code == 0
    assert "x.2 = 5, 6, 7" in ended.out
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["trace"]["sizes"] == ["x.2 = 5, 6, 7", "x.3 = 7, 8, 9"]
    assert report["ops"][0]["outputs"] == [["float32", [1, 3, "2*x.2", "2*x.3"]]]
    assert "x.2 = 5, 6, 7" in (folder / "opscan-report.html").read_text(encoding="utf-8")


def test_height_and_width_that_vary_get_gears_for_atc(installed: Opscan, folder: Path) -> None:
    (folder / "model.py").write_text(DOUBLED)
    arguments = ("--input-shape", "1,3,5,7", "--dynamic", "0:2=4..64,3=4..64", "--route", "offline", *TARGET)
    ended = installed("model.py", *arguments, "--lang", "zh")
    assert ended.code == 0
    said = " ".join(ended.out.split())
    assert "输入的尺寸未固定：x[1, 3, x.2, x.3]。" in said
    assert '--input_format=NCHW --input_shape="x:1,3,-1,-1" --dynamic_image_size="4,4;4,16;4,64;' in said
    assert '--input_shape="x:1,3,4~64,4~64"' in said


def test_what_is_no_dimension_is_a_mistake_in_use(opscan: Opscan, folder: Path) -> None:
    (folder / "model.py").write_text(DOUBLED)
    ended = opscan("model.py", "--input-shape", "1,3,5,7", "--dynamic", "x:height", *TARGET)
    assert ended.code == 2
    assert "'height' is no dimension" in ended.err
