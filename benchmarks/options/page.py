"""The page of options with features, made from records alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from banditboost.experiments.statistics import mean_interval
from benchmarks.options.logs import LOG
from benchmarks.options.plan import PAGE, Record
from benchmarks.options.players import GUESSING, LINEAR, OURS, PEER
from benchmarks.options.speed import SPEED
from benchmarks.options.stream import REPORTING
from benchmarks.options.streams import tasks
from benchmarks.records import FOLDER
from benchmarks.tables import render

RECORDS = FOLDER / "options.jsonl"
PAGE_NAME = "options.md"
HEADER = (
    "stream",
    "for",
    "rounds",
    "options",
    OURS,
    PEER,
    "",
    "which",
    LINEAR,
    "",
    GUESSING,
    "best possible",
)
TEXT = """# Options with features of their own

OptionBoost with its defaults beside Vowpal Wabbit's `--cb_explore_adf` and LinUCB, both tuned for every
stream. *Shops* are simulated: visitors and items have columns, and who clicks what hangs on both; half of the
items are replaced half-way. In *thresholds* columns count by their sides of a threshold only, in *triples* two
columns of the visitor decide together about one of the item, in *nearness* visitor and item have places.
Then labelled sets whose labels are given as options: by their *names* alone, or *described* by five
numbers, the means of columns over other rows of that label.

{table}

Mean reward over the whole stream, then in the last fifth, ± half the 95 % interval over {seeds} seeds; *best
possible* knows what each option earns on average. *Which* is the explorer that was best for Vowpal Wabbit while it
was tuned. ▲ and ▼: OptionBoost is ahead or behind by more than the 95 % interval of the difference on the same
seeds; with so few seeds this interval is wide, and ≈ says little. {found}

{played} of {planned} streams have been played; the same command goes on with the others.

{logs}{speed}## How it is measured

- `python -m benchmarks.options` plays what is not in [the record](options.jsonl) yet, and writes this page.
  `--speed` measures the times.
- Clicks are told as 0 or 1; mean rewards are the known click rates of what was shown.
- Streams *for choosing* were looked at while OptionBoost was made; those *for reporting* were not played by
  it before its first constants were set, but for 1,500 rounds of the shop of 10 items, in another order of
  visitors, of which nothing was taken. Then this page's own result, that it was behind on described sets (segments,
  lookup, penbased, satimage, mice), was the reason to look for what was missing: *lines*, regressions of single ids.
  Their constants were chosen on described balance, car and gaussians, on twelve other described sets that are not
  on this page (corners, terrain, clusters, digits, rbf, drift, texture, vehicle, contraceptive, friedman,
  randomtree, libras) and on eight shops with other numbers, seeds 14 to 16.
- Vowpal Wabbit is tuned for every stream on the first 2,500 rounds of another seed (labelled sets: 800): squarecb,
  regcb, epsilon and bag with the products of context and option (`-q ua`), each with costs 1 - reward and -reward;
  then around the best of these the explorer's other parameter, learning rates of 0.1 and 2, no products, products with pairs of the context's
  columns (`--interactions uua`) or of context and option's id (`-q ui`), and `--cb_type dr` where there is a choice. The shop of 1,000 items is played with the setting of that
  of 100. Numbers are standardised for it over the whole stream. Every option has its id as a feature.
- LinUCB is a ridge regression on the columns of both sides and all their products, one for all options; the
  factor of its deviations is tuned among 0.1, 0.3 and 1. Beyond 300 products it has the columns alone.
- Above on nine of ten streams was wanted: against Vowpal Wabbit it is so, against LinUCB it is not. LinUCB is above on
  streams whose truth is nearly linear (preferences, largest, waveform), on described nursery, on exclusive and on
  the shops with 1 and 3 % clicks. Lines cost a little where clicks are rare: losses differ too little there to
  tell soon that lines say nothing. On five streams of that kind that were made to find out (the
  largest of 3 to 8 linear scores, seeds 14 to 16) the greedy options earn as much as those that are shown, so what is
  missing is learned, not lost to exploration: the regressions begin with all products of a kind together at
  variance 1, LinUCB with each of them. Four times that variance lifts the noise-free one from .702 to .752,
  and lowers described gaussians from .680 to .651, digits from .804 to .768 and the wide shop from .379 to .339: it was left.
- {origin}
"""
LOGS = """## On logs

{table}

Click rates that a model would have had while it learned from a log of the Open Bandit data, by importance
weights, ± half the 95 % interval. Items were shown at random there, and clicks are few: the intervals tell
how little these logs can say. Vowpal Wabbit has squarecb, mtr and `-q ua`, not tuned.

"""
TIMES = """## The time of a decision

{table}

Milliseconds of CPU time for a decision (and for a decision with its lesson), among options with 20 columns
each and a context of 10, in turns in one run. The same options come each time, which are coded once; *changed*: a column of
each is another one each time. The *quotient* is Vowpal Wabbit's time with texts by ours, which counts reading dicts.
Vowpal Wabbit has the setting that was best on the shop of 100 items, and is timed with texts that were read
beforehand: *with texts* counts making and reading them.

