"""Tables made of records: the right means in the right places, beside the paper's figures."""

import csv
import io

import pytest

from banditboost.errors import ParameterError
from banditboost.experiments import comparison, estimators, searches, sheets, tables
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.protocol import ALGORITHMS, PRINTED, STREAMS
from banditboost.experiments.tune import Ranked
from tests.experiments import made_up


def entry(sheet, row, column, protocol="ours"):
    """The place of a sheet under a heading, in the row that begins with a name, in a mode if it has them."""
    lines = [line for line in sheet.rows if line[0].main == row]
    line = next(line for line in lines if "Protocol" not in sheet.header or line[1].main == protocol)
    return line[sheet.header.index(column)]


def test_a_cell_has_ours_the_interval_the_papers_figure_and_the_difference():
    records = [
        made_up.record("car", "AdaBandit", seed, 0.9, last)
        for seed, last in ((4, 0.94), (5, 0.96), (6, 0.98))
    ]
    cell = entry(tables.table1(records), "Car", "AdaBandit")
    assert cell.main == "0.960 ± 0.050"  # Student t with 2 degrees of freedom: 4.303 x 0.02 / sqrt(3)
    assert cell.detail == "−0.020"
    assert cell.mark == ""
    assert entry(tables.table1(records), "Car", "AdaBandit", "printed").main == "0.98"
    assert entry(tables.table1(records), "Car", "AdaBandit", "program").main == "0.974"


def test_table_2_is_about_the_whole_stream():
    records = [made_up.record("car", "AdaBandit", seed, 0.9, 0.5) for seed in (4, 5, 6)]
    cell = entry(tables.table2(records), "Car", "AdaBandit")
    assert cell.main == "0.900 ± 0.000"
    assert cell.detail == "−0.030"
    assert entry(tables.table2(records), "Car", "AdaBandit", "printed").main == "0.93"
    assert entry(tables.table2(records), "Car", "AdaBandit", "program").main == "0.929"


def test_the_modes_stand_below_each_other_between_print_and_the_authors_program():
    text = [made_up.record("movement", "AdaFull", mode="text", last=0.9, rounds=165_632)]
    ours = [made_up.record("movement", "AdaFull", last=0.95)]
    sheet = tables.table1(ours + text + [made_up.record("balance", "OptFull", last=0.7)])
    assert [(row[0].main, row[1].main) for row in sheet.rows] == [
        *(("Balance", name) for name in ("printed", "ours", "program")),
        *(("Movement", name) for name in ("printed", "text", "ours")),  # the program was not measured there
    ]
    assert entry(sheet, "Movement", "AdaFull", "text") == sheets.Entry("0.900", "−0.070", "below")
    assert entry(sheet, "Movement", "AdaFull", "ours") == sheets.Entry("0.950", "−0.020")
    assert entry(sheet, "Movement", "Protocol", "text").detail == "165,632 rounds"
    assert [(row["data"], row["protocol"], row["accuracy"]) for row in sheet.numbers] == [
        ("balance", "ours", 0.7),
        ("movement", "text", 0.9),
        ("movement", "ours", 0.95),
    ]


@pytest.mark.parametrize(("last", "mark"), [(1.0, ""), (0.9601, ""), (0.959, "below"), (1.001, "above")])
def test_cells_off_by_more_than_two_hundredths_are_marked(last, mark):
    assert entry(tables.table1([made_up.record(last=last)]), "Car", "AdaBandit").mark == mark


@pytest.mark.parametrize(("seeds", "said"), [((4,), "one seed"), ((4, 5), "mean over 2 seeds")])
def test_below_three_seeds_there_is_no_interval_and_it_is_said(seeds, said):
    sheet = tables.table1([made_up.record(seed=seed, last=0.97) for seed in seeds])
    assert entry(sheet, "Car", "AdaBandit").main == "0.970"
    assert sheet.numbers[0]["half_interval"] is None
    assert sheet.numbers[0]["seeds"] == len(seeds)
    assert f"{said}; intervals take at least 3 seeds." in sheet.note


def test_where_only_some_have_an_interval_it_is_said():
    many = [made_up.record("car", "AdaBandit", seed) for seed in (4, 5, 6)]
    assert (
        "over seeds; intervals take at least 3 seeds."
        in tables.table1([*many, made_up.record("balance", "OptFull")]).note
    )
    assert "intervals take" not in tables.table1(many).note


