"""Tables of learners side by side, and of what a search has found; made from records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.grouping import (
    Estimate,
    data_of,
    estimate,
    group,
    is_told_the_label,
    lead,
    learner_of,
    title_of,
)
from banditboost.experiments.records import Record, checked
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.experiments.statistics import PairedDifference
from banditboost.experiments.tune import Ranked
from banditboost.experiments.wording import count, finite, interval_note, signed, value_text
from banditboost.validation import check_choice

_SCORES = {"accuracy": "Whole stream", "last_accuracy": "Last fifth", "greedy_accuracy": "Greedy label"}
_TOLD = "right label"
_NOT_TOLD = "verdict"
_LEAD = 3  # the column of differences
_Place = TypeVar("_Place")


def summary(records: Iterable[Record], against: str | None = None) -> Sheet:
    """Learners side by side on one stream, the best first, each with its lead over one of them.

    Args:
        records: of one stream.
        against: the learner that the others are compared with; None is the best of those that are not told
            the label.
    """
    records = checked(records, "rounds", "n_labels", "rounds_per_second", "memory_bytes", *_SCORES)
    learners = group(records, learner_of)
    scores = {learner: estimate(members, "accuracy") for learner, members in learners.items()}
    ranked = sorted(learners, key=lambda learner: -scores[learner].mean)
    reference = _reference(ranked, against)
    rows, numbers = [], []
    for learner in ranked:
        ahead = lead(learners[learner], learners[reference], "accuracy")
        entries, figures = _measures(learners[learner])
        told = _TOLD if is_told_the_label(learner) else _NOT_TOLD
        seeds = (
            ""
            if len({len(members) for members in learners.values()}) == 1
            else count(len(learners[learner]), "seed")
        )
        rows.append(
            (
                Entry(learner, seeds),
                Entry(told),
                *entries[:1],
                _lead_entry(ahead, learner == reference),
                *entries[1:],
            )
        )
        numbers.append({"learner": learner, "feedback": told, **figures, **_lead_figures(ahead, reference)})
    whole, *others = _SCORES.values()
    header = ("Learner", "Feedback", whole, f"Minus {reference}", *others, "Rounds/s", "MiB")
    note = _summary_note(list(scores.values()), reference, chosen=against is not None)
    if len(ranked) == 1:  # there is nobody to compare it with
        header, rows = _without_lead(header), [_without_lead(row) for row in rows]
    return Sheet("summary", _stream_title(records, learners), note, header, tuple(rows), tuple(numbers))


def _reference(ranked: Sequence[str], against: str | None) -> str:
    if against is None:
        return next((learner for learner in ranked if not is_told_the_label(learner)), ranked[0])
    return check_choice("against", against, ranked)


def _lead_entry(ahead: PairedDifference, is_reference: bool) -> Entry:
    if is_reference:
        return Entry("-")
    spread = f" ± {ahead.half_width:.3f}" if ahead.half_width == ahead.half_width else ""
    return Entry(signed(ahead.mean) + spread)


def _without_lead(row: tuple[_Place, ...]) -> tuple[_Place, ...]:
    return *row[:_LEAD], *row[_LEAD + 1 :]


def _lead_figures(ahead: PairedDifference, reference: str) -> dict[str, Any]:
    return {
        "against": reference,
        "difference": round(ahead.mean, 5),
        "difference_half_interval": finite(ahead.half_width),
        "common_seeds": ahead.seeds,
    }


def _summary_note(scores: Sequence[Estimate], reference: str, *, chosen: bool) -> str:
    note = (
        f"Accuracy: {interval_note(scores)} Who has the feedback '{_TOLD}' is told it after every round; "
        "the others hear only right or wrong."
    )
    if len(scores) == 1:
        return note
    note += f" Minus {reference}: difference on the same seeds"
    if any(score.has_interval for score in scores):
        note += ", with the 95 % interval of a paired t test, for each comparison by itself"
    if not chosen:
        note += f"; {reference} was picked after the runs, as the best, which flatters it a little"
    return f"{note}."


def ranking(title: str, ranked: Sequence[Ranked]) -> Sheet:
    """What a search has found, the best first."""
    if not ranked:
        raise ExperimentError("ranked is empty; give what a search has found")
    names = list(ranked[0].parameters)
    rows, numbers = [], []
    scores = [Estimate(candidate.mean, candidate.half_width, candidate.seeds) for candidate in ranked]
    for candidate, found in zip(ranked, scores, strict=True):
        values = [value_text(candidate.parameters[name]) for name in names]
        rows.append((*map(Entry, values), Entry(str(found)), Entry(f"{candidate.rounds:,}")))
        spread = {
            "accuracy": candidate.mean,
            "half_interval": finite(candidate.half_width),
            "seeds": candidate.seeds,
        }
        numbers.append({**dict(zip(names, values, strict=True)), **spread, "rounds": candidate.rounds})
    note = f"Accuracy: {interval_note(scores)}"
    return Sheet("ranking", title, note, (*names, "Accuracy", "Rounds"), tuple(rows), tuple(numbers))


def _measures(records: Sequence[Record]) -> tuple[tuple[Entry, ...], dict[str, Any]]:
    """Accuracies, speed and memory: for people, and for machines."""
    scores = {score: estimate(records, score) for score in _SCORES}
    speed = estimate(records, "rounds_per_second").mean
    memory = max(int(record["memory_bytes"]) for record in records)
    entries = (
        *(Entry(str(found)) for found in scores.values()),
        Entry(f"{speed:,.0f}"),
        Entry(f"{memory / 2**20:.1f}"),
    )
    figures: dict[str, Any] = {}
    for score, found in scores.items():
        figures |= {score: found.mean, f"{score}_half_interval": finite(found.half_width)}
    return entries, {**figures, "rounds_per_second": speed, "memory_bytes": memory, "seeds": len(records)}


def _stream_title(records: Sequence[Record], learners: Mapping[str, Sequence[Record]]) -> str:
    stream = records[0]
    sizes = {len(members) for members in learners.values()}
    seeds = f", {count(sizes.pop(), 'seed')}" if len(sizes) == 1 else ""
    labels = count(stream["n_labels"], "label")
    return f"{title_of(data_of(stream))}: {count(stream['rounds'], 'round')}, {labels}{seeds}"