"""


def write(records: Sequence[Record], folder: Path = FOLDER) -> Path:
    path = folder / PAGE_NAME
    path.write_text(page(records), encoding="utf-8")
    return path


def page(records: Sequence[Record]) -> str:
    shown = [record for record in records if record["purpose"] == PAGE]
    streams = list(dict.fromkeys(record["stream"] for record in shown))
    lines = [line for stream in streams if (line := _line(stream, shown)) is not None]
    return TEXT.format(
        table=render(HEADER, lines),
        seeds=len({record["seed"] for record in shown}),
        found=_found(lines),
        played=len(lines),
        planned=len(tasks()),
        logs=_logs([record for record in records if record["purpose"] == LOG]),
        speed=_speed([record for record in records if record["purpose"] == SPEED]),
        origin=_origin(shown),
    )


def _line(stream: str, records: Sequence[Record]) -> tuple[str, ...] | None:
    by_player: dict[str, list[Record]] = {}
    for record in records:
        if record["stream"] == stream:
            by_player.setdefault(record["player"], []).append(record)
    if OURS not in by_player or PEER not in by_player:
        return None
    ours, theirs = by_player[OURS], _tuned_last(by_player[PEER])
    linear = _tuned_last(by_player.get(LINEAR, []))
    return (
        stream, ours[0]["streams_for"], f"{ours[0]['rounds']:,}", str(ours[0]["options"]), _both(ours),
        _both(theirs), _mark(ours, theirs), theirs[0]["settings"]["explorer"].removeprefix("--").split()[0],
        _both(linear), _mark(ours, linear), _mean(by_player.get(GUESSING, []), "mean"), f"{_plain(ours, 'best'):.4f}",
    )  # fmt: skip


def _tuned_last(records: Sequence[Record]) -> list[Record]:
    """Those with the settings that were chosen last, where tuning was widened."""
    return [record for record in records if record["settings"] == records[-1]["settings"]]


def _both(records: Sequence[Record]) -> str:
    return f"{_mean(records, 'mean')}, {_plain(records, 'last'):.4f}" if records else "-"


def _plain(records: Sequence[Record], name: str) -> float:
    return sum(record[name] for record in records) / len(records)


def _mean(records: Sequence[Record], name: str) -> str:
    if not records:
        return "-"
    mean, half = mean_interval([record[name] for record in records])
    return f"{mean:.4f} ± {half:.4f}"


def _mark(ours: Sequence[Record], theirs: Sequence[Record]) -> str:
    if not theirs:
        return ""
    of = {record["seed"]: record["mean"] for record in theirs}
    differences = [record["mean"] - of[record["seed"]] for record in ours if record["seed"] in of]
    mean, half = mean_interval(differences) if differences else (0.0, 0.0)
    if not abs(mean) > half:
        return "≈"
    return "▲" if mean > 0 else "▼"


def _found(lines: Sequence[tuple[str, ...]]) -> str:
    told = []
    for what, some in (("all", lines), ("those for reporting", [li for li in lines if li[1] == REPORTING])):
        for peer, column, number in ((PEER, 6, 5), (LINEAR, 9, 8)):
            ahead, behind = (sum(line[column] == mark for line in some) for mark in "▲▼")
            higher = sum(_first(line[4]) > _first(line[number]) for line in some if line[number] != "-")
            played = sum(line[number] != "-" for line in some)
            told.append(
                f"Of {what} ({played}), OptionBoost's mean reward is above {peer}'s on {higher}: ahead by more than "
                f"the interval on {ahead}, level on {played - ahead - behind}, behind on {behind}."
            )
    return " ".join(told)


def _first(cell: str) -> float:
    return float(cell.split()[0])


def _speed(records: Sequence[Record]) -> str:
    header = ("options", OURS, "changed", "with its lesson", PEER, "with texts", "quotient")
    rows = [
        (
            f"{record['options']:,}",
            f"{record['ours']:.3f}",
            f"{record['ours_changed']:.3f}",
            f"{record['ours_both']:.3f}",
            f"{record['peer']:.3f}",
            f"{record['peer_texts']:.3f}",
            f"{record['peer_texts'] / record['ours']:.1f}",
        )
        for record in records
    ]
    return TIMES.format(table=render(header, rows)) if rows else ""


def _logs(records: Sequence[Record]) -> str:
    if not records:
        return ""
    cells = {(r["stream"], r["player"]): f"{r['mean']:.4f} ± {r['half']:.4f}" for r in records}
    rows = [
        (r["stream"], f"{r['rounds']:,}", str(r["options"]), str(r["clicks"]),
         *(cells.get((r["stream"], player), "-") for player in (OURS, PEER, GUESSING)))
        for r in records
        if r["player"] == OURS
    ]  # fmt: skip
    return LOGS.format(table=render(("log", "rows", "items", "clicks", OURS, PEER, GUESSING), rows))


def _origin(records: Sequence[Record]) -> str:
    if not records:
        return "Nothing was played yet."
    machine = ", ".join(f"{name} {value}" for name, value in records[-1]["machine"].items())
    return f"Measured until {max(record['finished'] for record in records)[:10]} ({machine})."
