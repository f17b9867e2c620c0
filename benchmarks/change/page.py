"""The page of streams that change, and its chart, made from records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks import charts
from benchmarks.change.plan import PARTS
from benchmarks.change.players import ADA, ADWIN, GAP, GUESSING, LIN_UCB, RESTARTS, WABBIT
from benchmarks.records import FOLDER
from benchmarks.rewards.page import mark, origin
from benchmarks.rewards.plan import PAGE, Record
from benchmarks.rewards.streams import REPORTING
from benchmarks.tables import render

RECORDS = FOLDER / "change.jsonl"
PAGE_NAME, CHART_NAME = "change.md", "change.svg"
CHART_STREAM = "clicks: sudden"
OTHERS = (ADWIN, LIN_UCB, ADA, RESTARTS, GUESSING)
TEXT = """# Streams that change

GapBoost with its defaults on clicks whose rates change, on generators of River, and on real streams in the
order of time. [What it does about changes](../guide-change.md).

[![Mean reward around a sudden change](change.svg)](change.svg)

*{chart_stream}: another option is best from the middle on. Mean rate of clicks of what was shown, in {parts} parts
of the stream, mean over seeds.*

## Mean reward over the whole stream

{table}

Clicks are those of known rates: 3 % and 15 % unless another rate is said. *Best possible* knows every reward or rate
beforehand. *Which* is what was best for Vowpal Wabbit while it was tuned, with
*constant* for steps that do not shrink (`--power_t 0`). ▲ and ▼: GapBoost is ahead of Vowpal Wabbit or behind it by more than the 95 % interval of the
difference on the same seeds ({seeds}); the other peers have one seed. "-": not played.

{found}

## Time to recover

{recovery}

Rounds after the change until the last 1,000 of them earned 95 % of the share of the best possible that the 5,000
before the change did; so 1,000 is the least. The median over seeds, and the largest. *Never*: not until the end of the stream.

## How it is measured

- `python -m benchmarks.change` plays what is not in [the record](change.jsonl) yet, and writes this page.
- Streams are in `benchmarks/change/streams.py` and `tables.py`. *For choosing*: GapBoost's rule was chosen on other seeds of streams of this
  kind. No stream for reporting was played before its record was made. Real streams keep their order; seeds are those of the players.
- Vowpal Wabbit is tuned for every stream, on a quarter as many rounds of another seed, change and all (of real streams on the first quarter): epsilon, squarecb,
  regcb and bag, each with and without `--power_t 0`; then around the best of these learning rates of 0.1 and 0.02, `-q ff`, costs of -reward, and a sharper squarecb. Numbers are
  standardised for it, and for LinUCB, over the whole stream.
- *ADWIN trees*: epsilon-greedy (0.05) on one of River's HoeffdingAdaptiveTreeClassifier for each option. *LinUCB* is that of contextualbandits, in batches of
  50 rounds. AdaBandit has its defaults; *restarts* has `restart_on_change=True`.
