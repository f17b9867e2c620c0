"""Rounds per second by the form that rows come in, beside the same rows as one array and beside Vowpal Wabbit.

    python -m benchmarks.forms [--rounds 60000] [--turns 5] [--before CHECKOUT] [--record]

The rows are those of `benchmarks.mixed`: twelve numbers and eight names. All contenders play in turns, each with
a fresh model, and the fastest turn of each counts. The array holds codes in place of names, and its model has
a declared schema; all others find out by themselves what the columns are. "run" is what the command does: a
frame or file is read, then played. Vowpal Wabbit reads the rows as text, in its plainest setting and in the
one of `benchmarks.peers` that is right most often on the beginning of the stream. --before lets another
checkout play row by row, in processes of its own. --record keeps the rates in docs/results/forms.jsonl.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import banditboost
from banditboost import datasets, play
from banditboost.datasets import Stream
from benchmarks import machine, records
from benchmarks.mixed import LABEL, TABLES, Forms, mixed
from benchmarks.ours import decide_and_learn
from benchmarks.rate import Contender, Rate, Turn, timed
from benchmarks.tables import number, render, share

ROOT = Path(__file__).parents[1]
MODELS = ("GapBoost", "AdaBandit")
ARRAY, ROW, ARRAY_ROW, MANY = "play array", "decide+learn dict", "decide+learn array", "decide_many"
BEFORE = "decide+learn dict, before"
PLAIN, BEST = "Vowpal Wabbit, plain", "Vowpal Wabbit, most accurate"
PACKAGES = ("numpy", "numba", "pandas", "polars", "pyarrow", "vowpalwabbit")
_WARM_UP = 300
_TAUGHT = 5_000  # rounds before decide_many is measured
_TRIED = 10_000  # rounds on which a setting of Vowpal Wabbit is chosen
_PLAIN = {"explorer": "--epsilon 0.05", "step": 0.5, "quadratic": False, "standardised": False}


def make(name: str, stream: Stream, declared: bool = False) -> Any:
    """A fresh model, with its defaults."""
    schema = stream.schema() if declared else None
    return getattr(banditboost, name)(list(stream.labels), schema=schema, seed=7)


def ours(name: str, forms: Forms) -> dict[str, Contender]:
    """One model on all forms; kernels are compiled."""
    stream = forms.stream
    fresh, declared = partial(make, name, stream), partial(make, name, stream, declared=True)
    return {
        ARRAY: _played(forms, forms.array, declared),
        **{f"play {form}": _played(forms, table(forms), fresh) for form, table in TABLES.items()},
        **{f"run {form}": _run(forms, source, name) for form, source in forms.labelled.items()},
        ARRAY_ROW: _by_row(forms, forms.arrays, declared),
        ROW: _by_row(forms, forms.dicts, fresh),
        f"{MANY} array": _many(forms, forms.array, declared),
        **{f"{MANY} {form}": _many(forms, table(forms), declared) for form, table in TABLES.items()},
    }


def _turn(rounds: int, prepare: Callable[[], Callable[[], float]]) -> Contender:
    def turn(_: int) -> Turn:
        seconds, accuracy = timed(prepare())  # the model is made outside the clock
        return Turn(rounds, seconds, accuracy * rounds)

    return turn


def _played(forms: Forms, X: Any, fresh: Callable[[], Any]) -> Contender:
    stream = forms.stream
    play(fresh(), X[:_WARM_UP], stream.y[:_WARM_UP])
    return _turn(stream.rounds, lambda: partial(_accuracy, fresh(), X, stream.y))


def _accuracy(model: Any, X: Any, y: Any) -> float:
    return float(play(model, X, y).accuracy)


def _run(forms: Forms, source: Any, name: str) -> Contender:
    def run() -> float:
        stream = datasets.read(source, LABEL).stream()
        return _accuracy(make(name, stream, declared=True), *stream)

    return _turn(forms.stream.rounds, lambda: run)


def _by_row(forms: Forms, rows: list[Any], fresh: Callable[[], Any]) -> Contender:
    decide_and_learn(rows[:_WARM_UP], forms.truths[:_WARM_UP], fresh())
    return _turn(forms.stream.rounds, lambda: partial(decide_and_learn, rows, forms.truths, fresh()))


def _many(forms: Forms, X: Any, declared: Callable[[], Any]) -> Contender:
    """By a model that has learned a while."""
    model, stream = declared(), forms.stream
    play(model, stream.X[:_TAUGHT], stream.y[:_TAUGHT])

    def decide(asked: Any) -> float:
        decisions = asked.decide_many(X)
        return sum(d.label == truth for d, truth in zip(decisions, forms.truths, strict=True)) / len(
            decisions
        )

    return _turn(stream.rounds, lambda: partial(decide, copy.deepcopy(model)))


# Vowpal Wabbit, from text


def wabbit(stream: Stream) -> dict[str, Contender]:
    return {PLAIN: _wabbit(stream, _PLAIN), BEST: _wabbit(stream, _most_accurate(_cut(stream, _TRIED)))}


def _cut(stream: Stream, rounds: int) -> Stream:
    return replace(stream, X=stream.X[:rounds], y=stream.y[:rounds], rows=stream.rows[:rounds])


def _wabbit(stream: Stream, parameters: Mapping[str, Any]) -> Contender:
    from benchmarks.peers.vowpal import VowpalWabbit

    def turn(_: int) -> Turn:
        game = VowpalWabbit(stream, parameters, seed=7, from_text=True)
        seconds, _none = timed(lambda: game.play(1e9) or 0.0)
        return Turn(stream.rounds, seconds, float((game.shown() == stream.y).sum()))

    return turn


def _most_accurate(stream: Stream) -> Mapping[str, Any]:
    """Among the settings of `benchmarks.peers`: the best of the first ones, or of its neighbours."""
    from benchmarks.peers.vowpal import players

    def right(parameters: Mapping[str, Any]) -> float:
        return _wabbit(stream, parameters)(0).right

    firsts = [(player, setting) for player in players() for setting in player.settings(stream.name)]
    player, best = max(firsts, key=lambda pair: right(pair[1]))
    return max([best, *player.neighbours(best)], key=right)


# Measuring


def fastest(contenders: Mapping[str, Contender], turns: int) -> dict[str, Rate]:
    """Each one's fastest turn; they play in turns, since the machine may be slow for a while."""
    found: dict[str, Rate] = {}
    for number_of_turn in range(turns):
        for name, contender in contenders.items():
            rounds, seconds, right = contender(number_of_turn)
            rate = Rate(rounds, seconds, right / rounds)
            if name not in found or rate.per_second > found[name].per_second:
                found[name] = rate
    return found


