"""The container: a prefix, a JSON header, the columns of named arrays, a checksum (docs/format.md)."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from banditboost.io.replacing import replacing
from banditboost.io.values import UnreadableError

Array = np.ndarray[Any, Any]
FORMAT = 1
MAGIC = b"\x89BBOOST\n"
_PREFIX = struct.Struct("<8sIIQ")  # magic, format, bytes of the header, bytes of the file
_DIGEST = 32
_TYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
_MOST_DIMENSIONS = 4
_MOST_ITEMS = 2**40
_PLAIN = ""  # the name of the one column of an array that has no fields
_DAMAGED = "the file is damaged; load an intact copy, or save the model again"


@dataclass(frozen=True)
class Contents:
    """What a file holds: its format, the header, and the arrays by name."""

    format: int
    header: dict[str, Any]
    arrays: dict[str, Array]


# Writing


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Replace the file at once or not at all."""
    with replacing(path) as file:
        _write_to(file, header, arrays)


def packed(header: dict[str, Any], arrays: dict[str, Array]) -> bytes:
    """What `write` puts into a file."""
    made = io.BytesIO()
    _write_to(made, header, arrays)
    return made.getvalue()


def _write_to(file: BinaryIO, header: dict[str, Any], arrays: dict[str, Array]) -> None:
    specs = [_spec(name, array) for name, array in arrays.items()]
    text = json.dumps({**header, "arrays": specs}, allow_nan=False, separators=(",", ":")).encode("ascii")
    size = (
        _PREFIX.size
        + len(text)
        + sum(column.nbytes for array in arrays.values() for column in _columns(array))
        + _DIGEST
    )
    digest = hashlib.sha256()
    for piece in _pieces(_PREFIX.pack(MAGIC, FORMAT, len(text), size), text, arrays):
        digest.update(piece)
        file.write(piece)
    file.write(digest.digest())


def _pieces(prefix: bytes, text: bytes, arrays: dict[str, Array]) -> Iterator[bytes]:
    yield prefix
    yield text
    for array in arrays.values():
        for column in _columns(array):
            yield column.astype(column.dtype.newbyteorder("<"), copy=False).tobytes()


def _columns(array: Array) -> list[Array]:
    """Field by field: what lies between the fields of a record is not ours to write."""
    return [array] if array.dtype.names is None else [array[name] for name in array.dtype.names]


def _type(dtype: np.dtype[Any]) -> str:
    return dtype.newbyteorder("<").str


def _spec(name: str, array: Array) -> dict[str, Any]:
    shape = {"name": name, "shape": list(array.shape)}
    if array.dtype.names is None:
        return {**shape, "type": _type(array.dtype)}
    return {**shape, "fields": [[field, _type(array.dtype[field])] for field in array.dtype.names]}


# Reading: every number that the file states is checked before memory is taken for it.


def read(path: str | os.PathLike[str]) -> Contents:
    """What the file holds; raises UnreadableError, whatever the bytes are."""
    with Path(path).open("rb") as file:
        return read_from(file, os.fstat(file.fileno()).st_size)


def read_from(file: BinaryIO, actual: int, *, intact: bool = False) -> Contents:
    """The same, of an open file with so many bytes; the checksum of one that is `intact` is believed."""
    prefix = file.read(_PREFIX.size)
    version, header_size, size = _parse_prefix(prefix, actual)
    body = file.read(size - _PREFIX.size - _DIGEST)
    digest = file.read(_DIGEST)
    if not intact and _digest(prefix, body) != digest:
        raise UnreadableError(f"the checksum is wrong: {_DAMAGED}")
    header = _parse_header(body[:header_size])
    return Contents(
        version, header, _parse_arrays(header.pop("arrays", None), memoryview(body)[header_size:])
    )


def _digest(*parts: bytes) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.digest()


def _parse_prefix(prefix: bytes, actual: int) -> tuple[int, int, int]:
    if prefix[: len(MAGIC)] != MAGIC[: len(prefix)] or not prefix:
        raise UnreadableError("this is no banditboost model; give a file that model.save wrote")
    if len(prefix) < _PREFIX.size:
        raise UnreadableError(f"the file is cut short after {len(prefix)} bytes; load an intact copy")
    _, version, header_size, size = _PREFIX.unpack(prefix)
    if version > FORMAT:
        raise UnreadableError(
            f"format {version} is newer than this version of banditboost, which reads formats up to "
            f"{FORMAT}; upgrade"
        )
    if version == 0:
        raise UnreadableError(f"format 0 does not exist: {_DAMAGED}")
    if actual < size:
        raise UnreadableError(
            f"the file is cut short: it has {actual} of its {size} bytes; load an intact copy"
        )
    if actual > size or _PREFIX.size + header_size + _DIGEST > size:
        raise UnreadableError(f"the file has {actual} bytes and says that it has {size}: {_DAMAGED}")
    return version, header_size, size