def test_a_small_difference_is_no_minus_zero():
    assert entry(tables.table1([made_up.record(last=0.9799)]), "Car", "AdaBandit").detail == "+0.000"


def test_rows_and_columns_come_in_the_papers_order_whatever_the_records_order():
    records = made_up.paper(seeds=(4, 5))
    sheet = tables.table1(records[::-1])
    assert sheet == tables.table1(records)
    assert sheet.header == ("Data", "Protocol", *ALGORITHMS)
    assert [row[0].main.lower() for row in sheet.rows if row[1].main == "ours"] == list(STREAMS)
    assert len(sheet.numbers) == 30
    assert {
        number["data"]: number["paper"] for number in sheet.numbers if number["algorithm"] == "AdaFull"
    } == {data: cells["AdaFull"].last for data, cells in PRINTED.items()}


def test_what_was_not_run_is_a_dash():
    sheet = tables.table1([made_up.record("car", "AdaBandit"), made_up.record("balance", "OptFull")])
    assert entry(sheet, "Car", "OptFull").main == "-"
    assert len(sheet.numbers) == 2


def test_table_4_finds_the_best_rate_and_its_gain():
    sheet = searches.table4(made_up.grid(datasets=("mice",)))
    assert sheet.header[:4] == ("Data", "Protocol", "ρ of the paper", "One ρ for all")
    assert sheet.header[4:] == ("OptBandit", "AdaBandit", "BinBandit")
    assert entry(sheet, "Mice", "ρ of the paper").main == "0.1"
    for column in sheet.header[3:]:
        assert entry(sheet, "Mice", column).main == "0.01"
        assert ", +0.0" in entry(sheet, "Mice", column).detail
    assert len(sheet.numbers) == 4 * len(made_up.RATES)


def test_one_rate_for_all_has_an_interval_over_seeds_and_not_over_learners():
    """Learners that are far apart, each the same with every seed: nothing depends on the seed."""
    scores = {"OptBandit": 0.5, "AdaBandit": 0.7, "BinBandit": 0.9}
    records = [
        made_up.record("mice", name, seed, score, exploration=0.1)
        for name, score in scores.items()
        for seed in (4, 5, 6)
    ]
    assert entry(searches.table4(records), "Mice", "One ρ for all").detail.startswith("0.700 ± 0.000")
    two = searches.table4([record for record in records if record["task"]["seed"] < 6])
    assert "±" not in entry(two, "Mice", "One ρ for all").detail
    assert two.numbers[0]["seeds"] == 2
    assert "mean over 2 seeds; intervals take at least 3 seeds" in two.note


def test_of_equally_good_rates_the_lowest_is_best():
    records = [made_up.record(accuracy=0.8, exploration=rate) for rate in (0.1, 0.01, 0.05)]
    assert entry(searches.table4(records), "Car", "AdaBandit").main == "0.01"


def test_the_summary_puts_learners_side_by_side():
    scores = {"AdaBandit": 0.5, "AdaFull": 0.9, "Majority": 0.3, "GapBoost": 0.7}
    records = [
        made_up.record("pets", learner, seed, score + seed / 100)
        for learner, score in scores.items()
        for seed in (1, 2, 3)
    ]
    sheet = comparison.summary(records)
    assert [row[0].main for row in sheet.rows] == ["AdaFull", "GapBoost", "AdaBandit", "Majority"]
    assert sheet.title == "pets: 1,000 rounds, 3 labels, 3 seeds"
    assert sheet.numbers[2]["accuracy"] == pytest.approx(0.52)
    assert entry(sheet, "AdaFull", "MiB").main == "3.0"
    assert [entry(sheet, name, "Feedback").main for name in ("AdaFull", "GapBoost")] == [
        "right label",
        "verdict",
    ]


