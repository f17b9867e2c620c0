"""Model files: crafted ones, whose checksum is right, are refused or make a model that works.

A case takes the file of a model, changes header and arrays, and loads it. What is accepted plays 200 rounds, is
saved and loaded again. `describe` and `model show` tell of it, or refuse it.
"""

from __future__ import annotations

import copy
import io
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import banditboost
from banditboost import io as io_
from banditboost.errors import ModelFileError
from banditboost.io import container
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, run_command
from tests.fuzz.harness import scratch_folder
from tests.fuzz.luck import Luck
from tests.fuzz.models import RECIPES, branched, grown, use

N_ROUNDS = 200

_FLOATS = (
    float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e300, -1e300, 1e200, 1e100, 1e39, 1e16,
    -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5e-324, 1e-300, 1e-160, -1e-9,
)  # fmt: skip
_INTEGERS = (
    -(2**63),
    -(2**31),
    -2,
    -1,
    0,
    1,
    2,
    3,
    5,
    8,
    100,
    255,
    2**30,
    2**31 - 1,
    2**40,
    2**62,
    2**63 - 1,
)
_PLAIN: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 1.5, -1.5, 1e-300, 1e300, 2**31, 2**52, 2**53, 2**63, 10**30, "", "x", "a",
    [], {}, [1], [[]], ["p", "q"], {"a": 1}, {"$float": "nan"}, {"$float": "inf"}, {"$int": "0x" + "f" * 300},
    {"$tuple": []}, {"$tuple": [1, 2.0]}, {"$tuple": [1e-300, 1e12]}, {"$bytes": "00"}, {"$numpy": ["f8", 1.0]},
    {"$numpy": ["i8", 3]}, {"$dict": [[{"$float": "nan"}, 1]]}, {"$array": "weights"}, {"class": "HoeffdingTree"},
    "adaptive", "divided", {"schedule": "adaptive", "memory": 1e12}, {"schedule": "decaying", "scale": 1e12},
    "naive_bayes", 1e12, 1e-12, 1 << 20, 1 << 50, "\ud800", [0, "00ff00ff00ff00ff"],
)  # fmt: skip


def bases() -> dict[str, bytes]:
    """The files that are changed, by name."""
    models = {name: grown(name) for name in RECIPES}
    models["GapBoost branched"] = branched("GapBoost")
    models["AdaBandit branch"] = grown("AdaBandit").branch()
    for name in ("AdaBandit branch", "GapBoost branched"):
        models[name].decide({"a": 2.0, "b": "y"})
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            model.save(Path(folder) / "base.bb")
            found[name] = (Path(folder) / "base.bb").read_bytes()
    return found


class Crafter:
    """Changes files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.contents = {}
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files.items():
                path = Path(folder) / "base.bb"
                path.write_bytes(data)
                self.contents[name] = container.read(path)

    def craft(self, luck: random.Random) -> tuple[str, bytes, list[str]]:
        """The base's name, the bytes of the file, and what was changed."""
        name = luck.choice(sorted(self.contents))
        contents = self.contents[name]
        header = copy.deepcopy(contents.header)
        arrays = {key: array.copy() for key, array in contents.arrays.items()}
        told = []
        for _ in range(luck.choice((1, 1, 1, 2, 3, 5))):
            change = luck.choices(
                (_change_number, _change_many, _change_shape, _change_header), (10, 4, 1, 5)
            )[0]
            told.append(change(luck, header, arrays))
        return name, _written(header, arrays), told


