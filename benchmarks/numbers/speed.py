"""What performance.md and the README say about speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.figure import Figure

from benchmarks import charts, startup, wide
from benchmarks.numbers.sources import lines
from benchmarks.peers.speeds import Speed, speeds
from benchmarks.records import Record
from benchmarks.rounds import (
    ARRAY,
    COLUMNS,
    DICT,
    GAP,
    MOA_FRESH,
    MOA_JAVA,
    MOA_ROWS,
    PLAY,
    RIVER,
    TARGETS,
    WHOLE,
)
from benchmarks.tables import number, render

STREAMS = ("balance", "car", "nursery", "movement", "mice", "isolet")
_MEBIBYTE = 1 << 20
_NAMES = {PLAY: "AdaBandit, `play`", ARRAY: "AdaBandit, array rows", DICT: "AdaBandit, dict rows"}
_NAMES |= {WHOLE: "AdaBandit, `play`, whole stream", GAP: "GapBoost, `play`"}
_PARTS = {
    "votes": "votes (line 5)",
    "way to the leaf": "of these, the way to the leaf",
    "choice": "experts and choice (6 to 10)",
    "lesson": "estimate, costs, alphas, Hedge (12 to 15, 17)",
    "learning": "trees learn (16)",
    "learning, never splitting": "of these, without any attempt to split",
    "edges": "empirical edges (`play` only)",
    "play": "whole round in `play`",
}


def by_stream(
    name: str,
    rows: Iterable[str],
    cell: Callable[[Record, str], str],
    head: str = "",
    titles: Mapping[str, str] = {},
) -> str:
    """Streams as columns: six of them fit beside any number of rows."""
    found = {line["stream"]: line for line in lines(name)}
    streams = [stream for stream in STREAMS if stream in found]
    body = [[titles.get(row, row), *(cell(found[stream], row) for stream in streams)] for row in rows]
    return render([head, *(stream.capitalize() for stream in streams)], body)


def rates() -> str:
    """Rounds per second."""
    present = [key for key in COLUMNS if any(key in line["rates"] for line in lines("rounds"))]
    return by_stream(
        "rounds", present, lambda line, key: number(line["rates"].get(key)), "rounds per second", _NAMES
    )


def quotients() -> str:
    """Against the peers, with what was asked for."""
    found = {line["stream"]: line["rates"] for line in lines("rounds")}
    rows = []
    for target in TARGETS:
        wanted = {stream: target.wanted(stream) for stream in STREAMS}
        cells = [_quotient(found[stream], target.ours, target.peer, wanted[stream]) for stream in STREAMS]
        if set(cells) != {"-"}:
            title = f"{_NAMES.get(target.ours, target.ours)} / {_NAMES.get(target.peer, target.peer)}"
            rows.append(
                [
                    title,
                    *cells,
                    " or ".join(sorted({f"{goal:g}" for goal in wanted.values() if goal is not None})) or "-",
                ]
            )
    return render(["quotient", *(stream.capitalize() for stream in STREAMS), "goal"], rows)


def _quotient(rates: Mapping[str, float], ours: str, peer: str, wanted: float | None) -> str:
    if ours not in rates or peer not in rates:
        return "-"
    quotient = rates[ours] / rates[peer]
    return number(quotient) + (" ↓" if wanted is not None and quotient < wanted else "")


def spread(ours: str, peer: str, streams: Sequence[str] = STREAMS) -> str:
    """The least and the greatest quotient of two rates: "130 to 1,200"."""
    found = [
        line["rates"][ours] / line["rates"][peer] for line in lines("rounds") if line["stream"] in streams
    ]
    return _range(found)


def _range(values: Sequence[float]) -> str:
    return f"{_roughly(min(values))} to {_roughly(max(values))}"


def _roughly(value: float) -> str:
    """Two digits: 1,200 or 52 or 2.0."""
    return f"{value:.1f}" if value < 9.95 else f"{float(f'{value:.1e}'):,.0f}"


def origin(name: str, part: str | None = None) -> str:
    """Command, date and machine of a record; and its source, if that is not the command itself."""
    first = next(line for line in lines(name) if part is None or line["part"] == part)
    told = f"`{first['command']}`" if first["command"].startswith("python") else first["command"]
    copied = "" if first["source"] == "measured" else f"; {first['source']}"
    return f"{told}, {first['date']}, {first['machine']['cpu']}{copied}"


def profile() -> str:
    return by_stream(
        "profile",
        _PARTS,
        lambda line, part: f"{line['microseconds'][part]:.1f}",
        "microseconds of a round",
        _PARTS,
    )


def attempts() -> str:
    rows = lines("attempts")[0]["a round"]
    return by_stream("attempts", rows, lambda line, row: f"{line['a round'][row]:g}", "for each round")


def threads() -> str:
    ways = lines("threads")[0]["microseconds"]
    return by_stream(
        "threads", ways, lambda line, way: number(line["microseconds"][way]), "microseconds of a round"
    )


def steps() -> str:
    rows = [
        [line["what"], f"{line['before']:g} {line['unit']}", f"{line['after']:g} {line['unit']}"]
        for line in lines("steps")
    ]
    return render(["what was done", "before", "after"], rows)


def scaling(head: str, parts: Mapping[str, str]) -> str:
    """Microseconds of a round against a size: a row for each part."""
    at = [line["at"] for line in lines("scaling") if line["part"] == next(iter(parts))]
    cost = {(line["part"], line["at"]): line["microseconds"] for line in lines("scaling")}
    rows = [[name, *(number(cost[part, size]) for size in at)] for part, name in parts.items()]
    return render([head, *(f"{size:,}" for size in at)], rows)


def costs(part: str, more: int, less: int) -> str:
    """How many times as much a greater size costs."""
    cost = {line["at"]: line["microseconds"] for line in lines("scaling") if line["part"] == part}
    return f"{cost[more] / cost[less]:.2f}"


def steepest(part: str) -> str:
    """The step at which the cost grows most, compared with the size."""
    points = [(line["at"], line["microseconds"]) for line in lines("scaling") if line["part"] == part]
    (a, cost_a), (b, cost_b) = max(
        pairwise(points), key=lambda step: step[1][1] / step[0][1] * step[0][0] / step[1][0]
    )
    return f"{a:,} to {b:,} cost {cost_b / cost_a:.1f} times as much for {b / a:.1f} times the size"


def length() -> str:
    rows = [
        [f"{line['at']:,}", number(1e6 / line["microseconds"]), number(line["model_bytes"] / _MEBIBYTE)]
        for line in lines("scaling")
        if line["part"] == "length"
    ]
    return render(["rounds so far", "rounds per second", "model, MiB"], rows)


def length_quotient() -> str:
    points = [line["microseconds"] for line in lines("scaling") if line["part"] == "length"]
    return f"{points[0] / points[-1]:.2f}"


def startup_table() -> str:
    """Of the source, and below it of what else was measured, such as a wheel."""
    named = [
        line if line["setting"] == "source" else {**line, "what": f"{line['what']} ({line['setting']})"}
        for line in lines("startup")
    ]
    return startup.table(named)


def startup_seconds(what: str, cache: str) -> str:
    """Of the source."""
    wanted = ("source", what, cache)
    found = next(
        line for line in lines("startup") if (line["setting"], line["what"], line["cache"]) == wanted
    )
    return f"{number(found['wall'])} s"


def before_after_table() -> str:
    """Speed of this version, divided by that of an earlier one: the columns of `benchmarks.rounds`, a stream
    in each column.
    """
    found = {(line["column"], line["stream"]): line["quotient"] for line in lines("before_after")}
    columns = list(dict.fromkeys(column for column, _ in found))
    streams = [stream for stream in STREAMS if any(name == stream for _, name in found)]
    rows = [[column, *(f"{found[column, stream]:.2f}" for stream in streams)] for column in columns]
    return render(["speed after / before", *(stream.capitalize() for stream in streams)], rows)


def before_after_origin() -> str:
    commits = lines("before_after")[0]["commits"]
    return f"commits {' and '.join(commits)}; {origin('before_after')}"


def beside_wabbit() -> list[Speed]:
    """On all streams that GapBoost and Vowpal Wabbit have played."""
    return speeds()


def readme_table() -> str:
    """GapBoost beside Vowpal Wabbit with its most accurate setting, AdaBandit beside River."""
    shown = chart_numbers()
    titles = {
        "GapBoost, play": "GapBoost",
        "Vowpal Wabbit, most accurate": "Vowpal Wabbit",
        "AdaBandit, play": "AdaBandit",
        "River, boosted trees": "River",
    }
    rows = [[title, *(number(rate) for rate in shown[name].values())] for name, title in titles.items()]
    return render(["rounds per second", *(stream.capitalize() for stream in STREAMS)], rows)


def slower_than_wabbit() -> str:
    """On how many of the streams that are not the paper's GapBoost is slower, and of how many."""
    others = [speed.quotient for speed in beside_wabbit() if speed.stream not in STREAMS]
    return f"{sum(quotient < 1 for quotient in others)} of {len(others)}"


