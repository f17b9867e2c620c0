"""Tables on a terminal: whatever its width, names and numbers can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from banditboost.cli import output
from banditboost.experiments import comparison, tables
from banditboost.experiments.sheets import Entry, Sheet
from tests.experiments import made_up

NAMES = ("AdaBandit", "AdaBandit+mymodule:MyClass", "GapBoost")


def printed(sheet: Sheet, width: int) -> list[str]:
    """The lines that a terminal of this width shows."""
    screen = Console(width=width, highlight=False, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: SIM115
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "console", lambda: screen)
        output.print_sheet(sheet)
    screen.file.close()
    return screen.export_text().splitlines()


def summary() -> Sheet:
    records = [
        made_up.record(learner=name.partition("+")[0], seed=seed, accuracy=0.7 + place / 10 + seed / 1000)
        for place, name in enumerate(NAMES)
        for seed in (4, 5, 6)
    ]
    for record in records[3:6]:
        record["task"]["parameters"]["weak_learner"] = NAMES[1].partition("+")[2]
    return comparison.summary(records)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_learners_can_be_told_apart(width: int) -> None:
    lines = printed(summary(), width)
    assert all(len(line) <= width for line in lines)
    for name in NAMES:
        assert any(line.startswith(f"│ {name} ") for line in lines), name
    assert "…" not in "".join(lines)


def test_a_table_that_does_not_fit_is_two_with_the_names_in_front() -> None:
    sheet = summary()
    lines = printed(sheet, 80)
    assert sum(line.startswith("┃ Learner ") for line in lines) == 2
    for name in sheet.header[1:]:
        assert sum(name in line for line in lines if line.startswith("┃")) == 1, name
    assert sum(line.startswith("┃ Learner ") for line in printed(sheet, 160)) == 1


def test_a_row_keeps_all_its_names_where_the_table_does_not_fit() -> None:
    records = made_up.paper(datasets=("car",), seeds=(4, 5, 6), modes=("text", "ours"))
    lines = printed(tables.table1(records), 60)
    headings = [line for line in lines if line.startswith("┃ Data")]
    assert len(headings) > 1
    assert all("Protocol" in line for line in headings)
    assert sum("│ printed " in line for line in lines) == len(headings)


@given(
    st.lists(st.text("ab cdé", min_size=1, max_size=30), min_size=1, max_size=6),
    st.lists(st.text("0.± 12", min_size=1, max_size=30), min_size=6, max_size=6),
    st.integers(40, 120),
)
def test_nothing_is_left_out(header: list[str], cells: list[str], width: int) -> None:
    row = tuple(Entry(cell) for cell in cells[: len(header)])
    sheet = Sheet("name", "title", "note", tuple(header), (row,), ())
    shown = "".join("".join(printed(sheet, width)).split())
    assert "…" not in shown
    columns = [column for part in output._parts(sheet, width) for column in part[1:]]
    assert columns == list(range(1, len(header)))
