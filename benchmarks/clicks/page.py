"""The page of clicks and its chart, made from records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from banditboost.experiments.statistics import mean_interval
from benchmarks import charts
from benchmarks.clicks.plan import FINALISTS, FURTHER_TUNING_SEEDS, PAGE, WINDOWS, Record
from benchmarks.clicks.players import AB_TEST, EPSILON, EXPLORERS, TABLE, command, players
from benchmarks.clicks.visits import BANNERS, BEST_RATE, DEVICES, RATE
from benchmarks.records import FOLDER
from benchmarks.tables import render

RECORDS = FOLDER / "clicks.jsonl"
PAGE_NAME, CHART_NAME = "clicks.md", "clicks.svg"
GUESS_RATE = RATE + (BEST_RATE - RATE) / len(BANNERS)
TEXT = """# Clicks: 2 % against 6 %

[![Click rate over {visits:,} visits: GapBoost, Vowpal Wabbit, an A/B test, guessing](clicks.svg)](clicks.svg)

A web page has room for one of {banners} banners. For each of {devices} devices and each half of the day one
banner is clicked by {best} of the visitors, and every other one by {rate}. A model sees device and hour,
shows one banner, and hears whether it was clicked. Nobody tells it that the half of the day matters, or where
the day divides.

{table}

*Last fifth* is the click rate of the banners that were shown in the last fifth of {visits:,} visits;
{best_share} is the best possible, {guess} is guessing. ± is half the 95 % interval over {seeds} seeds.
*Clicks* are those of all visits.

GapBoost has its defaults. {found}

## Why AdaBandit does not learn here

{adabandit}

AdaBandit is the paper's booster, and the paper is about classification: exactly one label is right, and
"wrong" tells something about all others. Here {missed} of even the best banner's visitors click nothing, and
what AdaBandit is taught is mostly noise ([more](../faq.md)). GapBoost asks each banner's own question, *was
it clicked when it was shown?*, and needs no such thing. Use GapBoost for clicks.

## How it is measured

- `python -m benchmarks.clicks` plays what is not in [the record](clicks.jsonl) yet, and writes this page and
  the chart from it.
- Visitors are drawn by a seed. Whether one would click is settled beforehand, so everybody meets the same
  luck.
- Vowpal Wabbit is tuned for this task over {grid} settings: four explorers with their parameters,
  `--cb_type`, with and without `-q ::`, the hour as a number or as a name, three learning rates, costs 0 and
  -1 or 1 and 0. Each setting plays once; the best {finalists} of each explorer play {further} more times; the
  best one of these is on the page. AdaBandit is tuned over {rates} rates of exploration. Tuning has visitors
  of its own.
- The *A/B test* shows banners at random for a third of the visits, then the one with most clicks to
  everybody.
- The *{name_of_table}* keeps a click rate for each banner, device and half of the day, and explores in
  {epsilon} of the visits. It is told where the day divides, so it is no rival; it shows what a good hand-made
  rule would reach.
- {origin}

## Settings that were chosen

{settings}
"""


def write(records: Sequence[Record], folder: Path = FOLDER) -> list[Path]:
    (folder / PAGE_NAME).write_text(page(records), encoding="utf-8")
    return [folder / PAGE_NAME, charts.save(draw, curves(records), folder / CHART_NAME)]


def page(records: Sequence[Record]) -> str:
    shown = by_player(records)
    first = next(iter(shown.values()))
    return TEXT.format(
        visits=first[0]["visits"],
        banners=len(BANNERS),
        devices=len(DEVICES),
        best=_percent(BEST_RATE),
        rate=_percent(RATE),
        best_share=f"{BEST_RATE:.3f}",
        guess=f"{GUESS_RATE:.3f}",
        seeds=len(first),
        table=table(shown),
        found=_found(shown),
        adabandit=_adabandit(shown),
        missed=_percent(1 - BEST_RATE),
        grid=sum(len(player.grid) for player in players() if player.name in EXPLORERS),
        finalists=FINALISTS,
        further=len(FURTHER_TUNING_SEEDS),
        rates=next(len(player.grid) for player in players() if player.name == "AdaBandit"),
        name_of_table=TABLE,
        epsilon=_percent(EPSILON),
        settings=_settings(shown),
        origin=_origin(first[0]),
    )


def by_player(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Runs for the page, in the order of the players."""
    found: dict[str, list[Record]] = {player.name: [] for player in players()}
    for record in records:
        if record["purpose"] == PAGE:
            found[record["player"]].append(record)
    return {name: runs for name, runs in found.items() if runs}


def table(shown: Mapping[str, Sequence[Record]]) -> str:
    rows = [
        [_marked(name), _interval(runs, "last_rate"), f"{_mean(runs, 'clicks'):,.0f}"]
        for name, runs in shown.items()
    ]
    return render(["", "last fifth", "clicks"], sorted(rows, key=lambda row: row[1], reverse=True))