def _parse_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(
            f"the header is no JSON that can be read ({str(error)[:80]}): {_DAMAGED}"
        ) from None
    if not isinstance(header, dict):
        raise UnreadableError(f"the header is no JSON object: {_DAMAGED}")
    return header


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _parse_arrays(specs: Any, body: memoryview) -> dict[str, Array]:
    if not isinstance(specs, list):
        raise UnreadableError(f"the header does not list the arrays: {_DAMAGED}")
    arrays: dict[str, Array] = {}
    at = 0
    for spec in specs:
        name, shape, columns = _checked_spec(spec)
        length = math.prod(shape)
        if name in arrays or at + length * sum(kind.itemsize for _, kind in columns) > len(body):
            raise UnreadableError(f"array {name[:40]!r} is there twice, or larger than the file: {_DAMAGED}")
        parts = []
        for _, kind in columns:
            parts.append(np.frombuffer(body, kind, length, at).reshape(shape))
            at += length * kind.itemsize
        arrays[name] = _joined(columns, parts, shape)
    if at != len(body):
        raise UnreadableError(f"{len(body) - at} bytes belong to no array: {_DAMAGED}")
    return arrays


_Columns = list[tuple[str, np.dtype[Any]]]


def _checked_spec(spec: Any) -> tuple[str, tuple[int, ...], _Columns]:
    if not isinstance(spec, dict) or not isinstance(spec.get("name"), str):
        raise UnreadableError(f"an array has no name: {_DAMAGED}")
    shape: Any = spec.get("shape")
    fields: Any = spec.get("fields", [[_PLAIN, spec.get("type")]])
    possible = (
        isinstance(shape, list)
        and len(shape) <= _MOST_DIMENSIONS
        and all(type(n) is int and n >= 0 for n in shape)
    )
    if not possible or math.prod(max(n, 1) for n in shape) > _MOST_ITEMS:
        raise UnreadableError(f"array {spec['name'][:40]!r} has an impossible shape: {_DAMAGED}")
    if not isinstance(fields, list) or not fields or not all(_is_field(field) for field in fields):
        raise UnreadableError(f"array {spec['name'][:40]!r} has fields of unknown types: {_DAMAGED}")
    if len({name for name, _ in fields}) < len(fields) or (
        "fields" in spec and [_PLAIN] in [field[:1] for field in fields]
    ):
        raise UnreadableError(
            f"array {spec['name'][:40]!r} has a field twice, or one without a name: {_DAMAGED}"
        )
    return spec["name"], tuple(shape), [(name, np.dtype(kind)) for name, kind in fields]


def _is_field(field: Any) -> bool:
    return (
        isinstance(field, list)
        and len(field) == 2
        and isinstance(field[0], str)
        and isinstance(field[1], str)
        and field[1] in _TYPES
    )


def _joined(columns: _Columns, parts: list[Array], shape: tuple[int, ...]) -> Array:
    """Native, writable, and for records as the kernels lay them out."""
    if columns[0][0] == _PLAIN:
        return parts[0].astype(columns[0][1].newbyteorder("="))
    record = np.zeros(shape, np.dtype([(name, kind.newbyteorder("=")) for name, kind in columns], align=True))
    for (name, _), part in zip(columns, parts, strict=True):
        record[name] = part
    return record


def take_array(arrays: dict[str, Array], name: str, kind: Any, shape: tuple[int | None, ...]) -> Array:
    """An array of the expected type and shape (None: any length)."""
    array = arrays.get(name)
    if array is None or array.dtype != np.dtype(kind):
        raise UnreadableError(
            f"array {name!r} is missing, or its fields are not those of this format: {_DAMAGED}"
        )
    if array.ndim != len(shape) or any(
        n is not None and n != m for n, m in zip(shape, array.shape, strict=True)
    ):
        raise UnreadableError(
            f"array {name!r} has shape {array.shape}, which does not fit the model: {_DAMAGED}"
        )
    return array
