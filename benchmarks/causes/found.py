"""Which patch brings a cell to print: the causes of cells beyond 0.02, from the records alone.

A patch is compared with the package as it was on the seeds that both have played. Of all that were tried on a cell
the one is taken that leaves least of the distance to print on the seeds of the tables: a choice among many, so that
it is judged on fresh seeds, which have chosen nothing; one that was not played on fresh seeds is said not to be
confirmed. It is a cause if the cell was beyond 0.02 without it, moves by more than two standard errors, and both
tables' figures come within 0.02 of print; and one in part if it takes away a third of the distance. Patches that put
back a fact are looked at first, one by one, then several of them together. A cell that is within 0.02 on fresh seeds,
or that two standard errors bring there, is said to be one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from banditboost.experiments.protocol import ALGORITHMS, MODES, PRINTED, STREAMS
from banditboost.experiments.tables import TOLERANCE, side
from benchmarks.causes.patches import UNCHANGED, Patch
from benchmarks.records import Record

UNKNOWN = "no cause found"
FIRST_FRESH = 24
"""Seeds of the tables are less."""
_LEAST_PART = 1 / 3
_ERRORS = 2.0
_FEWEST = 5  # fresh seeds that can call a cell chance
_FACT = r"[A-Z]\d"
_HEAD = """# Why cells of Tables 1 and 2 are beyond 0.02 of the printed figure: by mode, data set and algorithm.
# Made by `python -m benchmarks.causes --found` from causes.jsonl; accuracies are last fifth / whole stream.
"""


class Cell(NamedTuple):
    """What a line of the records is about."""

    data: str
    algorithm: str
    mode: str
    patch: str


Lines = Mapping[Cell, Record]
Scores = tuple[float, float]


@dataclass(frozen=True)
class Trial:
    """A patch against the package as it was, on the same seeds."""

    patch: Patch
    printed: Scores
    before: list[Scores]
    after: list[Scores]
    fresh: Trial | None = None
    """The same on seeds that the tables do not use, if it was played on them."""

    @property
    def judged(self) -> Trial:
        return self.fresh or self

    @property
    def gaps(self) -> tuple[float, float]:
        """The larger of both tables' distances to print, before and after."""
        return self._gap(self.before), self._gap(self.after)

    @property
    def is_whole(self) -> bool:
        before, after = self.gaps
        return before > TOLERANCE and not side(after) and self._is_sure()

    @property
    def is_part(self) -> bool:
        before, after = self.gaps
        return after <= (1 - _LEAST_PART) * before and self._is_sure()

    def _gap(self, scores: list[Scores]) -> float:
        return max(abs(mean - shown) for mean, shown in zip(means(scores), self.printed, strict=True))

    def _is_sure(self) -> bool:
        """Whether it moves the figure that was farther from print by more than chance."""
        distances = [abs(mean - shown) for mean, shown in zip(means(self.before), self.printed, strict=True)]
        table = distances.index(max(distances))
        moved = [b[table] - a[table] for a, b in zip(self.before, self.after, strict=True)]
        return abs(fmean(moved)) > two_errors(moved)

    def __str__(self) -> str:
        with_it, without = (
            " / ".join(f"{mean:.3f}" for mean in means(some)) for some in (self.after, self.before)
        )
        told = f"{with_it}, without {without} ({len(self.after)} seeds)"
        return f"{told}; fresh seeds: {self.fresh}" if self.fresh else told


def two_errors(numbers: Sequence[float]) -> float:
    """Of their mean; half the usual interval."""
    return _ERRORS * stdev(numbers) / sqrt(len(numbers))


def means(scores: list[Scores]) -> Scores:
    return fmean(last for last, _ in scores), fmean(total for _, total in scores)


def is_fact(patch: Patch) -> bool:
    """Whether every part puts back a numbered fact; others try what is not known, or another reading."""
    return all(re.match(_FACT, text) for text in patch.texts)