def _written(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    container._write_to(file, header, arrays)
    return file.getvalue()


# Changes: each says what it did.


def _some_column(luck: random.Random, arrays: dict[str, np.ndarray]) -> tuple[str, np.ndarray]:
    """One array, or one field of one, that has numbers in it."""
    name = luck.choice([name for name, array in arrays.items() if array.size] or list(arrays))
    array = arrays[name]
    if array.dtype.names is None:
        return name, array
    field = luck.choice(array.dtype.names)
    return f"{name}.{field}", array[field]


def _some_place(luck: random.Random, column: np.ndarray) -> tuple[int, ...]:
    """Often near the beginning, which is in use."""
    last = column.size - 1
    flat = luck.randint(0, last) if luck.random() < 0.5 else luck.randint(0, min(60, last))
    return tuple(int(i) for i in np.unravel_index(flat, column.shape))


def _other_number(luck: random.Random, old: Any, kind: np.dtype[Any], n: int) -> Any:
    if kind.kind == "b":
        return not old
    if luck.random() < 0.3:
        return _flipped(luck, old, kind)
    if kind.kind == "f":
        near = (-old, 2 * old, old + 1, old - 1, old * (1 + 1e-12), old * 1e10, old * 1e-10)
        return kind.type(luck.choice((*_FLOATS, *near)))
    whole = int(old)
    number = luck.choice(
        (*_INTEGERS, whole + 1, whole - 1, -whole, whole + luck.randrange(20), n - 1, n, n + 1)
    )
    limits = np.iinfo(kind)
    return kind.type(min(max(number, limits.min), limits.max))


def _flipped(luck: random.Random, old: Any, kind: np.dtype[Any]) -> Any:
    bits = np.array([old], kind).view(np.uint8)
    bits[luck.randrange(bits.size)] ^= np.uint8(1 << luck.randrange(8))
    return bits.view(kind)[0]


def _change_number(luck: random.Random, _header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    name, column = _some_column(luck, arrays)
    if not column.size:
        return "nothing"
    place = _some_place(luck, column)
    old = column[place]
    column[place] = _other_number(luck, old, column.dtype, len(column))
    return f"{name}{list(place)}: {old!r} became {column[place]!r}"


def _change_many(luck: random.Random, _header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    name, column = _some_column(luck, arrays)
    if not column.size:
        return "nothing"
    one, other = _some_place(luck, column), _some_place(luck, column)
    how = luck.choice(("fill", "swap", "copy", "scale", "negate", "reverse", "part"))
    if how == "fill":
        column[...] = _other_number(luck, column[one], column.dtype, len(column))
    elif how == "swap":
        column[one], column[other] = column[other].copy(), column[one].copy()
    elif how == "copy":
        column[one] = column[other]
    elif how == "scale" and column.dtype.kind == "f":
        column *= luck.choice((1e-300, 1e-10, 0.5, 2.0, 1e10, 1e100, 1e200))
    elif how == "negate" and column.dtype.kind in "fi":
        column *= -1
    elif how == "part":
        first = one[0]
        column[first : first + luck.randint(1, 8)] = _other_number(
            luck, column[one], column.dtype, len(column)
        )
    else:
        column[...] = column[::-1].copy()
    return f"{name}: {how} {list(one)} {list(other)}"


def _change_shape(luck: random.Random, _header: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    name = luck.choice(list(arrays))
    array = arrays[name]
    how = luck.choice(("drop", "shorten", "lengthen", "type", "flatten", "exchange", "empty", "another name"))
    if how == "drop":
        del arrays[name]
    elif how == "shorten":
        arrays[name] = array[: luck.randint(0, len(array))]
    elif how == "lengthen":
        arrays[name] = np.concatenate([array, array[: luck.randint(0, 8)]])
    elif how == "type" and array.dtype.names is None:
        arrays[name] = array.astype(luck.choice(("f4", "f8", "i4", "i8", "u1", "?")))
    elif how == "flatten":
        arrays[name] = array.reshape(-1) if luck.random() < 0.5 else array[None]
    elif how == "exchange":
        other = luck.choice(list(arrays))
        arrays[name], arrays[other] = arrays[other], array
    elif how == "empty":
        arrays[name] = array[:0]
    else:
        arrays[luck.choice(("weights", "groups", "recent_error", name + "x"))] = array
    return f"{name}: {how}"


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _paths(item, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _change_header(luck: random.Random, header: dict[str, Any], _arrays: dict[str, np.ndarray]) -> str:
    paths = [path for path in _paths(header) if path]
    path = luck.choice(paths)
    parent, key = _at(header, path[:-1]), path[-1]
    how = luck.choice(("put", "put", "put", "number", "number", "delete", "copy", "double"))
    if how == "number" and type(parent[key]) in (int, float):
        old = parent[key]
        parent[key] = luck.choice((old + 1, old - 1, -old, 2 * old, old * 1000, float(old)))
    elif how == "delete":
        del parent[key]
        return f"{path}: deleted"
    elif how == "copy":
        parent[key] = copy.deepcopy(_at(header, luck.choice(paths)))
    elif how == "double" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        parent[key] = copy.deepcopy(luck.choice(_PLAIN))
    return f"{path}: {how} {str(parent[key])[:60]!r}"


# One case


_crafters: list[Crafter] = []


def prepare() -> None:
    """Make the files, and compile all that using them takes."""
    _crafters.append(Crafter(bases()))
    with scratch_folder() as folder:
        for contents in _crafters[0].contents.values():
            look_at(_written(contents.header, contents.arrays), Luck(b""), Path(folder))


def play(luck: Luck, folder: Path) -> str:
    name, data, told = _crafters[0].craft(luck)
    try:
        return look_at(data, luck, folder)
    except Exception as error:
        error.add_note(f"{name}: {told}")
        raise


def look_at(data: bytes, luck: Luck, folder: Path) -> str:
    """Load a file, use the model if it is accepted, save and load it again."""
    path, again = folder / "case.bb", folder / "again.bb"
    path.write_bytes(data)
    if luck.chance(0.1):
        _show(path)
    try:
        model = banditboost.load(path)
    except ModelFileError:
        return REFUSED
    use(model, luck, N_ROUNDS)
    model.save(again)
    banditboost.load(again)
    return ACCEPTED


def _show(path: Path) -> None:
    attempt(lambda: io_.describe(path))
    run_command(["model", "show", str(path)])
    run_command(["model", "show", str(path), "--json"])
