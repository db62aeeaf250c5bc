"""Which functions of CANN a torch_npu wants: what its libraries leave undefined, and names that they look up.

torch_npu links a part of CANN's libraries and finds the rest by ``dlsym``: those names are strings of its read-only
data. Both are read from the ELF files; nothing of the package is loaded.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from opscan.errors import OpscanError
from opscan.probing.simulator.package import shared_libraries

#: Names of CANN's functions and of the C++ classes of its graph engine, whose mangled names are C identifiers too.
_CANN = re.compile(r"(acl|rt|[Hh]ccl|Msprof)[A-Z\d]\w*|acl[a-z]+\w*|_ZNK?2ge\w+|_ZT[IVS]N2ge\w+|_ZN2AI\w+|_ZN3ge\w+")

#: Names as a whole string that ``dlsym`` may be given; a string may be the end of a longer one in the file.
_LOOKED_UP = re.compile(rb"(?<!\w)(?:acl|Hccl)[a-zA-Z]*[A-Z]\w+(?=\0)")

_NEEDED_BY_ALL = ("ascendcl", "opapi", "hccl", "acl_op_compiler", "ge_runner", "graph", "acl_tdt_channel", "runtime")

#: Libraries that are there or not CANN's: the C and C++ runtime, torch's own.
_ELSEWHERE = re.compile(r"lib(torch|c10|stdc\+\+|gcc_s|gomp|ld|c\.so|m\.so|pthread|dl\.so|rt\.so|util\.so)|ld-linux")

_SYMBOL = struct.Struct("<IBBHQQ")
_UNDEFINED = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the stubs have to provide: names of functions, names of libraries without ``lib`` and ``.so``, and the
    machine that the package was made for (``EM_X86_64``, ``EM_AARCH64``)."""

    functions: frozenset[str]
    libraries: tuple[str, ...]
    machine: str

    @property
    def kernels(self) -> tuple[str, ...]:
        """The aclnn interface, which is in a library of its own."""
        return tuple(sorted(name for name in self.functions if name.startswith("aclnn")))


def wanted_by(package: Path) -> Wanted:
    """Read the libraries of the package folder of torch_npu."""
    libraries = shared_libraries(package)
    if not libraries:
        raise OpscanError(
            f"{package} holds no libraries of torch_npu.",
            "Name the folder torch_npu in an environment's site-packages.",
        )
    undefined: set[str] = set()
    defined: set[str] = set()
    strings: set[str] = set()
    needed: set[str] = set()
    machine = ""
    for path in libraries:
        read = _read(path)
        undefined |= read.undefined
        defined |= read.defined
        strings |= read.strings
        needed |= read.needed
        machine = read.machine
    own = {path.name for path in libraries}
    cann = (name for name in needed - own if not _ELSEWHERE.match(name))
    names = {name.removeprefix("lib").partition(".so")[0] for name in cann}
    functions = {name for name in undefined if _CANN.fullmatch(name)} | strings
    return Wanted(frozenset(functions - defined), (*_NEEDED_BY_ALL, *sorted(names - set(_NEEDED_BY_ALL))), machine)


@dataclass(frozen=True, slots=True)
class _Read:
    undefined: frozenset[str]
    defined: frozenset[str]
    strings: frozenset[str]
    needed: frozenset[str]
    machine: str


def _read(path: Path) -> _Read:
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf.elfclass != 64 or not elf.little_endian:
                raise OpscanError(f"{path} is not a library for a 64-bit little-endian machine.")
            symbols = dict(_dynamic_symbols(elf))
            return _Read(
                frozenset(name for name, is_defined in symbols.items() if not is_defined),
                frozenset(name for name, is_defined in symbols.items() if is_defined),
                frozenset(_strings(elf)),
                frozenset(_needed(elf)),
                str(elf["e_machine"]),
            )
    except (ELFError, OSError) as error:
        raise OpscanError(f"{path} cannot be read as a shared library: {error}.", "Reinstall torch_npu.") from error


def _dynamic_symbols(elf: ELFFile) -> Iterator[tuple[str, bool]]:
    """Names, and whether they are defined here. The table is unpacked by hand: libraries have 100,000 symbols."""
    section = elf.get_section_by_name(".dynsym")
    if section is None:
        return
    names = elf.get_section(section["sh_link"]).data()
    for name, _, _, index, _, _ in _SYMBOL.iter_unpack(section.data()):
        yield names[name : names.index(b"\0", name)].decode(errors="replace"), index != _UNDEFINED


def _strings(elf: ELFFile) -> Iterator[str]:
    for section in elf.iter_sections("SHT_PROGBITS"):
        if section.name.startswith(".rodata"):
            for match in _LOOKED_UP.finditer(section.data()):
                yield match[0].decode()


def _needed(elf: ELFFile) -> Iterator[str]:
    section = elf.get_section_by_name(".dynamic")
    if isinstance(section, DynamicSection):
        for tag in section.iter_tags("DT_NEEDED"):
            yield tag.needed  # type: ignore[attr-defined]  # set on tags of this kind
