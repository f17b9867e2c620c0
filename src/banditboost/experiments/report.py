"""`report.html`: everything a reviewer wants to see, in one file that asks for nothing else.

Made from records alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from banditboost.experiments import figures, pages
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.grouping import data_of, group, learner_of, mode_of, title_of
from banditboost.experiments.records import Record, checked
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.statistics import FEWEST_FOR_AN_INTERVAL
from banditboost.experiments.tables import SCORES, TOLERANCE, side
from banditboost.experiments.wording import value_text
from banditboost.text import html, quoted

PAPER = "https://proceedings.mlr.press/v89/zhang19e.html"


@dataclass(frozen=True)
class Report:
    """What goes into a report. Tables are shown in the order given."""

    command: str
    sheets: Sequence[Sheet]
    curves: Sequence[Record] = ()
    grid: Sequence[Record] = ()
    others: Sequence[Record] = ()
    """Runs that only tables show; some may be among the curves or in the grid."""

    @property
    def records(self) -> list[Record]:
        """Every run once."""
        return list({record["id"]: record for record in (*self.curves, *self.grid, *self.others)}.values())


def page(report: Report) -> str:
    """The whole HTML text."""
    for records in (report.curves, report.grid, report.others):
        if not isinstance(records, Sequence):
            raise ExperimentError(f"records is {quoted(records)}; give a list of records of tasks")
    checked([*report.curves, *report.grid, *report.others], "id", "task")
    checked(report.records, "rounds", "seconds", "machine", "versions", "finished")
    parts = [_head(report), _tiles(report), *map(pages.section, report.sheets)]
    if report.curves:
        parts.append(_curves(report.curves))
    if report.grid:
        parts.append(_grid(report.grid))
    parts += [_parameters(report.records), _machine(report.records)]
    return pages.document("the paper reproduced", parts)


def _head(report: Report) -> str:
    paper = f'<a href="{PAPER}">Zhang, Jung and Tewari (2019)</a>'
    last = max(record["finished"] for record in report.records)[:16].replace("T", " ")
    return (
        "<header><h1>Online Multiclass Boosting with Bandit Feedback</h1>"
        f"<p>The tables and figures of {paper}, made again by banditboost. "
        f"The last run ended on {html(last)} UTC.</p>"
        f'<pre class="command">$ {html(report.command)}</pre></header>'
    )


def _tiles(report: Report) -> str:
    records = report.records
    tiles = [
        (f"{len(records):,}", "runs"),
        (f"{sum(record['rounds'] for record in records):,}", "rounds played"),
        (_duration(sum(record["seconds"] for record in records)), "of one core"),
    ]
    for mode, marks in _marks(report.sheets).items():
        tiles.append((f"{marks.count('')} of {len(marks)}", f"{mode}: cells within {TOLERANCE} of the paper"))
        tiles.append((f"{marks.count('above')} / {marks.count('below')}", f"{mode}: cells above / below"))
    return pages.tiles(tiles)


def _marks(sheets: Iterable[Sheet]) -> dict[str, list[str]]:
    """On which side of the printed figure the cells of Tables 1 and 2 lie, for each mode."""
    marks: dict[str, list[str]] = {}
    for sheet in sheets:
        for number in sheet.numbers if sheet.name in SCORES else ():
            if number["difference"] is not None:
                marks.setdefault(number["protocol"], []).append(side(number["difference"]))
    return marks


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _curves(records: Sequence[Record]) -> str:
    note = f"{_means(records)} A circle at the end of a line is the paper's figure in Table 1."
    return _gallery("figures", "Figures 1 and 2: learning curves", note, records, figures.learning_curves)


def _grid(records: Sequence[Record]) -> str:
    note = f"{_means(records)} The dotted line is the rate that the paper chose for all three."
    return _gallery("exploration", "Exploration grid", note, records, figures.exploration)


def _means(records: Sequence[Record]) -> str:
    """What the lines of a figure are."""
    seeds = {len(runs) for runs in group(records, data_of, mode_of, learner_of, _rate_of).values()}
    if max(seeds) < FEWEST_FOR_AN_INTERVAL:
        return f"Mean over seeds, without intervals: these take at least {FEWEST_FOR_AN_INTERVAL} seeds."
    few = (
        f", where there are {FEWEST_FOR_AN_INTERVAL} seeds or more"
        if min(seeds) < FEWEST_FOR_AN_INTERVAL
        else ""
    )
    return f"Mean over seeds with its 95 % interval{few}."


def _rate_of(record: Record) -> float | None:
    """The exploration rate of a run, if its learner has one."""
    rate = record["task"].get("parameters", {}).get("exploration")
    return float(rate) if isinstance(rate, (int, float)) else None


def _gallery(name: str, title: str, note: str, records: Sequence[Record], draw: Any) -> str:
    panels = group(records, data_of, mode_of).items()
    pictures = "".join(
        pages.picture(draw(members, legend=False), f"{title}: {title_of(data)}, {mode}", mode)
        for (data, mode), members in panels
    )
    return (
        f'<section id="{name}"><h2>{title}</h2><p class="note">{note}</p>{_legend(records)}'
        f'<div class="gallery">{pictures}</div></section>'
    )


def _legend(records: Sequence[Record]) -> str:
    learners = list(group(records, learner_of))
    items = "".join(_legend_item(name, learners) for name in learners)
    return f'<ul class="legend">{items}</ul>'


def _legend_item(learner: str, learners: Sequence[str]) -> str:
    style = "dashed" if figures.dashes(learner) == "--" else "solid"
    line = f"border-top: 3px {style} {figures.colour(learner, learners)}"
    return f'<li><i style="{line}"></i>{html(learner)}</li>'


def _parameters(records: Iterable[Record]) -> str:
    """Each setting once, with the streams, seeds and exploration rates that it was played with."""
    rows = []
    for (data, mode, rounds, learner, parameters), runs in group(
        records, data_of, mode_of, _rounds, learner_of, _parameters_of
    ).items():
        seeds = sorted({record["task"]["seed"] for record in runs})
        rates = sorted(
            {
                record["task"]["parameters"]["exploration"]
                for record in runs
                if record["task"].get("parameters", {}).get("exploration") is not None
            },
            key=lambda rate: (isinstance(rate, str), rate),
        )
        explored = f"exploration {', '.join(map(value_text, rates))}; " if rates else ""
        rows.append(
            (
                Entry(title_of(data), f"{mode}: {rounds:,} rounds, seeds {_span(seeds)}"),
                Entry(learner),
                Entry(explored + parameters),
            )
        )
    return pages.section(
        Sheet(
            "parameters",
            "Parameters",
            "As recorded with each run.",
            ("Data", "Learner", "Parameters"),
            tuple(rows),
            (),
        )
    )


def _rounds(record: Record) -> int:
    return int(record["rounds"])


def _parameters_of(record: Record) -> str:
    """All in one line but exploration, of which a grid has many."""
    return ", ".join(
        f"{name} {value_text(value)}"
        for name, value in record["task"].get("parameters", {}).items()
        if name != "exploration"
    )


def _span(seeds: Sequence[int]) -> str:
    whole = len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[-1] + 1))
    return f"{seeds[0]} to {seeds[-1]}" if whole else ", ".join(map(str, seeds))


def _machine(records: Iterable[Record]) -> str:
    """Every machine and set of versions that took part."""
    told = [{**record["machine"], **record["versions"]} for record in records]
    places = {pages.facts(dict(sorted(facts.items()))): facts for facts in told}
    facts = "".join(map(pages.facts, places.values()))
    return f'<section id="machine"><h2>Machine and versions</h2>{facts}</section>'
