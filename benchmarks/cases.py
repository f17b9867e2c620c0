"""The paper's streams, and our boosters with the paper's parameters on them."""

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import banditboost
from banditboost import HoeffdingTree, Schema, datasets
from banditboost.datasets import Stream
from benchmarks import records

try:
    from banditboost.experiments import protocol
except ImportError:  # a checkout of before it moved there, which `benchmarks.before_after` compares with
    from banditboost.datasets import protocol

GENERATED = ("balance", "car", "nursery")
Record = tuple[dict[str, float | str], str]


@dataclass(frozen=True)
class Case:
    """A stream, or the beginning of one."""

    stream: Stream

    @property
    def name(self) -> str:
        return self.stream.name

    @property
    def rounds(self) -> int:
        return self.stream.rounds

    @cached_property
    def records(self) -> list[Record]:
        """Rows as dicts, made once, outside any clock."""
        return list(self.stream.records())

    def cut(self, rounds: int) -> "Case":
        s = self.stream
        return Case(
            Stream(
                s.name, s.features, s.kinds, s.values, s.X[:rounds], s.y[:rounds], s.labels, s.rows[:rounds]
            )
        )

    def setting(self, algorithm: str) -> protocol.Setting:
        return protocol.setting(self.name, algorithm)

    def model(self, algorithm: str, n_learners: int | None = None) -> Any:
        """One of our boosters, fresh: those of the paper with its parameters, GapBoost with its defaults."""
        stream = self.stream
        if algorithm == "GapBoost":
            return banditboost.GapBoost(list(stream.labels), schema=stream.schema(), seed=7)
        setting = self.setting(algorithm)
        trees = setting.trees
        arguments: dict[str, Any] = (
            {} if setting.exploration is None else {"exploration": setting.exploration}
        )
        if algorithm in ("OptBandit", "OptFull", "BinBandit"):
            arguments["edge"] = setting.edge
        return getattr(banditboost, algorithm)(
            list(stream.labels),
            n_learners=n_learners or setting.n_learners,
            weak_learner=HoeffdingTree(
                grace_period=trees.grace_period,
                split_confidence=trees.split_confidence,
                tie_threshold=trees.tie_threshold,
            ),
            schema=Schema.of(stream.features, stream.kinds, stream.values),
            importance_scale=setting.importance_scale,
            clip=setting.clip,
            seed=7,
            **arguments,
        )


def asked(name: str, description: str) -> argparse.Namespace:
    """What the command line of a benchmark says: `streams` (all if it names none), and `record`."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument(
        "streams", nargs="*", type=known, help=f"{', '.join(datasets.names())} (default: all that can be had)"
    )
    records.add_option(parser, name)
    options = parser.parse_args()
    options.streams = tuple(options.streams) or tuple(datasets.names())
    return options


def known(name: str) -> str:
    if name not in datasets.names():
        raise argparse.ArgumentTypeError(
            f"unknown stream {name!r}: choose from {', '.join(datasets.names())}"
        )
    return name


def cases(names: tuple[str, ...], seed: int) -> Iterator[Case]:
    """The streams that can be had here: three are generated, three need BANDITBOOST_DATA."""
    for name in names:
        if name in GENERATED or os.environ.get("BANDITBOOST_DATA"):
            yield Case(datasets.load(name).stream(protocol.STREAMS[name].repeat, seed))
