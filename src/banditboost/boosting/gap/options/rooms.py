"""Rooms for the lines of ids: how many there are, what a line reads, and how lines move and are stored."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from banditboost.boosting.gap.options.state import ROOM, LineRow, Lines
from banditboost.boosting.gap.room import WIDEST, at_places
from banditboost.boosting.gap.state import PAIR, GapLayout, Regressions
from banditboost.boosting.gap.stored import check_losses, check_regressions
from banditboost.boosting.gap.triples import pairs_of_context
from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.types import Array

VARIANCE = 3.0  # of what columns, or pairs of them, say at first
MOST_LINES, FEWEST_LINES = 4_096, 8
_MEMORY_SHARE = 64  # part of the ceiling, at most
_FIRST_LOSSES = (0.0, 1.0)


class LinePlan(NamedTuple):
    """Which slots lines have: the constant, the context's columns, and all pairs of these if they are few."""

    layout: GapLayout  # that it is for
    places: Array  # by slot of stage 1: the slot of a line; -1 of options
    pairs: Array  # PAIR
    keys: tuple[tuple[int, ...], ...]  # what each slot is about: column and value, or two of each
    prior: Array  # the diagonal that an inverse begins with


def plan_lines(layout: GapLayout, numeric: Array, of_options: Array) -> LinePlan:
    """It follows from the layout."""
    context, widths = np.asarray(layout.real[~of_options[layout.real]], np.int64), layout.widths
    owners = np.concatenate([[False], np.repeat(of_options, widths)])
    places = np.where(owners, -1, np.cumsum(~owners) - 1)
    keys = [(), *((c, code) for c in context.tolist() for code in range(widths[c]))]
    n_columns = len(keys) - 1
    pairs = _pairs(numeric, widths, context, len(keys))
    for i, j in zip(pairs["first"].tolist(), pairs["second"].tolist(), strict=True):
        n_codes = (1, 1) if i == j else (widths[i], widths[j])
        keys += [(i, j, code, other) for code in range(n_codes[0]) for other in range(n_codes[1])]
    prior = np.full(len(keys), min(1.0, VARIANCE / max(1, len(pairs))))
    prior[0], prior[1 : 1 + n_columns] = 1.0, min(1.0, VARIANCE / max(1, len(context)))
    return LinePlan(layout, places, pairs, tuple(keys), prior)


def _pairs(numeric: Array, widths: Array, context: Array, n_before: int) -> Array:
    """All of them, if a line has room for their slots after so many others; else none."""
    if len(context) > WIDEST:
        return np.zeros(0, PAIR)
    first, second, slots = pairs_of_context(numeric, widths, context)
    if n_before + int(slots.sum()) > WIDEST:
        return np.zeros(0, PAIR)
    made = np.zeros(len(slots), PAIR)
    made["first"], made["second"], ends = first, second, np.cumsum(slots)
    made["slot"] = n_before + ends - slots
    return made


def most_memory_of_lines(max_memory: int) -> int:
    """Bytes."""
    return max_memory // _MEMORY_SHARE


def n_rooms(n_slots: int, max_memory: int) -> int:
    """For how many lines there is room; 0 if that is too few."""
    n = most_memory_of_lines(max_memory) // (8 * n_slots * (n_slots + 1))
    return min(MOST_LINES, n) if n >= FEWEST_LINES else 0


def size_of_lines(lines: Lines) -> int:
    """Bytes of the lines that are taken."""
    n_slots = lines.regressions.weights.shape[1]
    return int(lines.taken[0]) * (8 * n_slots * (n_slots + 1) + ROOM.itemsize)


def lines_for(n_slots: int, max_memory: int) -> Lines:
    """Lines that nobody has. What is not taken of them takes no memory yet."""
    n = n_rooms(n_slots, max_memory)
    regressions = Regressions(
        np.zeros((n, n_slots, n_slots)), np.zeros((n, n_slots)), np.zeros((n, 0, n_slots)), np.zeros((n, 0))
    )
    return Lines(regressions, np.zeros(n, ROOM), np.zeros(1, np.int64), np.array(_FIRST_LOSSES))


