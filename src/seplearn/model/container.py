"""A text and named arrays in one file, laid out as by safetensors; a checksum ends it.

Nothing is allocated that is larger than the file, and no array is read before its place, type and
shape are known to agree with the size of the file.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from safetensors.numpy import save as save_arrays

from seplearn.model.checks import count, require, table

Arrays = dict[str, np.ndarray[Any, Any]]

# What a real header needs is about 150 bytes for a feature and 250 for a stage; JSON of brackets
# alone would take thirty times its size in memory.
LARGEST_HEADER = 16 * 2**20
_KEY = "seplearn"
_CHECKSUM = "sha256"
_TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "I64": np.dtype("<i8"), "U16": np.dtype("<u2"), "U8": np.dtype("u1"),
}  # fmt: skip


class Container(NamedTuple):
    """What a file holds, before anything is made of it."""

    text: str
    arrays: Arrays
    has_checksum: bool


def pack(text: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """The bytes of a file; the last of them are the SHA-256 of all others."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    # Arrays are sorted by type, bytes last, and then by name: the checksum ends the file.
    contiguous[_CHECKSUM] = np.zeros(hashlib.sha256().digest_size, np.uint8)
    data: bytes = save_arrays(contiguous, metadata={_KEY: text})
    content = memoryview(data)[: -hashlib.sha256().digest_size]
    return b"".join((content, hashlib.sha256(content).digest()))


def unpack(file: BinaryIO, size: int, known: Collection[str]) -> Container:
    """Read a file of ``size`` bytes that has no arrays but those ``known``."""
    start = file.read(8)
    length = int.from_bytes(start, "little")
    require(len(start) == 8 and 0 < length <= size - 8, "it has no header, or a part of one")
    require(length <= LARGEST_HEADER, f"its header has more than {LARGEST_HEADER} bytes")
    head = file.read(length)
    entries = json.loads(head.decode("utf-8"))
    require(isinstance(entries, dict) and "__metadata__" in entries, "it has no header")
    text = table(entries.pop("__metadata__"), {_KEY}, "the header")[_KEY]
    require(isinstance(text, str), "its header is not a text")
    require(set(entries) <= {*known, _CHECKSUM}, "it has arrays that no model has")
    places = _places(entries, size - 8 - length)
    arrays = {name: np.empty(shape, kind) for name, (kind, shape) in places.items()}
    digest = hashlib.sha256(start + head)
    for name, array in arrays.items():
        raw = array.reshape(-1).view(np.uint8).data
        require(file.readinto(raw) == len(raw), "it ends too early")  # type: ignore[attr-defined]
        if name != _CHECKSUM:
            digest.update(raw)
    checksum = arrays.pop(_CHECKSUM, None)
    if checksum is not None:
        require(list(places)[-1] == _CHECKSUM, "its checksum is not at the end")
        same = checksum.tobytes() == digest.digest()
        require(same, "it is damaged: its checksum is not that of its content")
    return Container(text, arrays, checksum is not None)


def _places(entries: dict[str, Any], n_bytes: int) -> dict[str, tuple[np.dtype[Any], list[int]]]:
    """Type and shape of every array, in the order in which they fill the rest of the file."""
    places, end = {}, 0
    fields = {"dtype", "shape", "data_offsets"}
    checked = {name: table(entry, fields, "an array") for name, entry in entries.items()}
    for name, entry in sorted(checked.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = entry["data_offsets"]
        require(entry["dtype"] in _TYPES, "type of an array")
        kind, shape = _TYPES[entry["dtype"]], entry["shape"]
        require(isinstance(shape, list) and len(shape) <= 3, "shape of an array")
        n_items = math.prod(count(length) for length in shape)
        require(count(begin) == end, "arrays must lie one after the other")
        require(count(stop) - begin == n_items * kind.itemsize, "size of an array")
        places[name] = (kind, shape)
        end = stop
    require(end == n_bytes, "its size is not that of its arrays")
    return places


def pack_texts(texts: Sequence[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Texts as two arrays: their bytes, one after the other, and where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def unpack_texts(raw: np.ndarray[Any, Any], ends: np.ndarray[Any, Any]) -> list[str]:
    """What :func:`pack_texts` made arrays of."""
    require(raw.dtype == np.uint8 and raw.ndim == 1, "type of the texts")
    require(ends.dtype == np.int64 and ends.ndim == 1, "type of the ends of texts")
    bounds = np.concatenate([[0], ends])
    ordered = bool((bounds[1:] >= bounds[:-1]).all()) and bounds[-1] == len(raw)
    require(ordered, "ends of the texts")
    data, places = raw.tobytes(), bounds.tolist()
    return [data[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(places)]