def _elsewhere(checkout: Path, rounds: int, name: str) -> Contender:
    """Row by row with the package of another checkout, in a process of its own."""
    path = os.pathsep.join([str(checkout / "src"), str(ROOT)])
    command = [sys.executable, "-m", "benchmarks.forms", "--rounds", str(rounds), "--by-row", name]

    def turn(_: int) -> Turn:
        printed = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, cwd=ROOT, check=True, capture_output=True
        ).stdout
        return Turn(*json.loads(printed))

    return turn


def measure(options: argparse.Namespace, folder: Path) -> dict[str, dict[str, Rate]]:
    stream = mixed(options.rounds)
    forms = Forms(stream, folder)
    contenders = {(name, form): contender for name in MODELS for form, contender in ours(name, forms).items()}
    if options.before is not None:
        contenders |= {(name, BEFORE): _elsewhere(options.before, options.rounds, name) for name in MODELS}
    contenders |= {("", form): contender for form, contender in wabbit(stream).items()}
    keys = {f"{name}|{form}": (name, form) for name, form in contenders}
    rates = fastest({key: contenders[pair] for key, pair in keys.items()}, options.turns)
    found: dict[str, dict[str, Rate]] = {}
    for key, rate in rates.items():
        name, form = keys[key]
        found.setdefault(form, {})[name] = rate
    return found


def commit_of(checkout: Path | None) -> str:
    """Which commit --before names; empty without it."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return "" if checkout is None else subprocess.check_output(command, text=True).strip()


def base_of(form: str) -> str:
    """What a rate is compared with: the array in the same way of asking."""
    return f"{MANY} array" if form.startswith(MANY) else ARRAY


def report(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Rates, shares of the array's rate, and accuracies."""
    rows = []
    for form, rates in found.items():
        cells = []
        for name in MODELS:
            rate = rates.get(name, rates.get(""))
            base = found[base_of(form)][name]["per_second"]
            told = rate is not None and (name in rates or name == MODELS[0])
            cells += (
                [number(rate["per_second"]), share_of(rate["per_second"], base)]
                if told and rate
                else ["-", "-"]
            )
        accuracy = rates.get(MODELS[0], rates.get("", {})).get("accuracy")
        rows.append([form, *cells, share(accuracy)])
    heads = [head for name in MODELS for head in (name, "of the array")]
    return render(["rows", *heads, "accuracy"], rows)


def share_of(rate: float, base: float) -> str:
    return f"{100 * rate / base:.0f} %"


def plain(found: Mapping[str, Mapping[str, Rate]]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        form: {
            name: {"per_second": round(rate.per_second, 1), "accuracy": round(rate.accuracy, 4)}
            for name, rate in rates.items()
        }
        for form, rates in found.items()
    }


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.forms", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--rounds", type=int, default=60_000, help="(default: %(default)s)")
    parser.add_argument("--turns", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--before", type=Path, help="a checkout to compare with, row by row")
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    parser.add_argument(
        "--by-row", choices=MODELS, help="one turn of a model, row by row, as JSON; for --before"
    )
    records.add_option(parser, "forms")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    core = machine.pin(options.core)
    with tempfile.TemporaryDirectory() as folder:
        if options.by_row:
            forms = Forms(mixed(options.rounds), Path(folder))
            fresh = partial(make, options.by_row, forms.stream)
            print(json.dumps(_by_row(forms, forms.dicts, fresh)(0)))
            return
        found = plain(measure(options, Path(folder)))
    print(report(found))
    if options.record:
        about = records.about(machine.describe(core, PACKAGES), records.typed("benchmarks.forms", arguments))
        told = {"rounds": options.rounds, "before": commit_of(options.before), **about}
        lines = [{"form": form, "rates": rates, **told} for form, rates in found.items()]
        records.update(options.record, lines, ["form"])


if __name__ == "__main__":
    main()