def line_row_for(plan: LinePlan) -> LineRow:
    """Room for what lines read of a row."""
    longest = len(plan.keys)
    return LineRow(
        places=plan.places,
        pairs=plan.pairs,
        slots=np.zeros(longest, np.uint32),
        values=np.zeros(longest),
        size=np.zeros(1, np.int64),
        first=np.zeros(1),
        product=np.zeros(longest),
        prior=plan.prior,
    )


# Columns and values that join


def moved_lines(lines: Lines, before: LinePlan, after: LinePlan, max_memory: int) -> Lines:
    """Lines after columns or values have joined; slots of pairs go when these become too many. There may be
    fewer rooms: those stay that were heard of last.
    """
    n_slots, taken = len(after.keys), int(lines.taken[0])
    made = lines_for(n_slots, max_memory)
    order = np.argsort(-lines.rooms["learned"][:taken], kind="stable")
    kept = np.sort(order[: len(made.rooms)])
    if len(kept):
        slot_of = {key: slot for slot, key in enumerate(after.keys)}
        places = np.array([slot_of.get(key, -1) for key in before.keys], np.int64)
        given = Regressions(*(array[kept] for array in lines.regressions))
        moved = at_places(given, places, n_slots, after.prior)
        for array, part in zip(made.regressions, moved, strict=True):
            array[: len(kept)] = part
    made.rooms[: len(kept)], made.taken[0], made.losses[:] = lines.rooms[kept], len(kept), lines.losses
    return made


# Files


def arrays_of_lines(lines: Lines) -> dict[str, Array]:
    """What a file keeps."""
    n, regressions = int(lines.taken[0]), lines.regressions
    rooms = np.stack([lines.rooms["place"][:n].astype(np.float64), lines.rooms["learned"][:n]])
    return {
        "line_rooms": rooms,
        "line_inverse": regressions.inverse[:n],
        "line_ridge": regressions.weights[:n],
        "line_losses": lines.losses,
    }


def stored_lines(arrays: dict[str, Array], fresh: Lines, own: Array, verdicts: int) -> Lines:
    """Those of a file, after a look at each; files from before there were lines have none."""
    if "line_rooms" not in arrays:
        fresh.losses[:] = arrays["losses"].min() + fresh.losses
        return fresh
    most, n_slots = fresh.regressions.weights.shape
    rooms = take_array(arrays, "line_rooms", np.float64, (2, None))
    n = rooms.shape[1]
    demand(n <= most, "there are more lines than rooms")
    taken = Regressions(
        take_array(arrays, "line_inverse", np.float64, (n, n_slots, n_slots)),
        take_array(arrays, "line_ridge", np.float64, (n, n_slots)),
        np.zeros((n, 0, n_slots)),
        np.zeros((n, 0)),
    )
    losses = take_array(arrays, "line_losses", np.float64, (2,))
    check_losses(losses, verdicts)
    check_regressions(taken, n, verdicts)
    _check_rooms(rooms, own, verdicts)
    for array, part in zip(fresh.regressions, taken, strict=True):
        array[:n] = part
    fresh.rooms["place"][:n], fresh.rooms["learned"][:n] = rooms
    fresh.taken[0], fresh.losses[:] = n, losses
    return fresh


def _check_rooms(rooms: Array, own: Array, verdicts: int) -> None:
    """Each line is that of an id, which has but one."""
    place, learned = rooms
    known = (place >= 0) & (place < len(own)) & (place == np.floor(place))
    demand(known, "the room of a line is not that of a place")
    demand(own["count"][place.astype(np.int64)] > 0.0, "a line is of an id that was never learned")
    demand(len(np.unique(place)) == len(place), "an id has two lines")
    whole = (learned >= 1.0) & (learned <= verdicts) & (learned == np.floor(learned))
    demand(whole, "a line was learned at a verdict that there was not")


def with_rooms(own: Array, lines: Lines) -> Array:
    """The places of ids, told which room each one's line has."""
    made = own.copy()
    made["room"] = 0
    n = int(lines.taken[0])
    made["room"][lines.rooms["place"][:n]] = 1 + np.arange(n)
    return made
