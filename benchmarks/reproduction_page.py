"""docs/results/tables.md and the tables beside it as CSV, from the kept records and causes alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from banditboost.experiments import agreement, estimators, searches, sheets, tables
from banditboost.experiments.grouping import title_of
from banditboost.experiments.sheets import Sheet
from banditboost.experiments.wording import signed
from benchmarks.records import Record
from benchmarks.reproduction import UNKNOWN, Causes, runs_of

PAGE_NAME: Final = "tables.md"
PAGE: Final = """# The paper's tables, made again

`banditboost reproduce all`: the paper's streams, N, rho and gamma in two modes. **Text** is what the paper's text says wherever it speaks;
**ours** is what the package does. [Where the text is silent](../guide-reproducing.md#what-the-text-says-and-where-it-is-silent) both do the same, and
[what we do differently](../deviations.md) tells the rest. Seeds are 4 to 23, and 4 to 13 for Isolet and Movement.
{runs} runs, {rounds} million rounds, {minutes} minutes of play, one run at a time beside other work; {days}; {machines}; {versions}. Runs are in `tables.jsonl.gz`, without their curves.

{within}
{table1}
As a file: [table1.csv](table1.csv).

{table2}
As a file: [table2.csv](table2.csv).

{orders}
## Cells beyond 0.02

Every cell of Tables 1 and 2 that is more than 0.02 from the printed figure, with a cause that was found by experiment or the words "{unknown}".
The difference from print is in parentheses; a dash is within 0.02.

{beyond}

## Learning curves

Moving averages over a fifth of the stream, means over the seeds with 95 % intervals, the text's mode to the left, ours to the right. Circles are the printed
figures of Table 1 (the paper's Figures 1 and 2; `banditboost reproduce figure1`).

![Figure 1: Car and Isolet](figure1.png)

![Figure 2: Balance, Nursery, Movement, Mice](figure2.png)

{table4}
As a file: [table4.csv](table4.csv). The paper names one rate for each data set and neither grid nor accuracies; rates and seeds are our choice, the number of
repeats is that of its Table 4.

![Accuracy against the exploration rate](exploration.png)

{estimators}
The text says that (4) does "much better", and prints no number. As a file: [estimators.csv](estimators.csv).

{learners}
As a file: [learners.csv](learners.csv).
"""


def made(records: Sequence[Record]) -> dict[str, Sheet]:
    """Every table by name."""
    played = runs_of("table1", records)
    return {
        "within": agreement.within(played),
        "table1": tables.table1(played),
        "table2": tables.table2(played),
        "orders": agreement.orders(played),
        "table4": searches.table4(runs_of("table4", records)),
        "estimators": estimators.estimators(runs_of("estimators", records)),
        "learners": searches.learners(runs_of("learners", records)),
    }


def files(records: Sequence[Record], causes: Causes) -> dict[str, str]:
    """The page, and the tables for machines: name of a file -> what is in it."""
    shown = made(records)
    return {
        PAGE_NAME: page(shown, records, causes),
        **{f"{name}.csv": sheets.csv_text(shown[name]) for name in CSV},
    }


CSV: Final = ("table1", "table2", "table4", "estimators", "learners")


def page(shown: dict[str, Sheet], records: Sequence[Record], causes: Causes) -> str:
    markdown = {name: sheets.markdown(sheet).replace("###", "##", 1) for name, sheet in shown.items()}
    return PAGE.format(
        **markdown,
        beyond=beyond_table(runs_of("table1", records), causes),
        unknown=UNKNOWN,
        runs=f"{len(records):,}",
        rounds=f"{sum(record['rounds'] for record in records) / 1e6:.0f}",
        minutes=f"{sum(record['seconds'] for record in records) / 60:.0f}",
        days=_each(sorted(record["finished"][:10] for record in records)),
        machines=_each(
            f"{record['machine']['cpu']}, {record['machine']['cores']} cores" for record in records
        ),
        versions=_each(
            " ".join(f"{name} {version}" for name, version in record["versions"].items())
            for record in records
        ),
    )


def _each(values: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(values))


def beyond_table(records: Sequence[Record], causes: Causes) -> str:
    """A line for each mode, data set and algorithm with a cell beyond the tolerance."""
    found = agreement.cells(records)
    lines = ["| mode | data | algorithm | Table 1 | Table 2 | cause |", "|---|---|---|---|---|---|"]
    for mode, datasets in causes.items():
        for data, algorithms in datasets.items():
            for algorithm, cause in algorithms.items():
                pair = [
                    cell
                    for cell in found
                    if (cell.mode, cell.data, cell.algorithm) == (mode, data, algorithm)
                ]
                figures = " | ".join(map(_figure, pair))
                lines.append(f"| {mode} | {title_of(data)} | {algorithm} | {figures} | {cause} |")
    return "\n".join(lines)


def _figure(cell: agreement.Cell) -> str:
    return f"{cell.mean:.3f} ({signed(cell.mean - cell.printed)})" if cell.side else "-"
