"""Who plays what, in which order, and how a peer's settings are chosen."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from banditboost.datasets import Stream
from banditboost.experiments.results import Results
from banditboost.experiments.task import Source, Task
from benchmarks.peers import capymoa, contextual, measure, ours, river, vowpal
from benchmarks.peers.bags import Bags
from benchmarks.peers.player import Parameters, Player
from benchmarks.peers.streams import FRESH, PAPER, WIDE, Entry, Rounds

CHAMPION = "GapBoost"
TUNING_SEED = 99
FIRST_SEED = 4
FAR = 1_000
"""A setting that does not get so far while others do is not chosen: it would play a few thousand rounds at
most.
"""
SINGLE_SEEDS = 5
"""Of ours on streams that are not the paper's, at most."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Budget:
    """How much is played.

    Seconds are CPU seconds of a run; a player that needs more plays a beginning of the stream.
    """

    seconds: float = 20.0
    told_seconds: float = 4.0
    """Of those in full information, who are there for orientation."""
    tuning_seconds: float = 3.0
    tuning_rounds: int = 5_000
    rounds: int | None = None
    """Streams are cut to so many rounds."""
    seeds: int | None = None
    """At most so many."""
    slow: float = 6.0
    """A peer whose run took longer is not asked for further seeds."""

    def limit(self, player: Player) -> float:
        return self.told_seconds if player.told and not player.ours else self.seconds


@dataclass(frozen=True)
class Cell:
    """A player on a stream."""

    entry: Entry
    player: Player


def all_players() -> list[Player]:
    return [*ours.players(), *vowpal.players(), *contextual.players(), *capymoa.players(), *river.players()]


def missing(players: Iterable[Player]) -> dict[str, str]:
    """Package -> that it is not installed."""
    packages = dict.fromkeys(player.package for player in players)
    return {name: "not installed" for name in packages if importlib.util.find_spec(name) is None}


def meets(player: Player, entry: Entry) -> bool:
    """Wide rows are for those who take few cells of many: GapBoost and the peers that play by one bit."""
    return entry.group != WIDE or player.name == CHAMPION or not (player.ours or player.told)


def cells(chosen: Sequence[Entry], players: Sequence[Player]) -> list[Cell]:
    """So ordered that what is finished is useful whenever the run is stopped.

    GapBoost goes first, everywhere; then the others, on the paper's streams and the fresh ones before the
    rest.
    """
    stages: tuple[Callable[[Player], bool], ...] = (
        lambda player: player.package == "vowpalwabbit",
        lambda player: player.package == "contextualbandits",
        lambda player: player.ours and player.name != CHAMPION,
        lambda player: player.told and not player.ours,
    )
    first = [entry for entry in chosen if entry.group == PAPER or entry.used == FRESH]
    rest = [entry for entry in chosen if entry not in first]
    others = [
        Cell(e, player)
        for tier in (first, rest)
        for stage in stages
        for e in tier
        for player in players
        if stage(player) and meets(player, e)
    ]
    return [Cell(entry, player) for entry in chosen for player in players if player.name == CHAMPION] + others


class Runner:
    """Plays cells, and writes down every run; what is in the file is not played again."""

    def __init__(
        self, results: Results, budget: Budget, about: Mapping[str, Any], tell: Callable[[Record], None]
    ) -> None:
        self._results, self._budget, self._about, self._tell = results, budget, about, tell
        self._records = {record["id"]: record for record in results.records()}
        self._drawn: tuple[tuple[str, int, int | None], Rounds] | None = None

    def play(self, cell: Cell) -> None:
        settings = self._tuned(cell)
        if settings is not None:
            for seed in self._seeds(cell):
                record = self._run(cell, settings, seed, self._budget.rounds, self._budget.limit(cell.player))
                if not cell.player.ours and record.get("seconds", 0.0) > self._budget.slow:
                    break

    def _tuned(self, cell: Cell) -> Parameters | None:
        """The setting with the best total accuracy on a stream of its own; None if all failed."""
        first = cell.player.settings(cell.entry.name)
        if len(first) == 1:
            return first[0]
        tried = [self._try(cell, setting) for setting in first]
        best = choose(tried)
        if best is None:
            return None
        tried += [self._try(cell, setting) for setting in cell.player.neighbours(best)]
        return choose(tried)

    def _try(self, cell: Cell, settings: Parameters) -> Record:
        limits = [
            rounds for rounds in (self._budget.tuning_rounds, self._budget.rounds) if rounds is not None
        ]
        seconds = min(self._budget.tuning_seconds, self._budget.limit(cell.player) / 3)
        return self._run(cell, settings, TUNING_SEED, min(limits), seconds)

    def _seeds(self, cell: Cell) -> range:
        seeds = (
            cell.player.seeds
            if cell.entry.group == PAPER or not cell.player.ours
            else min(cell.player.seeds, SINGLE_SEEDS)
        )
        return range(FIRST_SEED, FIRST_SEED + min(seeds, self._budget.seeds or seeds))

    def _run(self, cell: Cell, settings: Parameters, seed: int, rounds: int | None, limit: float) -> Record:
        task = Task(Source(cell.entry.name, rounds=rounds), cell.player.name, settings, seed)
        if task.id not in self._records:
            record = {
                **measure.measure(task, cell.player, self._draw(cell.entry, seed, rounds), limit),
                **self._about,
            }
            self._results.append(record)
            self._records[task.id] = record
            self._tell(record)
        return self._records[task.id]

    def _draw(self, entry: Entry, seed: int, rounds: int | None) -> Rounds:
        key = entry.name, seed, rounds
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, cut(entry.draw(seed), rounds)
        return self._drawn[1]


def choose(tried: Sequence[Record]) -> Parameters | None:
    """The setting that was right most often up to the last milestone that all have reached, but for those too
    slow to get far.
    """
    played = [record for record in tried if "failed" not in record]
    if not played:
        return None
    far = min(FAR, max(record["rounds"] for record in played))
    fast = [record for record in played if record["rounds"] >= far]
    common = set.intersection(*(set(record["milestones"]) for record in fast))
    last = max(common, key=int, default=None)
    best = max(fast, key=lambda record: record["milestones"].get(last, record["accuracy"]))
    return dict(best["task"]["parameters"])


def cut(rounds: Rounds, most: int | None) -> Rounds:
    """The first rounds of a stream."""
    s = rounds.stream
    if most is None or most >= s.rounds:
        return rounds
    best = None if rounds.best is None else rounds.best[:most]
    if isinstance(s, Bags):
        return Rounds(s.taken(np.arange(most)), best)
    stream = Stream(s.name, s.features, s.kinds, s.values, s.X[:most], s.y[:most], s.labels, s.rows[:most])
    return Rounds(stream, best)