- River's Elec2 is not in its wheel; nothing was fetched from the web.
- {origin}
"""


def write(records: Sequence[Record], folder: Path = FOLDER) -> list[Path]:
    path = folder / PAGE_NAME
    path.write_text(page(records), encoding="utf-8")
    return [path, charts.save(draw, chart_numbers(records), folder / CHART_NAME)]


def page(records: Iterable[Record]) -> str:
    shown = [record for record in records if record["purpose"] == PAGE]
    streams = list(dict.fromkeys(record["stream"] for record in shown))
    by_stream = {stream: _by_player(stream, shown) for stream in streams}
    head = ("stream", "for", "rounds", "options", GAP, WABBIT, "", "which", *OTHERS, "best possible")
    return TEXT.format(
        chart_stream=CHART_STREAM.capitalize(),
        parts=PARTS,
        table=render(head, [_line(stream, found) for stream, found in by_stream.items()]),
        recovery=_recoveries(by_stream),
        found=_found(by_stream),
        seeds=len({record["seed"] for record in shown if record["player"] == GAP}),
        origin=origin(shown),
    )


Runs = Mapping[str, Sequence[Record]]


def _by_player(stream: str, records: Sequence[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        if record["stream"] == stream:
            found.setdefault(record["player"], []).append(record)
    return found


def _line(stream: str, found: Runs) -> list[str]:
    first = found[GAP][0]
    return [
        stream, first["streams_for"], f"{first['rounds']:,}", str(first["options"]), _mean(found.get(GAP)),
        _mean(found.get(WABBIT)), _standing(found), _which(found.get(WABBIT)),
        *(_mean(found.get(name)) for name in OTHERS), _mean(found[GAP], "best"),
    ]  # fmt: skip


def _mean(records: Sequence[Record] | None, name: str = "mean") -> str:
    return "-" if not records else f"{np.mean([record[name] for record in records]):.4f}"


def _standing(found: Runs) -> str:
    return mark(found[GAP], found[WABBIT]) if WABBIT in found else ""


def _which(records: Sequence[Record] | None) -> str:
    if not records:
        return "-"
    settings = records[0]["settings"]
    name = settings["explorer"].removeprefix("--").split()[0]
    return f"{name}, constant" if "power_t" in settings["rest"] else str(name)


def _found(by_stream: Mapping[str, Runs]) -> str:
    told, both = [], [found for found in by_stream.values() if WABBIT in found]
    for what, some in (
        ("all that both have played", both),
        ("those for reporting", [found for found in both if found[GAP][0]["streams_for"] == REPORTING]),
    ):
        standing = [_standing(found) for found in some]
        ahead, level, behind = (standing.count(sign) for sign in "▲≈▼")
        told.append(
            f"Of {what} ({len(some)}), GapBoost is ahead of Vowpal Wabbit on {ahead}, level on {level} and "
            f"behind on {behind}."
        )
    return " ".join(told)


def _recoveries(by_stream: Mapping[str, Runs]) -> str:
    names = (GAP, WABBIT, *OTHERS)
    lines = [
        [stream, *(_recovery(found.get(name)) for name in names)]
        for stream, found in by_stream.items()
        if found[GAP][0]["recovered"] is not None
    ]
    return render(("stream", *names), lines)


def _recovery(records: Sequence[Record] | None) -> str:
    if not records:
        return "-"
    times = sorted(record["recovered"] if record["recovered"] >= 0 else np.inf for record in records)
    middle, last = ("never" if t == np.inf else f"{t:,.0f}" for t in (times[len(times) // 2], times[-1]))
    return middle if len(times) == 1 else f"{middle} ({last})"


def chart_numbers(records: Iterable[Record]) -> dict[str, Any]:
    """Player -> mean reward in each part of one stream."""
    shown = [record for record in records if record["purpose"] == PAGE]
    found = _by_player(CHART_STREAM, shown)
    curves = {
        name: np.mean([record["parts"] for record in runs], axis=0).round(5).tolist()
        for name, runs in found.items()
        if name != LIN_UCB
    }
    return {"rounds": found[GAP][0]["rounds"], "best": found[GAP][0]["best"], "curves": curves}


def draw(numbers: Mapping[str, Any]) -> Figure:
    figure = Figure(figsize=(8.2, 4.2), layout="constrained")
    axes = figure.subplots()
    ends = numbers["rounds"] / PARTS * (np.arange(PARTS) + 1)
    looks = {
        GAP: (charts.OURS, 2.8, "-"),
        WABBIT: (charts.PEER, 1.6, "-"),
        ADWIN: (charts.PEER, 1.4, ":"),
        ADA: (charts.PAPERS, 1.4, ":"),
        RESTARTS: (charts.PAPERS, 1.6, "-"),
        GUESSING: (charts.PLAIN, 1.2, "-"),
    }
    for name, curve in numbers["curves"].items():
        colour, width, style = looks[name]
        label = f"{name}, tuned" if name == WABBIT else name
        axes.plot(ends, [100 * rate for rate in curve], color=colour, lw=width, ls=style, label=label)
    axes.axvline(numbers["rounds"] / 2, color="#333333", lw=0.9, ls=":")
    axes.set(
        xlabel="visits", ylabel="click rate of what was shown, %", xlim=(0, numbers["rounds"]), ylim=(0, None)
    )
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure
