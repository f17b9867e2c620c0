"""What is special to an id in a context: a regression of what its scores have missed there, its *line*.

docs/optionboost.md says how it counts. Lines have rooms, and an id's place knows its room. If there are more
ids than rooms, those have lines that were heard of last. rooms.py has what there is of them.
"""

from __future__ import annotations

import math
from typing import Any

from banditboost.boosting.gap.experts import HEDGE_RATE, LEAST_SHARE, judge
from banditboost.boosting.gap.options.own import place_of
from banditboost.boosting.gap.options.wide import context_code
from banditboost.boosting.gap.regression import Reading, ridge_answer, squared_width, step_ridge
from banditboost.compiled.compile import inlined, kernel

OFTEN = 20.0  # verdicts from which on an id takes the room of another one, if all are taken


# Read


@kernel
def list_line(model: Any) -> None:
    """Pick the context out of the listed row, then its pairs."""
    row, scratch, n = model.line_row, model.scratch, 0
    for i in range(scratch.bounds[0], scratch.bounds[1]):
        place = row.places[scratch.slots[i]]
        if place >= 0:
            row.slots[n], row.values[n] = place, scratch.values[i]
            n += 1
    for p in range(row.pairs.size):
        first, second = row.pairs[p]["first"], row.pairs[p]["second"]
        if scratch.codes[first] >= 0 and scratch.codes[second] >= 0:
            value = scratch.numbers[first] * scratch.numbers[second]
            if value != 0.0:
                row.slots[n] = row.pairs[p]["slot"] + context_code(model, first, second)
                row.values[n] = value
                n += 1
    row.size[0], row.first[0] = n, 0.0
    for i in range(n):
        row.first[0] += row.values[i] * row.values[i] * row.prior[row.slots[i]]


@inlined
def reading_of_lines(model: Any) -> Reading:
    regressions, row, n = model.learned.lines.regressions, model.line_row, model.line_row.size[0]
    return Reading(
        regressions.inverse,
        regressions.weights,
        regressions.late,
        regressions.shares,
        row.product,
        row.slots[:n],
        row.values[:n],
    )


@inlined
def trust_in_lines(lines: Any) -> float:
    """How much lines count beside means; 0 if that is next to nothing, or there are none."""
    if lines.rooms.size == 0:
        return 0.0
    trust = 1.0 / (1.0 + math.exp(HEDGE_RATE * (lines.losses[1] - lines.losses[0])))
    return trust if trust >= LEAST_SHARE else 0.0


@inlined
def line_answer(model: Any, number: float) -> float:
    """What an id's line says of the listed context; 0 if it has none."""
    place = place_of(model.learned.own, number)
    if place < 0 or model.learned.own[place]["room"] == 0:
        return 0.0
    return ridge_answer(reading_of_lines(model), model.learned.own[place]["room"] - 1)


@inlined
def line_square(model: Any, number: float) -> float:
    """How unsure an id's line is of the listed context, squared. Without a line the mean is."""
    own, square = model.learned.own, model.line_row.first[0]
    if number < 0.0:
        return 0.0
    place = place_of(own, number)
    if place < 0:
        return square
    if own[place]["room"] == 0:
        return square / (1.0 + own[place]["count"])
    return squared_width(reading_of_lines(model), own[place]["room"] - 1)


# Learn


@inlined
def find_room(model: Any) -> int:
    """A room that is free, or that of the id that was heard of the longest ago; nobody has it then."""
    lines, found = model.learned.lines, 0
    if lines.taken[0] < lines.rooms.size:
        lines.taken[0] += 1
        return int(lines.taken[0]) - 1
    for room in range(1, lines.rooms.size):
        if lines.rooms[room]["learned"] < lines.rooms[found]["learned"]:
            found = room
    model.learned.own[lines.rooms[found]["place"]]["room"] = 0
    return found


@inlined
def begin_line(model: Any, room: int) -> None:
    """A line that has learned nothing."""
    inverse, weights = model.learned.lines.regressions.inverse, model.learned.lines.regressions.weights
    inverse[room, :, :] = 0.0
    for slot in range(weights.shape[1]):
        weights[room, slot] = 0.0
        inverse[room, slot, slot] = model.line_row.prior[slot]


@inlined
def settle(model: Any, place: int) -> None:
    """Give an id that has just learned a room if it is to have one; another id's line begins anew."""
    lines, one = model.learned.lines, model.learned.own[place]
    if one["room"] == 0 and (lines.taken[0] < lines.rooms.size or one["count"] >= OFTEN):
        room = find_room(model)
        lines.rooms[room]["place"], one["room"] = place, room + 1
        begin_line(model, room)
    elif one["room"] > 0 and one["count"] == 1.0:
        begin_line(model, one["room"] - 1)


@inlined
def judge_lines(model: Any, number: float, score: float, mean: float, y: float) -> None:
    """Let scores with the mean and with the line count in their losses."""
    losses = model.learned.lines.losses
    judge(losses, 0, score + mean, y)
    judge(losses, 1, score + line_answer(model, number), y)


@kernel
def teach_line(model: Any, number: float, missed: float) -> None:
    """Let the line of an id whose mean has just learned it learn what its score has missed."""
    lines, place = model.learned.lines, place_of(model.learned.own, number)
    if place < 0 or lines.rooms.size == 0:
        return
    settle(model, place)
    room = model.learned.own[place]["room"] - 1
    if room >= 0:
        lines.rooms[room]["learned"] = model.learned.counts.verdicts
        reading = reading_of_lines(model)
        step_ridge(reading, room, missed - ridge_answer(reading, room))