def short_table(shown: Mapping[str, Sequence[Record]]) -> str:
    """For the README. Vowpal Wabbit's line has the best of its explorers in each column."""
    lines = {
        "GapBoost, defaults": ["GapBoost"],
        "Vowpal Wabbit, tuned, best of four": wabbits(shown),
        "A/B test, then its winner": [AB_TEST],
    }
    lines |= {"AdaBandit, the paper's, tuned": ["AdaBandit"], "guessing": ["guessing"]}
    rows = [
        [title, best_last_rate(shown, names), best_clicks(shown, names)] for title, names in lines.items()
    ]
    rows.insert(0, ["*best possible*", f"{BEST_RATE:.3f}", f"{BEST_RATE * n_visits(shown):,.0f}"])
    return render(["", "click rate, last fifth", "clicks, all visits"], rows)


def n_visits(shown: Mapping[str, Sequence[Record]]) -> int:
    return int(next(iter(shown.values()))[0]["visits"])


def wabbits(shown: Mapping[str, Sequence[Record]]) -> list[str]:
    return [name for name in shown if name in EXPLORERS]


def best_last_rate(shown: Mapping[str, Sequence[Record]], names: Iterable[str]) -> str:
    return f"{max(_mean(shown[name], 'last_rate') for name in names):.3f}"


def best_clicks(shown: Mapping[str, Sequence[Record]], names: Iterable[str]) -> str:
    return f"{max(_mean(shown[name], 'clicks') for name in names):,.0f}"


def _found(shown: Mapping[str, Sequence[Record]]) -> str:
    rates = sorted((_mean(shown[name], "last_rate") for name in wabbits(shown)), reverse=True)
    return (
        f"Vowpal Wabbit, tuned, reaches {rates[-1]:.3f} to {rates[0]:.3f}, depending on its explorer."
        if rates
        else ""
    )


def _adabandit(shown: Mapping[str, Sequence[Record]]) -> str:
    if "AdaBandit" not in shown:
        return "It has not been played."
    return f"Its click rate is {best_last_rate(shown, ['AdaBandit'])}, and guessing is {GUESS_RATE:.3f}."


def _mean(runs: Sequence[Record], field: str) -> float:
    return mean_interval([run[field] for run in runs])[0]


def _interval(runs: Sequence[Record], field: str) -> str:
    mean, half = mean_interval([run[field] for run in runs])
    return f"{mean:.4f} ± {half:.4f}"


def _marked(name: str) -> str:
    return f"**{name}**" if name == "GapBoost" else name


def _settings(shown: Mapping[str, Sequence[Record]]) -> str:
    chosen = {name: dict(runs[0]["settings"]) for name, runs in shown.items()}
    return "\n".join(
        f"- {name}: {_words(given)}" for name, given in chosen.items() if set(given) - {"booster"}
    )


def _words(given: Mapping[str, Any]) -> str:
    if "explorer" not in given:
        return ", ".join(f"{key} {value}" for key, value in given.items() if key != "booster")
    return f"`{command(given)}`, the hour as a {given['hour']}, cost {given['costs'][1]} for a click and {given['costs'][0]} for none"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def _origin(record: Record) -> str:
    machine = ", ".join(f"{name} {value}" for name, value in record["machine"].items() if name != "cpu")
    return f"{record['finished'][:10]}, {record['machine']['cpu']}, {machine}."


def curves(records: Iterable[Record]) -> dict[str, Any]:
    """Player -> mean click rate in each window of the visits: what the chart shows."""
    shown = by_player(records)
    chosen = ["GapBoost", *wabbits(shown), AB_TEST, "AdaBandit", "guessing"]
    means = {
        name: np.mean([run["curve"] for run in shown[name]], axis=0).round(6).tolist()
        for name in chosen
        if name in shown
    }
    return {"visits": n_visits(shown), "curves": means}


def draw(numbers: Mapping[str, Any]) -> Figure:
    figure = Figure(figsize=(8.2, 4.2), layout="constrained")
    axes = figure.subplots()
    ends = numbers["visits"] / WINDOWS * (np.arange(WINDOWS) + 1)
    colours = {
        "GapBoost": charts.OURS,
        "AdaBandit": charts.PAPERS,
        AB_TEST: charts.PLAIN,
        "guessing": "#aaaaaa",
    }
    for name, curve in numbers["curves"].items():
        label = (
            "Vowpal Wabbit, tuned (four explorers)"
            if name == next(iter(EXPLORERS))
            else f"_{name}"
            if name in EXPLORERS
            else name
        )
        width = 2.8 if name == "GapBoost" else 1.2 if name in EXPLORERS else 1.6
        axes.plot(
            ends, [100 * rate for rate in curve], color=colours.get(name, charts.PEER), lw=width, label=label
        )
    axes.axhline(100 * BEST_RATE, color="#333333", lw=0.9, ls=":")
    axes.text(ends[0], 100 * BEST_RATE + 0.08, "the best possible", fontsize=9, color="#333333")
    axes.set(
        xlabel="visits",
        ylabel="click rate of the banners shown, %",
        xlim=(0, numbers["visits"]),
        ylim=(1.8, 6.5),
    )
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    return figure