def test_the_lead_is_that_on_the_same_seeds():
    def runs(learner, scores):
        return [made_up.record("pets", learner, seed, score) for seed, score in scores.items()]

    records = runs("GapBoost", {1: 0.9, 2: 0.7, 3: 0.5}) + runs(
        "AdaBandit", {1: 0.88, 2: 0.69, 3: 0.47, 4: 0.99}
    )
    sheet = comparison.summary(records, against="GapBoost")
    assert (
        entry(sheet, "AdaBandit", "Minus GapBoost").main == "−0.020 ± 0.025"
    )  # 4.303 x 0.01 / sqrt(3), though scores differ by 0.4
    assert entry(sheet, "GapBoost", "Minus GapBoost").main == "-"
    assert entry(sheet, "AdaBandit", "Learner").detail == "4 seeds"
    assert {row["learner"]: row["common_seeds"] for row in sheet.numbers} == {"AdaBandit": 3, "GapBoost": 3}
    assert "picked after the runs" not in sheet.note
    assert "picked after the runs" in comparison.summary(records).note
    with pytest.raises(ParameterError, match="against is 'Majority'; give one of AdaBandit, GapBoost"):
        comparison.summary(records, against="Majority")


def test_the_reference_is_the_best_that_is_not_told_the_label():
    records = [
        made_up.record("pets", learner, 1, score)
        for learner, score in (("AdaFull", 0.9), ("AdaBandit", 0.5), ("OptBandit", 0.6))
    ]
    assert {row["against"] for row in comparison.summary(records).numbers} == {"OptBandit"}
    assert {row["against"] for row in comparison.summary(records[:1]).numbers} == {"AdaFull"}


def test_a_weak_learner_of_ones_own_makes_a_learner_of_its_own():
    own = made_up.record("pets", "AdaBandit", 1, 0.9)
    own["task"]["parameters"]["weak_learner"] = "mymodule:Mine"
    sheet = comparison.summary([own, made_up.record("pets", "AdaBandit", 1, 0.8)])
    assert [row[0].main for row in sheet.rows] == ["AdaBandit+mymodule:Mine", "AdaBandit"]


def test_a_ranking_keeps_its_order_and_tells_how_far_each_got():
    found = [
        Ranked({"exploration": 0.01, "grace_period": [5, 20]}, 0.9, 0.01, 3000, 3),
        Ranked({"exploration": 0.1, "grace_period": 50}, 0.8, 0.02, 1000, 3),
    ]
    sheet = comparison.ranking("AdaBandit on car", found)
    assert sheet.header == ("exploration", "grace_period", "Accuracy", "Rounds")
    assert [[entry.main for entry in row] for row in sheet.rows] == [
        ["0.01", "5 to 20", "0.900 ± 0.010", "3,000"],
        ["0.1", "50", "0.800 ± 0.020", "1,000"],
    ]


def test_markdown_is_a_table_with_a_line_for_each_row():
    text = sheets.markdown(tables.table1(made_up.paper(seeds=(4,))))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 6 + 6 + 4  # printed, ours, and the authors' program on four sets
    assert all(line.count("|") == 8 for line in lines)
    assert lines[2] == "| Balance (k = 3) | printed | 0.89 | 0.97 | 0.80 | 0.76 | 0.93 |"


def test_csv_reads_back():
    sheet = tables.table2(made_up.paper(seeds=(4, 5)))
    rows = list(csv.DictReader(io.StringIO(sheets.csv_text(sheet))))
    assert [float(row["accuracy"]) for row in rows] == [number["accuracy"] for number in sheet.numbers]


def test_table_3_is_right_where_the_paper_is_not():
    sheet = tables.table3()
    assert entry(sheet, "Car", "Dimension") == sheets.Entry("6", "printed 82")
    assert entry(sheet, "Balance", "Dimension") == sheets.Entry("4")
    assert entry(sheet, "Movement", "k") == sheets.Entry("5", "printed 4")