def causes(lines: Lines) -> dict[str, dict[str, dict[str, str]]]:
    """Mode -> data set -> algorithm -> why it is beyond 0.02.

    AdaFull's modes differ in the data of two streams only. It was played in the mode "text".
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for mode in MODES:
        for data in sorted(STREAMS):
            for algorithm in sorted(ALGORITHMS):
                played = mode if Cell(data, algorithm, mode, UNCHANGED) in lines else "text"
                base = lines.get(Cell(data, algorithm, played, UNCHANGED))
                if base is not None and is_beyond(base):
                    told = cause(base, list(trials(lines, data, algorithm, played)))
                    found.setdefault(mode, {}).setdefault(data, {})[algorithm] = told
    return found


def of_tables(line: Record) -> tuple[list[float], list[float]]:
    """Both figures of the seeds that the tables use."""
    played = [scores for seed, scores in scores_of(line).items() if seed < FIRST_FRESH]
    return [last for last, _ in played], [total for _, total in played]


def is_beyond(line: Record) -> bool:
    printed, (last, total) = PRINTED[line["data"]][line["algorithm"]], of_tables(line)
    return bool(side(fmean(last) - printed.last) or side(fmean(total) - printed.total))


def trials(lines: Lines, data: str, algorithm: str, mode: str) -> Iterator[Trial]:
    """Every patch that was played on this cell, or in the other mode if both modes play the cell alike."""
    base = scores_of(lines[Cell(data, algorithm, mode, UNCHANGED)])
    shown = PRINTED[data][algorithm]
    for name in sorted({cell.patch for cell in lines} - {UNCHANGED}):
        line = lines.get(Cell(data, algorithm, mode, name)) or _of_twin(
            lines, Cell(data, algorithm, mode, name)
        )
        played = scores_of(line) if line else {}
        made: Trial | None = None
        for is_fresh in (True, False):
            seeds = [seed for seed in sorted(set(base) & set(played)) if (seed >= FIRST_FRESH) == is_fresh]
            if len(seeds) > 2:
                before, after = [base[seed] for seed in seeds], [played[seed] for seed in seeds]
                made = Trial(Patch(name), (shown.last, shown.total), before, after, made)
        if made:
            yield made


def _of_twin(lines: Lines, cell: Cell) -> Record | None:
    """The cell in another mode, if unchanged both are the same to the last digit."""
    own = lines[cell._replace(patch=UNCHANGED)]
    for mode in MODES:
        other = lines.get(cell._replace(mode=mode, patch=UNCHANGED))
        if mode != cell.mode and other is not None and scores_of(other) == scores_of(own):
            return lines.get(cell._replace(mode=mode))
    return None


def scores_of(line: Record) -> dict[int, Scores]:
    return dict(zip(line["seeds"], zip(line["last"], line["total"], strict=True), strict=True))


def may_be_chance(line: Record) -> bool:
    """Whether two standard errors bring both tables' figures within 0.02 of print."""
    printed, (last, total) = PRINTED[line["data"]][line["algorithm"]], of_tables(line)
    pairs = (last, printed.last), (total, printed.total)
    return all(abs(fmean(some) - shown) - two_errors(some) <= TOLERANCE for some, shown in pairs)


def cause(base: Record, tried: list[Trial]) -> str:
    """A sentence or two: facts one by one, facts together, and what is no fact but would do."""
    if is_chance(base):
        return f"{UNKNOWN}: on {len(fresh_of(base))} fresh seeds it is within 0.02, so it may be chance."
    facts = [trial for trial in tried if is_fact(trial.patch)]
    alone = best(trial for trial in facts if len(trial.patch.files) == 1)
    together = best(trial for trial in facts if len(trial.patch.files) > 1)
    other = best(trial for trial in tried if not is_fact(trial.patch))
    if alone and alone.judged.is_whole:
        return f"{unconfirmed(alone)}{explained(alone)}. With it {alone}. {of_how_many(facts)}"
    told = []
    if alone and alone.judged.is_part:
        told.append(f"{unconfirmed(alone)}In part: {explained(alone)}. With it {alone}.")
    if together and (together.judged.is_whole or (together.judged.is_part and leaves_less(together, alone))):
        how_far = "Together" if together.judged.is_whole else "In part, together"
        told.append(f"{unconfirmed(together)}{how_far}: {explained(together)}. With them {together}.")
    told = [*told, of_how_many(facts)] if told else [nothing(base, facts)]
    if other and other.judged.is_whole and not (together and together.judged.is_whole):
        told.append(f"No fact of the program, but it would do: {explained(other)}. With it {other}.")
    return " ".join(told)


def fresh_of(line: Record) -> list[Scores]:
    return [scores for seed, scores in scores_of(line).items() if seed >= FIRST_FRESH]


def is_chance(line: Record) -> bool:
    """Whether the package as it was is within 0.02 on fresh seeds."""
    fresh, printed = fresh_of(line), PRINTED[line["data"]][line["algorithm"]]
    if len(fresh) < _FEWEST:
        return False
    last, total = means(fresh)
    return not side(last - printed.last) and not side(total - printed.total)


def unconfirmed(trial: Trial) -> str:
    return "" if trial.fresh else "Not confirmed on fresh seeds: "


def leaves_less(one: Trial, other: Trial | None) -> bool:
    return other is None or one.judged.gaps[1] < other.judged.gaps[1]


def of_how_many(facts: list[Trial]) -> str:
    return f"(Best of {len(facts)} tried.)"


def nothing(base: Record, facts: list[Trial]) -> str:
    names = sorted(trial.patch.name for trial in facts)
    told = f"{UNKNOWN}; tried: {', '.join(names)}."
    return (
        f"{told} It may be chance: two standard errors bring it within 0.02." if may_be_chance(base) else told
    )


def best(some: Iterable[Trial]) -> Trial | None:
    """The one that leaves least."""
    return min(some, key=lambda trial: trial.gaps[1], default=None)


def explained(trial: Trial) -> str:
    """What the parts do, without the numbers of the facts."""
    told = [
        re.sub("^" + _FACT + "[^:]*: ", "", text.splitlines()[0].rstrip(".")) for text in trial.patch.texts
    ]
    return "; and ".join(told)


def toml(found: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    """As docs/results/causes.toml has it."""
    lines = [_HEAD]
    for mode, datasets in found.items():
        for data, algorithms in datasets.items():
            told = [f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in algorithms.items()]
            lines += [f"[{mode}.{data}]", *told, ""]
    return "\n".join(lines)
