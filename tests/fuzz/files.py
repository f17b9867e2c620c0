"""A fuzzer of model files: crafted ones, whose checksum is right, are refused or make a model that works.

    python -m tests.fuzz.files --count 100000 --seed 1

Case number i is the same in every run with the same seed: give --start to go on, or several processes a part
each. A case takes the file of a model, changes header and arrays, and loads it. What is accepted plays 200
rounds, is saved and loaded again. Cases run in child processes, so that a crash is seen; a hang is killed
after some seconds of computing. Files that led to a fault are kept in --keep.
"""

from __future__ import annotations

import argparse
import collections
import copy
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import banditboost
from banditboost.errors import ModelFileError
from banditboost.io import container
from tests.fuzz.models import RECIPES, branched, grown, use

N_ROUNDS = 200
BATCH = 250  # cases of one child process
MOST_SECONDS = 30  # of computing, for one case
MOST_BYTES = 8 << 30
REFUSED, ACCEPTED = "refused", "accepted"
SOUND = (REFUSED, ACCEPTED)

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
    """Makes case number i."""

    def __init__(self, files: dict[str, bytes], seed: int) -> None:
        self._names, self._seed, self._contents = sorted(files), seed, {}
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files.items():
                path = Path(folder) / "base.bb"
                path.write_bytes(data)
                self._contents[name] = container.read(path)

    def luck(self, number: int) -> random.Random:
        return random.Random(f"{self._seed}-{number}")

    def craft(self, number: int) -> tuple[str, bytes, list[str]]:
        """The base's name, the bytes of the file, and what was changed."""
        luck = self.luck(number)
        name = luck.choice(self._names)
        contents = self._contents[name]
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


def outcome(data: bytes, luck: random.Random, folder: Path) -> tuple[str, str]:
    """REFUSED, ACCEPTED, or the name of a fault and what it was."""
    path, again = folder / "case.bb", folder / "again.bb"
    path.write_bytes(data)
    stage = "load"
    try:
        model = banditboost.load(path)
        stage = "use"
        use(model, luck, N_ROUNDS)
        stage = "save"
        model.save(again)
        stage = "load again"
        banditboost.load(again)
    except ModelFileError as error:
        return (REFUSED, "") if stage == "load" else (f"refused in {stage}", str(error)[:300])
    except Exception as error:
        where = traceback.format_exc()[-700:]
        return f"{type(error).__name__} in {stage}", where
    return ACCEPTED, ""


# Many cases, in child processes


def run(count: int, seed: int, start: int = 0, keep: Path | None = None) -> collections.Counter[str]:
    """Play so many cases and tell of each fault; how often each outcome was."""
    warnings.simplefilter("ignore")
    crafter, totals = Crafter(bases(), seed), collections.Counter()
    _warm(crafter)
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where fsync costs nothing
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        number, end = start, start + count
        while number < end:
            number, found = _batch(crafter, number, min(number + BATCH, end), Path(folder), keep)
            totals.update(found)
            print(f"{number - start} of {count}: {dict(totals)}", flush=True)
    return totals


def _warm(crafter: Crafter) -> None:
    """Compile everything before children are forked."""
    with tempfile.TemporaryDirectory() as folder:
        for contents in crafter._contents.values():
            outcome(_written(contents.header, contents.arrays), random.Random(1), Path(folder))


def _batch(
    crafter: Crafter, start: int, stop: int, folder: Path, keep: Path | None
) -> tuple[int, collections.Counter[str]]:
    """Play the cases in a child; the number of the first that it did not get to."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _play_as_child(crafter, range(start, stop), folder, write_end)
    os.close(write_end)
    with os.fdopen(read_end) as lines:
        told = [json.loads(line) for line in lines]
    status = os.waitpid(child, 0)[1]
    found = collections.Counter()
    for number, result, what in told:
        found[result] += 1
        if result not in SOUND:
            _tell(crafter, number, result, what, keep)
    if len(told) < stop - start:
        signal_ = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        result = "hang" if signal_ == signal.SIGVTALRM else f"crash, signal {signal_}"
        found[result] += 1
        _tell(crafter, start + len(told), result, "", keep)
        return start + len(told) + 1, found
    return stop, found


def _play_as_child(crafter: Crafter, numbers: range, folder: Path, write_end: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)  # ends the process, also within compiled code
    np.seterr(all="ignore")
    with os.fdopen(write_end, "w") as lines:
        for number in numbers:
            signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
            _, data, _ = crafter.craft(number)
            result, what = outcome(data, crafter.luck(-1 - number), folder)
            lines.write(json.dumps([number, result, what]) + "\n")
            lines.flush()
    os._exit(0)


def _tell(crafter: Crafter, number: int, result: str, what: str, keep: Path | None) -> None:
    name, data, told = crafter.craft(number)
    print(f"case {number}, {name}: {result}\n  {told}\n  {what}", flush=True)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{number}.bb").write_bytes(data)


def main() -> int:
    parser = argparse.ArgumentParser(description="Load crafted model files, and use those that are accepted.")
    parser.add_argument("--count", type=int, default=1_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=1, help="of the cases")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, help="folder for files that led to a fault")
    given = parser.parse_args()
    totals = run(given.count, given.seed, given.start, given.keep)
    faults = sum(totals.values()) - sum(totals[sound] for sound in SOUND)
    print(f"{sum(totals.values())} cases, {faults} faults: {dict(totals)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
