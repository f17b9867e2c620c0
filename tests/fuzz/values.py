"""Odd values of every kind: numbers, names, plain data, objects, rows, frames; and changes of what is sound."""

from __future__ import annotations

import collections
import copy
import datetime
import enum
import math
import types
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz.luck import Luck


class _Colour(enum.Enum):
    RED = 1


class _Number(enum.IntEnum):
    ONE = 1


class _Pair(NamedTuple):
    a: Any
    b: Any


class _Text(str):
    __slots__ = ()


class _Whole(int):
    __slots__ = ()


class _Anything:
    """An object that is only itself."""


class _WithItems:
    """What looks like a mapping, and is none."""

    def items(self) -> Any:
        return 5


FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 2.0**-1074, 2.0**-1022, 1e-160, 1e100, -1e100, math.nextafter(1e100, math.inf),
    1e154, 1e300, -1.7976931348623157e308, 2.0**53, 1e15 + 0.125, math.inf, -math.inf, math.nan,
)  # fmt: skip
INTEGERS = (
    0, 1, -1, 2, 3, 7, 10, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 10**30,
    10**400, -(10**400), 10**5000,
)  # fmt: skip
TEXTS = (
    "", " ", "a", "b", "x", "x0", "x1", "1", "1.0", "nan", "None", "True", "é", "é", "日本", "\U0001f600", "\x00",
    "\x1b]0;T\x07\x1b[2J", "\n", "\r\n", "\u202e", "\ud800", "=1+1", "<img src=x>", "a" * 3_000, "$float", "class", "%s{0}",
    "__class__", "label", "../x",
)  # fmt: skip


def number(luck: Luck) -> Any:
    """A number, in any of the types that there are for one."""
    kind = luck.randrange(12)
    if kind < 3:
        return luck.choice(FLOATS)
    if kind < 5:
        return luck.choice(INTEGERS)
    if kind == 5:
        return luck.gauss(0, 1)
    if kind == 6:
        return luck.choice((True, False, np.True_, np.False_))
    if kind == 7:
        return luck.choice((np.float64, np.float32, np.float16, np.longdouble))(luck.choice(FLOATS))
    if kind == 8:
        return (
            luck.choice((np.int8, np.int64))(luck.randint(-100, 100))
            if luck.chance(0.5)
            else np.uint64(2**64 - 1)
        )
    if kind == 9:
        return luck.choice(
            (Decimal("1.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e999999"), Decimal("-Infinity"))
        )
    if kind == 10:
        return luck.choice((Fraction(1, 3), Fraction(10**400, 3), Fraction(1, 10**400)))
    return luck.choice(
        (
            _Whole(3),
            _Number.ONE,
            np.longdouble("1e4000"),
            np.longdouble("1e-4940"),
            1j,
            np.complex128(1),
            np.timedelta64(5),
            np.timedelta64(0),
            np.timedelta64("NaT"),
            np.timedelta64(3, "s"),
        )
    )


def text(luck: Luck) -> str:
    if luck.chance(0.8):
        return luck.choice(TEXTS)
    return "".join(
        chr(luck.choice((luck.randrange(128), luck.randrange(0x3000)))) for _ in range(luck.randint(1, 6))
    )


def plain(luck: Luck, depth: int = 3) -> Any:
    """What JSON has, and a little more."""
    kind = luck.randrange(10)
    if kind < 2 and depth:
        return [plain(luck, depth - 1) for _ in range(luck.randint(0, 3))]
    if kind == 2 and depth:
        return {text(luck): plain(luck, depth - 1) for _ in range(luck.randint(0, 3))}
    if kind < 5:
        return luck.choice(FLOATS)
    if kind < 7:
        return luck.choice(INTEGERS)
    return text(luck) if kind < 9 else luck.choice((None, True, False))


def thing(luck: Luck, depth: int = 2) -> Any:
    """Anything at all."""
    kind = luck.randrange(9)
    if kind < 2:
        return number(luck)
    if kind == 2:
        return text(luck)
    if kind == 3:
        return plain(luck)
    if kind == 4 and depth:
        return container(luck, [thing(luck, depth - 1) for _ in range(luck.randint(0, 3))])
    return _object(luck)