def test_latex_has_a_row_for_each_row_and_escapes_what_latex_would_read():
    sheet = sheets.Sheet(
        "t",
        "50 % of a_b & c",
        "ρ ± 1 {x} #1 $2 ^ ~ \\ <3>",
        ("A", "B"),
        ((sheets.Entry("x_1", "−0.1"), sheets.Entry("2")),),
        (),
    )
    text = sheets.latex(sheet)
    assert r"\caption{50 \% of a\_b \& c. $\rho$ $\pm$ 1 \{x\} \#1 \$2 " in text
    assert r"\textasciicircum{} \textasciitilde{} \textbackslash{} \textless{}3\textgreater{}}" in text
    assert "x\\_1 ($-$0.1) & 2 \\\\\n" in text
    table = sheets.latex(tables.table1(made_up.paper(seeds=(4, 5, 6))))
    body = table[table.index(r"\midrule") : table.index(r"\bottomrule")]
    assert body.count(r" \\") == 16
    assert all(line.count("&") == 6 for line in body.splitlines() if line.endswith(r"\\"))
    assert [table.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert table.count("{") == table.count("}")


def test_a_sheet_has_every_form():
    assert set(sheets.FORMS) == {".csv", ".md", ".tex"}
    sheet = tables.table3()
    assert len({written(sheet) for written in sheets.FORMS.values()}) == 3


def test_table_4_has_a_row_for_each_mode():
    sheet = searches.table4(made_up.grid(datasets=("mice",), modes=("ours", "text")))
    assert [row[1].main for row in sheet.rows] == ["text", "ours"]
    assert {number["protocol"] for number in sheet.numbers} == {"text", "ours"}


def test_a_booster_that_one_mode_lacks_is_a_dash_there():
    text = [made_up.record("mice", name, exploration=0.1, mode="text") for name in ("OptBandit", "BinBandit")]
    sheet = searches.table4([made_up.record("mice", "OptBandit", exploration=0.1), *text])
    assert {len(row) for row in sheet.rows} == {len(sheet.header)}
    assert entry(sheet, "Mice", "BinBandit").main == "-"


def sizes(accuracies, mode="ours", learner="OptBandit"):
    return [
        made_up.record("car", learner, seed, accuracy, mode=mode, given={"n_learners": size})
        for size, accuracy in accuracies.items()
        for seed in (4, 5, 6)
    ]


def test_the_best_n_stands_beside_the_printed_one():
    text = sizes({10: 0.81, 15: 0.80}, "text")
    sheet = searches.learners(sizes({5: 0.7, 10: 0.8, 15: 0.75, 20: 0.8}) + text)
    assert sheet.header[-4:] == ("N = 5", "N = 10", "N = 15", "N = 20")
    best = entry(sheet, "Car", "Best N")
    assert (best.main, best.detail) == ("10", "0.800 ± 0.000, +0.050")  # of equally good ones the smallest
    assert entry(sheet, "Car", "N of the paper").main == "15"
    assert entry(sheet, "Car", "N = 20").main == "0.800"
    assert entry(sheet, "Car", "Best N", "text").detail == "0.810 ± 0.000, +0.010"
    assert entry(sheet, "Car", "N = 5", "text").main == "-"
    assert {number["n"] for number in sheet.numbers if number["protocol"] == "ours"} == {5, 10, 15, 20}


def test_a_record_without_a_number_of_learners_is_refused():
    with pytest.raises(ExperimentError, match="has 'many' for n_learners"):
        searches.learners([made_up.record(given={"n_learners": "many"})])


def test_equations_stand_beside_each_other_with_their_difference_on_the_same_seeds():
    by_seed = {4: 0.9, 5: 0.8, 6: 0.7}
    four = [made_up.record("car", seed=seed, accuracy=score) for seed, score in by_seed.items()]
    three = [
        made_up.record("car", seed=seed, accuracy=score - gap, given={"estimator": 3})
        for (seed, score), gap in zip(by_seed.items(), (0.01, 0.02, 0.03), strict=True)
    ]
    sheet = estimators.estimators(three + four)
    assert entry(sheet, "Car", "Equation (4)") == sheets.Entry("0.850 ± 0.248", "0.800 ± 0.248")
    assert entry(sheet, "Car", "Equation (3)").detail == "0.780 ± 0.273"
    assert entry(sheet, "Car", "(4) minus (3)").detail == "+0.020 ± 0.025"
    assert [(row["equation"], row["score"], row["accuracy"]) for row in sheet.numbers] == [
        (3, "last_accuracy", 0.83),
        (3, "accuracy", 0.78),
        (4, "last_accuracy", 0.85),
        (4, "accuracy", 0.8),
    ]


def test_an_equation_that_was_not_played_is_a_dash():
    sheet = estimators.estimators([made_up.record("car", given={"estimator": 3})])
    assert [cell.main for cell in sheet.rows[0][3:]] == ["0.950", "-", "-"]
