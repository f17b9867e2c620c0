"""How far runs agree with the printed tables."""

import pytest

from banditboost.experiments import agreement
from banditboost.experiments.protocol import ALGORITHMS, PRINTED
from tests.experiments import made_up


def shifted(shift, mode="ours", datasets=("balance", "car"), seeds=(4, 5, 6)):
    """Every cell as printed, and a little above or below."""
    return [
        made_up.record(data, name, seed, cell.total + shift, cell.last + shift, mode=mode)
        for data in datasets
        for name, cell in PRINTED[data].items()
        for seed in seeds
    ]


def counts(sheet, part, mode="ours"):
    row = next(row for row in sheet.numbers if (row["part"], row["protocol"]) == (part, mode))
    return row["within"], row["above"], row["below"]


def test_cells_are_counted_either_way_in_all_and_by_table_booster_and_data():
    records = shifted(0.021, datasets=("balance",)) + shifted(-0.02, datasets=("car",))
    records += shifted(-0.05, "text")
    sheet = agreement.within(records)
    assert counts(sheet, "all") == (10, 10, 0)
    assert counts(sheet, "all", "text") == (0, 0, 20)
    assert counts(sheet, "Table 1") == counts(sheet, "Table 2") == (5, 5, 0)
    assert [counts(sheet, name) for name in ALGORITHMS] == [(2, 2, 0)] * 5
    assert (counts(sheet, "Balance"), counts(sheet, "Car")) == ((0, 10, 0), (10, 0, 0))
    assert sheet.header == ("Cells", "text", "ours")
    assert (sheet.rows[0][2].main, sheet.rows[0][2].detail) == ("10 of 20", "10 above, 0 below")


def test_every_cell_is_there_once():
    found = agreement.cells(shifted(0.03) + shifted(0.0, "text"))
    keys = {(cell.table, cell.data, cell.algorithm, cell.mode) for cell in found}
    assert len(keys) == len(found) == 2 * 2 * 5 * 2
    assert {cell.side for cell in found if cell.mode == "ours"} == {"above"}
    assert {cell.side for cell in found if cell.mode == "text"} == {""}


def row_of(sheet, data, table):
    return next(row for row in sheet.rows if (row[0].main, row[1].main) == (data, table))


def test_the_printed_order_is_that_of_the_printed_figures():
    sheet = agreement.orders(shifted(0.0))
    row = row_of(sheet, "Car", "Table 1")
    assert row[2].main == "AdaBandit > AdaFull > OptBandit > BinBandit = OptFull"
    assert row[3].detail == ""
    assert sheet.numbers == ()


@pytest.mark.parametrize(
    ("gaps", "shown"),
    [((0.02, 0.021, 0.022), "OptFull before AdaFull"), ((0.2, -0.1, 0.0), "OptFull before AdaFull?")],
)
def test_a_pair_that_changes_places_is_named(gaps, shown):
    """OptFull is printed below AdaFull; those that are only maybe swapped have a question mark."""
    records = [made_up.record("car", "AdaFull", seed, 0.9) for seed in (4, 5, 6)]
    records += [
        made_up.record("car", "OptFull", seed, 0.9 + gap) for seed, gap in zip((4, 5, 6), gaps, strict=True)
    ]
    row = row_of(agreement.orders(records), "Car", "Table 2")
    assert (row[2].main, row[3].main, row[3].detail) == ("AdaFull > OptFull", "OptFull > AdaFull", shown)


def test_figures_that_are_printed_alike_have_no_order_to_change():
    records = [made_up.record("car", name, 4, 0.5, 0.5) for name in ("AdaBandit", "AdaFull")]
    records[0]["accuracy"] = 0.6
    sheet = agreement.orders(records)  # both are printed .93 in total
    assert row_of(sheet, "Car", "Table 2")[3].detail == ""