def wabbit_range() -> str:
    return _range([speed.quotient for speed in beside_wabbit() if speed.stream in STREAMS])


def chart_numbers() -> dict[str, Any]:
    """Player -> rounds per second on the six streams."""
    gap = {speed.stream: speed for speed in beside_wabbit()}
    told = {line["stream"]: line["rates"] for line in lines("rounds")}
    shown = {
        "GapBoost, play": {stream: gap[stream].ours for stream in STREAMS},
        "AdaBandit, play": {stream: told[stream][PLAY] for stream in STREAMS},
        "AdaBandit, row by row": {stream: told[stream][ARRAY] for stream in STREAMS},
        "Vowpal Wabbit, most accurate": {stream: gap[stream].wabbit for stream in STREAMS},
        "CapyMOA, boosted trees": {stream: told[stream][MOA_FRESH] for stream in STREAMS},
        "River, boosted trees": {stream: told[stream][RIVER] for stream in STREAMS},
    }
    return {name: {stream: round(rate, 1) for stream, rate in rates.items()} for name, rates in shown.items()}


def draw(numbers: Mapping[str, Mapping[str, float]]) -> Figure:
    """A line of dots for each stream; further right is faster."""
    figure = Figure(figsize=(8.2, 3.6), layout="constrained")
    axes = figure.subplots()
    colours = (charts.OURS, charts.PAPERS, "#56B4E9", charts.PEER, "#E69F00", charts.PLAIN)
    for (name, rates), colour, marker in zip(numbers.items(), colours, "ooosD^", strict=True):
        axes.plot(list(rates.values()), range(len(rates)), marker, color=colour, ms=8, label=name)
    axes.set_yticks(range(len(STREAMS)), [stream.capitalize() for stream in STREAMS])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set(xlabel="rounds per second, one core")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


