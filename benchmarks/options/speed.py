"""The time of a decision among 100 and 1,000 options: OptionBoost and Vowpal Wabbit in turns, CPU time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from statistics import median
from typing import Any

from benchmarks.options.shops import Shop, open_shop
from benchmarks.options.stream import Row, Stream
from benchmarks.options.wabbit import Settings, command, texts

SPEED = "speed"
SIZES = (100, 1_000)
LEARNED, TIMED, TURNS = 150, 20, 5
WIDTHS = (10, 20)
NAMES = ("ours", "ours_changed", "ours_both", "peer", "peer_texts")
Record = dict[str, Any]


class Ours:
    """OptionBoost: a decision, and one with its lesson, with dicts as a user has them."""

    def __init__(self, stream: Stream) -> None:
        from banditboost import OptionBoost

        self._model, self._stream = OptionBoost(seed=1), stream
        self._options = {f"i{n}": stream.items[n] for n in stream.offered[0].tolist()}

    def both(self, t: int) -> None:
        decision = self._model.decide(self._stream.contexts[t], options=self._options)
        place = int(str(decision.label)[1:])
        self._model.learn(decision, reward=float(self._stream.rewards[t, place]))

    def decide(self, t: int) -> None:
        self._model.decide(self._stream.contexts[t], options=self._options)

    def changed(self, t: int) -> tuple[int, dict[str, Row]]:
        """The round with options of which a feature is another one: none of them is at hand."""
        return t, {name: {**features, "a0": float(t)} for name, features in self._options.items()}

    def decide_changed(self, round_: tuple[int, dict[str, Row]]) -> None:
        t, options = round_
        self._model.decide(self._stream.contexts[t], options=options)


class Theirs:
    """Vowpal Wabbit: a decision alone, with texts that it has read, and with making and reading them."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        from vowpalwabbit import Workspace

        self._workspace, self._stream = Workspace(f"{command(settings)} --random_seed 1 --quiet"), stream
        self._shared = texts(stream.contexts, "u")
        self._items = [f"{text} |i i{n}" for n, text in enumerate(texts(stream.items, "a"))]

    def _block(self, t: int) -> list[str]:
        return [f"shared {self._shared[t]}", *(self._items[n] for n in self._stream.offered[0].tolist())]

    def read(self, t: int) -> Any:
        return self._workspace.parse("\n".join(self._block(t)))

    def predict(self, examples: Any) -> None:
        self._workspace.predict(examples)
        self._workspace.finish_example(examples)

    def both(self, t: int) -> None:
        block = self._block(t)
        chances = self._workspace.predict("\n".join(block))
        place = max(range(len(chances)), key=chances.__getitem__)
        block[1 + place] = f"0:{1 - self._stream.rewards[t, place]}:{chances[place]:.6g} {block[1 + place]}"
        self._workspace.learn("\n".join(block))

    def decide(self, t: int) -> None:
        self._workspace.predict("\n".join(self._block(t)))


def measure(about: Mapping[str, Any], settings: Settings) -> list[Record]:
    """A record for every number of options; medians over turns."""
    return [_measured(n_options, about, settings) for n_options in SIZES]


def _measured(n_options: int, about: Mapping[str, Any], settings: Settings) -> Record:
    stream = open_shop(Shop(20, n_options, LEARNED + TURNS * TIMED, widths=WIDTHS), 1)
    ours, theirs = Ours(stream), Theirs(stream, settings)
    for t in range(LEARNED):
        ours.both(t)
        theirs.both(t)
    times: dict[str, list[float]] = {name: [] for name in NAMES}
    for turn in range(TURNS):
        rounds = range(LEARNED + turn * TIMED, LEARNED + (turn + 1) * TIMED)
        read = [theirs.read(t) for t in rounds]
        changed = list(map(ours.changed, rounds))
        times["ours"].append(_seconds(ours.decide, rounds))
        times["ours_changed"].append(_seconds(ours.decide_changed, changed))
        times["peer"].append(_seconds(theirs.predict, read))
        times["ours_both"].append(_seconds(ours.both, rounds))
        times["peer_texts"].append(_seconds(theirs.decide, rounds))
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {
        "id": f"speed/{n_options}/{now}",
        "purpose": SPEED,
        "options": n_options,
        "widths": list(WIDTHS),
        "settings": dict(settings),
        **{name: round(1_000 * median(found) / TIMED, 4) for name, found in times.items()},
        **about,
        "date": now[:10],
        "finished": now,
    }


def _seconds(call: Any, arguments: Any) -> float:
    start = time.process_time()
    for argument in arguments:
        call(argument)
    return time.process_time() - start
