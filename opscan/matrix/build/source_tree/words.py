"""Names in CANN's documents and sources: dtypes, products, chips; and the names that the matrix uses for them."""

from __future__ import annotations

import re

#: Names of documents (upper case) and of ``op::DataType`` without ``DT_``; others are the same in lower case.
_DTYPES = {
    "BF16": "bfloat16",
    "DOUBLE": "float64",
    "FLOAT": "float32",
    "FP16": "float16",
    "FP32": "float32",
}
_PLAIN = frozenset(
    {
        *("BFLOAT16", "FLOAT16", "FLOAT32", "FLOAT64", "BOOL", "STRING", "COMPLEX32", "COMPLEX64", "COMPLEX128"),
        *("INT4", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"),
        *("HIFLOAT8", "FLOAT8_E4M3FN", "FLOAT8_E4M3", "FLOAT8_E5M2", "FLOAT8_E8M0"),
        *("FLOAT6_E3M2", "FLOAT6_E2M3", "FLOAT4_E2M1", "FLOAT4_E1M2"),
    }
)
_KNOWN = {**{name: name.lower() for name in _PLAIN}, **_DTYPES}

#: A dtype as a word of its own. Longer names come first; what is none of them (``HFLOAT32``) matches nothing.
DTYPE = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(sorted(_KNOWN, key=lambda n: (-len(n), n)))})(?![A-Za-z0-9_])")

#: What a product line of a document means: the first that fits. ``Atlas A2`` comes before what is plain ``Atlas``.
_PRODUCTS = (
    (re.compile(r"950PR/Ascend ?950DT|950DT/Ascend ?950PR|Ascend ?950(?![PD])|910_95"), ("ascend950pr", "ascend950dt")),
    (re.compile(r"950PR"), ("ascend950pr",)),
    (re.compile(r"950DT"), ("ascend950dt",)),
    (re.compile(r"(?:Atlas )?A3 "), ("ascend910_93",)),
    (re.compile(r"200I/500 ?A2"), ("ascend310b",)),
    (re.compile(r"Atlas A2 |800I A2|A200I A2|^A2 "), ("ascend910b",)),
    (re.compile(r"Atlas ?推理系列"), ("ascend310p",)),
    (re.compile(r"Atlas ?训练系列"), ("ascend910",)),
    (re.compile(r"Kirin ?X90", re.I), ("kirinx90",)),
    (re.compile(r"Kirin ?9030", re.I), ("kirin9030",)),
)

#: SoCs of the tables, by the names of the documents.
SOCS = frozenset({"ascend310b", "ascend310p", "ascend910", "ascend910b", "ascend910_93", "ascend950pr", "ascend950dt"})

#: One product name inside a note: such names are separated by 、 and end before the colon.
PRODUCT = re.compile(r"Atlas|A[23] |Ascend ?9\d|昇腾 ?910_95|Kirin", re.I)


def dtypes(text: str) -> tuple[str, ...]:
    """The dtypes that a text names, in order, each once."""
    return tuple(dict.fromkeys(_KNOWN[name] for name in DTYPE.findall(text)))


def dtype(name: str) -> str | None:
    """The dtype of an ``op::DataType`` or ``ge::DataType`` name without ``DT_``; None where it is not known."""
    return _KNOWN.get(name.upper())


def socs(products: str) -> tuple[str, ...]:
    """The SoCs of one product line (``Atlas A2 …/Atlas A2 …``); empty where it is not known."""
    for pattern, names in _PRODUCTS:
        if pattern.search(products):
            return names
    return ()


def all_socs(products: str) -> frozenset[str] | None:
    """The SoCs of several product lines separated by 、 or commas; None where one of them is not known."""
    found: set[str] = set()
    for line in filter(None, (part.strip() for part in re.split(r"[、，,]|和|及", products))):
        named = socs(line)
        if not named:
            return None
        found |= set(named)
    return frozenset(found)