VALUES: dict[str, Callable[[], str]] = {
    "rounds.table": rates,
    "rounds.quotients": quotients,
    "rounds.origin": lambda: origin("rounds"),
    "rounds.river": lambda: spread(PLAY, RIVER),
    "rounds.river-by-row": lambda: spread(ARRAY, RIVER),
    "rounds.capymoa": lambda: spread(PLAY, MOA_FRESH),
    "rounds.capymoa-warm-small": lambda: spread(PLAY, MOA_ROWS, STREAMS[:4]),
    "rounds.capymoa-java-small": lambda: spread(PLAY, MOA_JAVA, STREAMS[:4]),
    "profile.table": profile,
    "profile.origin": lambda: origin("profile"),
    "attempts.table": attempts,
    "attempts.origin": lambda: origin("attempts"),
    "threads.table": threads,
    "threads.origin": lambda: origin("threads"),
    "steps.table": steps,
    "steps.origin": lambda: origin("steps"),
    "scaling.labels": lambda: scaling(
        "labels", {"labels": "AdaBandit", "labels-told": "AdaFull", "labels-gap": "GapBoost"}
    ),
    "scaling.features": lambda: scaling("features", {"features": "AdaBandit"}),
    "scaling.wide": lambda: scaling("columns", {"wide": "AdaBandit", "wide-gap": "GapBoost"}),
    "scaling.learners": lambda: scaling("learners", {"learners": "AdaBandit"}),
    "scaling.length": length,
    "scaling.length-quotient": length_quotient,
    "scaling.labels-cost": lambda: costs("labels", 10_000, 26),
    "scaling.labels-told-cost": lambda: costs("labels-told", 10_000, 26),
    "scaling.features-steepest": lambda: steepest("features"),
    "scaling.learners-steepest": lambda: steepest("learners"),
    "scaling.origin": lambda: origin("scaling"),
    "scaling.wide-origin": lambda: origin("scaling", "wide"),
    "scaling.gap-1000": lambda: number(
        1e6
        / next(p["microseconds"] for p in lines("scaling") if (p["part"], p["at"]) == ("labels-gap", 1000))
    ),
    "startup.table": startup_table,
    "startup.origin": lambda: origin("startup"),
    "startup.run-car": lambda: startup_seconds("banditboost run car", "empty"),
    "startup.decide": lambda: startup_seconds("GapBoost: first decide", "empty"),
    "startup.learn": lambda: startup_seconds("GapBoost: first learn", "empty"),
    "startup.warm": lambda: startup_seconds("GapBoost: first learn", "warm"),
    "before-after.table": before_after_table,
    "before-after.origin": before_after_origin,
    "wide.table": lambda: wide.table(lines("wide")),
    "wide.origin": lambda: origin("wide"),
    "speed.table": readme_table,
    "speed.wabbit": wabbit_range,
    "speed.slower-than-wabbit": slower_than_wabbit,
}
