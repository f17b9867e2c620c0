"""What a log's health is made from, counted block by block in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from banditboost.logs.log import Block
from banditboost.types import Array

MOST_IDS = 2_000_000  # that are remembered, to find one that comes twice
WINDOWS = 16  # parts of a log of which the shares of actions are compared: from 8 to 16
_FIRST_WINDOW = 64  # rows
# Of an action: rows, known rewards, their sum, rows with a possible p, sums of 1 / p and of 1 / p^2.
ROWS, KNOWN, EARNED, POSSIBLE, INVERSE, SQUARES = range(6)


@dataclass
class Fault:
    """Rows with something wrong: how many, and the first one, from 1 on."""

    n_rows: int = 0
    first: int = 0

    def note(self, bad: Array, before: int) -> None:
        """Rows of a block, which comes after so many rows."""
        places = np.flatnonzero(bad)
        if len(places) and not self.n_rows:
            self.first = before + int(places[0]) + 1
        self.n_rows += len(places)


@dataclass
class Counted:
    """Sums over the rows of a log."""

    n_rows: int = 0
    places: dict[Hashable, int] = field(default_factory=dict)  # of actions, in the order of their first row
    by_action: Array = field(default_factory=lambda: np.zeros((0, SQUARES + 1)))
    windows: list[Array] = field(default_factory=list)  # rows of each action; each window as long
    window: int = _FIRST_WINDOW
    least_probability: float = math.inf
    rewards: tuple[float, float] = (math.inf, -math.inf)
    has_probabilities: bool = True
    faults: dict[str, Fault] = field(default_factory=dict)
    ids: set[Hashable] = field(default_factory=set)
    last_time: Any = None

    def add(self, block: Block) -> None:
        """Count a block."""
        if not len(block):
            return
        actions = self._coded(block.actions)
        there = actions >= 0
        self._note("action", ~there)
        self._note("reward", np.isnan(block.rewards))
        possible = self._possible(block)
        self._sum(actions, block, possible & there)
        self._count_windows(actions)
        self._look_at_ids(block)
        self._look_at_times(block)
        self.n_rows += len(block)

    def fault(self, name: str) -> Fault:
        """Rows with a fault of this kind."""
        return self.faults.setdefault(name, Fault())

    def _note(self, name: str, bad: Array) -> None:
        self.fault(name).note(bad, self.n_rows)

    def _coded(self, actions: Array) -> Array:
        places = self.places
        codes = [-1 if a is None else places.setdefault(a, len(places)) for a in actions.tolist()]
        missing = len(places) - len(self.by_action)
        self.by_action = np.vstack([self.by_action, np.zeros((missing, SQUARES + 1))])
        return np.array(codes, np.int64)

    def _possible(self, block: Block) -> Array:
        """Rows with a probability that can be one."""
        p = block.probabilities
        if p is None:
            self.has_probabilities = False
            return np.zeros(len(block), np.bool_)
        self._note("probability missing", np.isnan(p))
        self._note("probability not above 0", p <= 0.0)
        self._note("probability above 1", p > 1.0)
        possible = (p > 0.0) & (p <= 1.0)
        if possible.any():
            self.least_probability = min(self.least_probability, float(p[possible].min()))
        return np.asarray(possible)

    def _sum(self, actions: Array, block: Block, possible: Array) -> None:
        known = ~np.isnan(block.rewards)
        if known.any():
            low, high = self.rewards
            told = block.rewards[known]
            self.rewards = min(low, float(told.min())), max(high, float(told.max()))
        earned = np.where(known, block.rewards, 0.0)
        inverse = np.zeros(len(block))
        if block.probabilities is not None:
            inverse[possible] = 1.0 / np.maximum(block.probabilities[possible], 1e-150)
        k, there = len(self.by_action), actions >= 0
        columns = (np.ones(len(block)), known, earned, possible, inverse, inverse * inverse)
        for column, cells in enumerate(columns):
            weights = np.asarray(cells, np.float64)[there]
            self.by_action[:, column] += np.bincount(actions[there], weights, k)

    def _count_windows(self, actions: Array) -> None:
        start, done = 0, self.n_rows
        while start < len(actions):
            place = done // self.window
            if place >= WINDOWS:
                self._merge()
                continue
            if place == len(self.windows):
                self.windows.append(np.zeros(0))
            stop = min(len(actions), start + (place + 1) * self.window - done)
            part = actions[start:stop]
            counts = np.bincount(part[part >= 0], minlength=len(self.by_action)).astype(np.float64)
            counts[: len(self.windows[place])] += self.windows[place]
            self.windows[place] = counts
            done, start = done + stop - start, stop

    def _merge(self) -> None:
        """Windows become twice as long."""
        k = len(self.by_action)
        full = [np.append(counts, np.zeros(k - len(counts))) for counts in self.windows]
        self.windows = [full[i] + full[i + 1] for i in range(0, WINDOWS, 2)]
        self.window *= 2

    def _look_at_ids(self, block: Block) -> None:
        if block.ids is None:
            return
        twice = np.zeros(len(block), np.bool_)
        for i, id_ in enumerate(block.ids.tolist()):
            if id_ is None:
                continue
            if id_ in self.ids:
                twice[i] = True
            elif len(self.ids) < MOST_IDS:
                self.ids.add(id_)
        self._note("id twice", twice)

    def _look_at_times(self, block: Block) -> None:
        """Texts are compared as texts: dates in ISO form stand in their order."""
        if block.times is None:
            return
        earlier = np.zeros(len(block), np.bool_)
        for i, time in enumerate(block.times.tolist()):
            if time is None:
                continue
            if self.last_time is not None and type(time) is type(self.last_time):
                earlier[i] = time < self.last_time
            self.last_time = time
        self._note("time before the one above", earlier)
