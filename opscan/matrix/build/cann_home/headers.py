"""aclnn APIs of an installed toolkit: which there are, and their parameters, from its headers and libraries."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opscan.matrix.build.cann_home.strings import printable
from opscan.matrix.build.cann_home.toolkit import Toolkit, read_text

#: [kind letter, parameter name] in order.
Signature = tuple[tuple[str, str], ...]

_HEADERS = (
    "*-linux/include/aclnnop/**/*.h",
    "include/aclnnop/**/*.h",
    "opp/built-in/op_impl/ai_core/tbe/op_api/include/**/*.h",
    "opp/vendors/*/op_api/include/**/*.h",
)
_LIBRARIES = (
    "*-linux/lib64/libopapi*.so",
    "*-linux/lib64/libaclnn_*.so",
    "lib64/libopapi*.so",
    "lib64/libaclnn_*.so",
    "opp/built-in/op_impl/ai_core/tbe/op_api/lib/linux/*/lib*.so",
    "opp/vendors/*/op_api/lib/*.so",
)

#: Kind letters of the launch log, which does not see floating-point parameters; ``v`` is any other value.
_KINDS = {
    "aclTensor*": "T",
    "aclTensorList*": "L",
    "aclScalar*": "S",
    "aclScalarList*": "Z",
    "aclIntArray*": "I",
    "aclBoolArray*": "B",
    "aclFloatArray*": "F",
}
_UNSEEN = frozenset({"double", "float"})
_TRAILING = frozenset({"uint64_t*", "aclOpExecutor**"})

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DECLARATION = re.compile(r"\b(acl\w+?)GetWorkspaceSize\s*\(([^()]*)\)\s*;")
_PARAMETER = re.compile(r"(?:const\s+)?(\w[\w\s]*?(?:\s*\*)*)\s*\b(\w+)\s*(?:=.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class InstalledApis:
    """``declared``: APIs of the headers with their parameters. ``exported``: names that libraries hold."""

    declared: dict[str, Signature]
    exported: frozenset[str]

    def known(self) -> bool:
        """Whether the headers are installed: without them an absence says nothing."""
        return bool(self.declared)

    def has(self, api: str) -> bool:
        """Whether an API exists. Libraries hold some that no header declares; the adapter finds those as well."""
        return api in self.declared or api in self.exported


def read_apis(toolkit: Toolkit) -> InstalledApis:
    """The aclnn APIs of every header and library of operators."""
    declared: dict[str, Signature] = {}
    for path in toolkit.files(*_HEADERS):
        declared.update(signatures(read_text(toolkit, path)))
    return InstalledApis(dict(sorted(declared.items())), _exported(toolkit))


def signatures(header: str) -> dict[str, Signature]:
    """API → its parameters, from the declaration of its first call (``…GetWorkspaceSize``)."""
    text = _COMMENT.sub(" ", header)
    return {match[1]: _signature(match[2]) for match in _DECLARATION.finditer(text)}


def _signature(parameters: str) -> Signature:
    found = []
    for part in parameters.split(","):
        match = _PARAMETER.fullmatch(part.strip())
        kind = re.sub(r"\s+", "", match[1]) if match else ""
        if match and kind not in _UNSEEN | _TRAILING:
            found.append((_KINDS.get(kind, "v"), match[2]))
    return tuple(found)


def _exported(toolkit: Toolkit) -> frozenset[str]:
    names: set[str] = set()
    for path in toolkit.files(*_LIBRARIES):
        for text in printable(toolkit, path, rb"acl\w+GetWorkspaceSize"):
            names.add(text.removesuffix("GetWorkspaceSize"))
    return frozenset(names)