def _object(luck: Luck) -> Any:
    import pandas as pd

    return luck.choice(
        (
            None, ..., NotImplemented, object, int, len, print, _Anything(), _WithItems(), _Colour.RED, _Text("a"),
            b"", b"\xff\x00", bytearray(b"x"), memoryview(b"xy"), range(3), range(0), slice(1), frozenset({1}), {1, 2},
            np.array(3.0), np.array([]), np.array([[1.0, 2.0]]), np.array(["a", None], object), np.array(["u", "v"]),
            np.array([(1, 2.0)], "i4,f8"), np.ma.masked_array([1.0, 2.0], [True, False]), np.datetime64("2020-01-01"),
            np.datetime64("NaT"), np.timedelta64(1), np.str_("a"), np.bytes_(b"a"), np.void(b"abc"), np.array([1.0, math.nan], np.float16),
            datetime.date(2020, 1, 1), datetime.timedelta(1), pd.NA, pd.NaT, pd.Timestamp("2020-01-01"),
            pd.Series({"a": 1.0, "b": 2.0}), pd.Series([1.0, None]), pd.Index(["a"]), pd.Categorical(["a", "b"]),
            pd.DataFrame({"a": [1.0], "b": ["x"]}), iter([1, 2]), (i for i in range(2)), types.SimpleNamespace(a=1),
            collections.ChainMap({"a": 1.0}, {"b": "x"}), types.MappingProxyType({"a": 1.0}), collections.UserDict(a=1.0),
            collections.defaultdict(list, a=1.0), _Pair(1.0, "x"), (), ((),), ([],), ("a", ("b", 1)), lambda: 1,
        )
    )  # fmt: skip


def container(luck: Luck, items: list[Any]) -> Any:
    """Some values in any kind of container."""
    kind = luck.randrange(8)
    if kind < 2:
        return items
    if kind == 2:
        return tuple(items)
    if kind == 3:
        return iter(items)
    if kind == 4:
        return collections.deque(items)
    if kind == 5:
        made = np.empty(len(items), object)
        made[:] = items
        return made
    return dict(enumerate(items)) if kind == 6 else {name(luck): item for item in items}


def name(luck: Luck) -> Any:
    """Something that may be a name or a label: most often text, always hashable."""
    if luck.chance(0.7):
        return text(luck)
    return luck.choice(
        (0, 1, -1, True, 1.5, math.nan, None, b"a", ("a", 1), (), np.str_("a"), np.int64(3), np.float64(1.5), Decimal(1),
         frozenset(), _Colour.RED, _Text("q"), 10**400, _Anything, 2**53)
    )  # fmt: skip


def cell(luck: Luck) -> Any:
    """A value of a feature, most often one that can be taken."""
    if luck.chance(0.4):
        return luck.choice((1.0, 2.5, -3.0, 1e100, 5e-324, 0, 7, None, math.nan))
    if luck.chance(0.4):
        return luck.choice(("x", "y", "z", *TEXTS))
    return thing(luck, 1)


def row(luck: Luck) -> Any:
    """A row: of named features, by position, or anything."""
    kind = luck.randrange(12)
    if kind < 6:
        return {
            luck.choice(("a", "b", "x0", "x1")) if luck.chance(0.6) else name(luck): cell(luck)
            for _ in range(luck.randint(0, 5))
        }
    if kind < 8:
        return container(luck, [cell(luck) for _ in range(luck.randint(0, 4))])
    if kind < 10:
        return array(luck, (luck.randint(0, 4),))
    return array(luck, (luck.randint(0, 2), 2)) if kind == 10 else thing(luck)


def array(luck: Luck, shape: tuple[int, ...]) -> Any:
    """An array of numbers."""
    numbers = np.array([luck.choice(FLOATS) for _ in range(math.prod(shape))]).reshape(shape)
    kind = luck.choice(
        ("f8", "f8", "f8", "f4", "f2", "i8", "u8", "i1", "?", "O", "U5", "c16", ">f8", "g", "M8[s]")
    )
    with np.errstate(all="ignore"):
        made = (
            np.nan_to_num(numbers, posinf=1e9, neginf=0).clip(0, 9).astype(kind)
            if kind in ("i8", "u8", "i1")
            else numbers.astype("i8" if kind == "M8[s]" else "f8").astype(kind)
        )
    return made[::-1] if luck.chance(0.1) else np.asfortranarray(made) if luck.chance(0.1) else made


