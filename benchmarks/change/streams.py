"""Streams that change, and one that does not. Rewards of every option are known, and hidden from players."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.change import tables
from benchmarks.rewards.plan import TUNING_SEED
from benchmarks.rewards.streams import CHOOSING, REPORTING, Row, Stream, Task

ROUNDS, MANY = 40_000, 100_000
SHORTER = 4
"""A tuning stream is so much shorter."""
Rates = NDArray[np.float64]


@dataclass(frozen=True)
class Changing(Stream):
    """A stream with the round at which it changes, if there is one."""

    changed: int | None = None


@dataclass(frozen=True)
class World:
    """Visitors with a device and an hour, and options with two rates of clicks."""

    n_options: int
    low: float
    high: float
    n_rounds: int
    random: np.random.Generator

    @property
    def rounds(self) -> NDArray[np.int64]:
        return np.arange(self.n_rounds)

    def best(self, which: NDArray[np.int64]) -> Rates:
        """Rates of every round in which one option is best."""
        rates = np.full((self.n_rounds, self.n_options), self.low)
        rates[self.rounds, which] = self.high
        return rates

    def two(self) -> tuple[int, int]:
        """Two options."""
        one, other = self.random.choice(self.n_options, 2, replace=False).tolist()
        return one, other


def sudden(world: World) -> Rates:
    """Another option is best from the middle on."""
    one, other = world.two()
    return world.best(np.where(world.rounds < world.n_rounds // 2, one, other))


def gradual(world: World) -> Rates:
    """From the middle on, more and more visitors like another option; all do after a quarter of the rounds."""
    one, other = world.two()
    share = (world.rounds - world.n_rounds // 2) / (world.n_rounds // 4)
    return world.best(np.where(world.random.random(world.n_rounds) < share, other, one))


def returning(world: World) -> Rates:
    """Another option is best in every second fifth."""
    one, other = world.two()
    return world.best(np.where(world.rounds * 5 // world.n_rounds % 2 == 0, one, other))


def one_option(world: World) -> Rates:
    """In the middle the best option falls to the low rate; the second best, at two thirds, stays."""
    one, other = world.two()
    rates = np.full((world.n_rounds, world.n_options), world.low)
    rates[:, other] = world.high * 2 / 3
    rates[:, one] = np.where(world.rounds < world.n_rounds // 2, world.high, world.low)
    return rates


def new_best(world: World) -> Rates:
    """In the middle an option that nobody shows becomes better than the best one, whose rate stays."""
    one, other = world.two()
    rates = np.full((world.n_rounds, world.n_options), world.low)
    rates[:, one] = world.high
    rates[world.n_rounds // 2 :, other] = world.high / 0.6
    return rates


def for_ever(world: World) -> Rates:
    """The logarithms of the odds of all options wander for ever."""
    steps = world.random.normal(0.0, 0.02, (world.n_rounds, world.n_options))
    middle = np.log(world.low * 2 / (1 - world.low * 2))
    position = world.random.normal(middle, 0.7, world.n_options)
    odds = np.empty_like(steps)
    for t in range(world.n_rounds):
        position += steps[t] - 2e-4 * (position - middle)
        odds[t] = position
    return 1.0 / (1.0 + np.exp(-odds))


def never(world: World) -> Rates:
    """Nothing changes."""
    return world.best(np.full(world.n_rounds, world.two()[0]))


def clicks(
    kind: Callable[[World], Rates], n_options: int, low: float, high: float, n_rounds: int, seed: int
) -> Changing:
    """Device and hour tell nothing here, and nobody is told that."""
    if seed == TUNING_SEED:
        n_rounds //= SHORTER
    world = World(n_options, low, high, n_rounds, np.random.default_rng([seed, n_options]))
    rates = kind(world)
    rows = _visitors(world, np.zeros(n_rounds, bool))
    has_time = kind in (sudden, one_option, new_best)
    return _drawn(world, rows, rates, n_rounds // 2 if has_time else None)


def by_visitor(changes: bool, n_options: int, low: float, high: float, n_rounds: int, seed: int) -> Changing:
    """Which option is best hangs on device and half of the day. If it changes, what is best changes for all
    of them; else only the visitors do: from the middle on they come with other devices at other hours.
    """
    if seed == TUNING_SEED:
        n_rounds //= SHORTER
    world = World(n_options, low, high, n_rounds, np.random.default_rng([seed, n_options, 1]))
    late = world.rounds >= n_rounds // 2
    rows = _visitors(world, late & (not changes))
    groups = np.array([int(row["device"][1]) * 2 + (row["hour"] >= 12.0) for row in rows])
    liked = world.random.permutation(np.arange(6) % n_options)[groups]
    shift = 1 + int(world.random.integers(n_options - 1))
    rates = world.best(np.where(late & changes, (liked + shift) % n_options, liked))
    return _drawn(world, rows, rates, n_rounds // 2)


def _visitors(world: World, others: NDArray[np.bool_]) -> list[Row]:
    """Half of them come by phone, in the day; `others` mostly by the third device, at night."""
    random, n = world.random, world.n_rounds
    device = random.choice(3, n, p=(0.5, 0.3, 0.2))
    device = np.where(others, 2 - device, device)
    hour = random.triangular(0, np.where(others, 22, 10), 24)
    return [
        {"device": f"d{d}", "hour": float(int(h))}
        for d, h in zip(device.tolist(), hour.tolist(), strict=True)
    ]


def _drawn(world: World, rows: list[Row], rates: Rates, changed: int | None) -> Changing:
    luck = world.random.random(world.n_rounds)
    return Changing(rows, (luck[:, None] < rates).astype(np.float64), rates, changed)


# Labels that are right or wrong


def labelled(pairs: Iterable[tuple[dict[Any, Any], Any]], changed: int | None = None) -> Changing:
    """Rows with right labels, in their order."""
    rows, labels = [], []
    for row, label in pairs:
        rows.append({str(name): _cell(value) for name, value in row.items() if value == value})
        labels.append(label)
    names = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    rewards = np.zeros((len(rows), len(names)))
    rewards[np.arange(len(rows)), [names[label] for label in labels]] = 1.0
    return Changing(rows, rewards, rewards, changed)


def _cell(value: Any) -> Any:
    return float(value) if isinstance(value, (int, float, np.number)) else str(value)


def generated(make: Callable[[int], Iterable[Any]], seed: int) -> Changing:
    """Of a generator of River; it changes in the middle, or for ever."""
    n_rounds = ROUNDS // 2 // (SHORTER if seed == TUNING_SEED else 1)
    pairs = [(dict(row), label) for row, label in islice(iter(make(seed)), n_rounds)]
    return labelled(pairs)


def _sea(seed: int) -> Iterable[Any]:
    from river.datasets import synth

    length = ROUNDS // 2 // (SHORTER if seed == TUNING_SEED else 1)
    before, after = (synth.SEA(variant=variant, noise=0.1, seed=seed) for variant in (0, 3))
    return synth.ConceptDriftStream(before, after, position=length // 2, width=length // 100, seed=seed)


def _agrawal(seed: int) -> Iterable[Any]:
    from river.datasets import synth

    length = ROUNDS // 2 // (SHORTER if seed == TUNING_SEED else 1)
    before, after = (synth.Agrawal(classification_function=f, seed=seed) for f in (0, 3))
    return synth.ConceptDriftStream(before, after, position=length // 2, width=length // 10, seed=seed)


def _led(seed: int) -> Iterable[Any]:
    from river.datasets import synth

    length = ROUNDS // 2 // (SHORTER if seed == TUNING_SEED else 1)
    before = synth.LEDDrift(seed=seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=0)
    after = synth.LEDDrift(seed=seed, noise_percentage=0.1, irrelevant_features=True, n_drift_features=7)
    return synth.ConceptDriftStream(before, after, position=length // 2, width=length // 100, seed=seed)


def _rbf(seed: int) -> Iterable[Any]:
    from river.datasets import synth

    return synth.RandomRBFDrift(
        seed_model=seed, seed_sample=seed, n_classes=5, n_features=8, n_centroids=15,
        change_speed=0.002, n_drift_centroids=15,
    )  # fmt: skip


def real(name: str, seed: int) -> Changing:
    """A table in the order of time; to tune, its first part."""
    stream = _read(name)
    if seed != TUNING_SEED:
        return stream
    n = len(stream.rows) // SHORTER
    return replace(stream, rows=stream.rows[:n], rewards=stream.rewards[:n], means=stream.means[:n])


def _read(name: str) -> Changing:
    return labelled(tables.TABLES[name]())


def tasks() -> list[Task]:
    """Settings were chosen on other seeds of sudden clicks, of a new best option and of stationary ones; no
    other stream was played before its record was made.
    """
    usual = 5, 0.03, 0.15
    click = {
        "clicks: sudden": (CHOOSING, partial(clicks, sudden, *usual, MANY)),
        "clicks: for each kind of visitor": (CHOOSING, partial(by_visitor, True, *usual, MANY)),
        "clicks: new best option": (CHOOSING, partial(clicks, new_best, *usual, MANY)),
        "clicks: gradual": (REPORTING, partial(clicks, gradual, *usual, ROUNDS)),
        "clicks: returning": (REPORTING, partial(clicks, returning, *usual, ROUNDS)),
        "clicks: one option only": (REPORTING, partial(clicks, one_option, *usual, ROUNDS)),
        "clicks: other visitors": (REPORTING, partial(by_visitor, False, *usual, ROUNDS)),
        "clicks: wandering for ever": (REPORTING, partial(clicks, for_ever, *usual, ROUNDS)),
        "clicks: 1 % and 5 %": (REPORTING, partial(clicks, sudden, 5, 0.01, 0.05, ROUNDS)),
        "clicks: twenty options": (REPORTING, partial(clicks, sudden, 20, 0.03, 0.15, ROUNDS)),
        "clicks: no change": (CHOOSING, partial(clicks, never, *usual, ROUNDS)),
    }
    made = {"SEA": _sea, "Agrawal": _agrawal, "LED": _led, "RBF": _rbf}
    found = {name: Task(name, purpose, make) for name, (purpose, make) in click.items()}
    found |= {f"River: {n}": Task(f"River: {n}", REPORTING, partial(generated, f)) for n, f in made.items()}
    found |= {f"time: {n}": Task(f"time: {n}", REPORTING, partial(real, n)) for n in tables.TABLES}
    return list(found.values())
