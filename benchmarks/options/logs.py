"""Open Bandit logs of a shop that showed items at random: what a model would have earned while it learned from
the log row by row, by importance weights. Before each row the model tells its distribution over all items,
then it learns what the logged item earned.
"""

from __future__ import annotations

import csv
import gzip
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.options.players import GUESSING, OURS, PEER
from benchmarks.options.stream import Row
from benchmarks.options.wabbit import command, first, texts

LOG = "log"
LOGS = ("men", "women", "all")
Record = dict[str, Any]
Weight = Callable[[int], float]


@dataclass(frozen=True)
class Log:
    """What was seen, which item was shown with which probability, and whether it was clicked."""

    contexts: list[Row]
    items: list[Row]
    shown: list[int]
    chances: list[float]
    clicks: list[float]


def folder() -> Path | None:
    """Where the logs are, if they are here."""
    data = os.environ.get("BANDITBOOST_DATA")
    found = Path(data) / "obd" if data else None
    return found if found is not None and found.is_dir() else None


def read(where: Path, name: str) -> Log:
    """The log of random shows of a campaign."""
    rows = _table(where / f"random-{name}.csv.gz")
    items = [
        {f"i{j}": float(row["item_feature_0"]) if j == 0 else row[f"item_feature_{j}"] for j in range(4)}
        for row in _table(where / f"items-random-{name}.csv.gz")
    ]
    contexts = [
        {**{f"u{j}": row[f"user_feature_{j}"] for j in range(4)}, "position": f"p{row['position']}"}
        for row in rows
    ]
    shown = [int(row["item_id"]) for row in rows]
    chances = [float(row["propensity_score"]) for row in rows]
    return Log(contexts, items, shown, chances, [float(row["click"]) for row in rows])


def _table(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _ours(log: Log) -> Weight:
    """A decision among the logged item alone teaches what the log says of it."""
    from banditboost import OptionBoost

    model, options = OptionBoost(seed=1), {f"i{n}": item for n, item in enumerate(log.items)}

    def chance(t: int) -> float:
        x, shown = log.contexts[t], f"i{log.shown[t]}"
        found = model.distribution(x, options)[shown]
        model.learn(model.decide(x, options=options, allowed=[shown]), reward=log.clicks[t])
        return float(found)

    return chance


def _wabbit(log: Log) -> Weight:
    from vowpalwabbit import Workspace

    workspace = Workspace(f"{command(first()[0])} --random_seed 1 --quiet")
    shared = texts(log.contexts, "u")
    items = [f"{text} |i i{n}" for n, text in enumerate(texts(log.items, "a"))]

    def chance(t: int) -> float:
        block, place = [f"shared {shared[t]}", *items], log.shown[t]
        chances = workspace.predict("\n".join(block))
        block[1 + place] = f"0:{1 - log.clicks[t]}:{log.chances[t]:.6g} {block[1 + place]}"
        workspace.learn("\n".join(block))
        return float(chances[place] / sum(chances))

    return chance


PLAYERS: dict[str, Callable[[Log], Weight]] = {
    OURS: _ours,
    PEER: _wabbit,
    GUESSING: lambda log: log.chances.__getitem__,
}


def measure(about: Mapping[str, Any], where: Path) -> list[Record]:
    """A record for every log and player: the estimate, and half the 95 % interval."""
    return [_measured(name, player, read(where, name), about) for name in LOGS for player in PLAYERS]


def _measured(name: str, player: str, log: Log, about: Mapping[str, Any]) -> Record:
    weight, n = PLAYERS[player](log), len(log.clicks)
    earned = [weight(t) / log.chances[t] * log.clicks[t] for t in range(n)]
    mean = sum(earned) / n
    deviation = math.sqrt(sum((value - mean) ** 2 for value in earned) / (n - 1))
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {
        "id": f"log/{name}/{player}",
        "purpose": LOG,
        "stream": f"Open Bandit, {name}",
        "player": player,
        "rounds": n,
        "options": len(log.items),
        "clicks": int(sum(log.clicks)),
        "mean": round(mean, 6),
        "half": round(1.96 * deviation / math.sqrt(n), 6),
        **about,
        "date": now[:10],
        "finished": now,
    }