def rows(luck: Luck) -> Any:
    """Many rows: a matrix, a list, a frame, or anything."""
    kind = luck.randrange(10)
    if kind < 3:
        return container(luck, [row(luck) for _ in range(luck.randint(0, 4))])
    if kind < 5:
        return [{"a": luck.gauss(0, 1), "b": luck.choice("xyz")} for _ in range(luck.randint(0, 4))]
    if kind < 7:
        return array(luck, (luck.randint(0, 4), luck.randint(0, 3)))
    return frame(luck) if kind < 9 else thing(luck)


def columns(luck: Luck) -> dict[str, list[Any]]:
    """Columns of one length, each of one kind of value but for some."""
    n = luck.randint(0, 5)
    kinds: tuple[Any, ...] = (
        lambda: luck.gauss(0, 1), lambda: luck.randrange(4), lambda: luck.choice("xyz"), lambda: luck.choice((True, None)),
        lambda: text(luck), lambda: luck.choice(FLOATS), lambda: luck.choice(INTEGERS[:18]), lambda: None,
    )  # fmt: skip
    found = {}
    for i in range(luck.randint(0, 4)):
        kind = luck.choice(kinds)
        found[text(luck) if luck.chance(0.3) else "ab"[i % 2] + str(i // 2)] = [
            None if luck.chance(0.1) else kind() for _ in range(n)
        ]
    return found


def frame(luck: Luck) -> Any:
    """A frame of pandas, polars or pyarrow; of what none of them takes, a dict."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    cells = columns(luck)
    make = luck.choice((pd.DataFrame, pl.DataFrame, pa.table, _nullable))
    try:
        made = make(cells)
    except Exception:
        return cells
    if isinstance(made, pd.DataFrame) and luck.chance(0.2) and len(made.columns):
        made.columns = [luck.choice((column, 0, None, ("a", 1))) for column in made.columns]
    return made


def _nullable(cells: dict[str, list[Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(cells).convert_dtypes()


# Changes of what is sound


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to everything within nested lists and dicts."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def changed(luck: Luck, sound: Any) -> Any:
    """Nested lists and dicts with one to three places changed."""
    made = copy.deepcopy(sound)
    for _ in range(luck.choice((1, 1, 1, 2, 3))):
        ways = [path for path in paths(made) if path]
        if not ways:
            return plain(luck)
        path = luck.choice(ways)
        _change(luck, made, path, ways)
    return made


def _change(luck: Luck, made: Any, path: tuple[Any, ...], ways: list[tuple[Any, ...]]) -> None:
    parent, key = at(made, path[:-1]), path[-1]
    old, how = parent[key], luck.randrange(8)
    if how == 0:
        del parent[key]
    elif how == 1:
        parent[key] = copied(at(made, luck.choice(ways)))
    elif how == 2 and isinstance(parent, list):
        parent.insert(key, copied(old))
    elif how == 2 and isinstance(key, str):
        parent[text(luck)] = parent.pop(key)
    elif how < 5 and type(old) in (int, float) and abs(old) < 1e300:
        parent[key] = luck.choice((old + 1, old - 1, -old, 2 * old, old * 1000, old / 3, str(old), [old]))
    elif how < 5 and isinstance(old, str) and old:
        place = luck.randrange(len(old))
        parent[key] = old[:place] + luck.choice(("", "0", "f", text(luck))) + old[place + 1 :]
    elif how < 7:
        parent[key] = plain(luck)
    else:
        parent[key] = thing(luck)


def copied(value: Any) -> Any:
    """A deep copy, or the value itself if there is none."""
    try:
        return copy.deepcopy(value)
    except TypeError:  # an iterator, which nobody can copy
        return value


def changed_bytes(luck: Luck, sound: bytes) -> bytes:
    """Bytes with bits flipped, parts cut, doubled, or replaced."""
    made = bytearray(sound)
    for _ in range(luck.choice((1, 1, 2, 4))):
        place = luck.randint(0, len(made))
        how = luck.randrange(6)
        if how == 0:
            del made[place:]
        elif how == 1:
            del made[place : place + luck.randint(1, 8)]
        elif how == 2:
            made[place:place] = made[luck.randint(0, len(made)) :][: luck.randint(0, 40)]
        elif how == 3:
            made[place:place] = luck.choice(
                (b"\x00", b"\xff", b"\n", b"\r", b'"', b",", b"\xef\xbb\xbf", b"{", b"[" * 5_000)
            )
        elif place < len(made):
            made[place] ^= 1 << luck.randrange(8)
    return bytes(made)
