"""`check`: what it says of columns, and that `read` takes what it proposes."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banditboost import datasets
from banditboost.datasets import DatasetError, TableCheck
from tests.datasets.tables.conftest import Writer

DRAW = random.Random(5)
N = 60
KINDS = {
    "numbers": [f"{DRAW.uniform(0, 9):.3f}" for _ in range(N)],
    "0 or 1": [str(i % 2) for i in range(N)],
    "names": [DRAW.choice(["red", "blue", ""]) for _ in range(N)],
    "true or false": [DRAW.choice(["TRUE", "false"]) for _ in range(N)],
    "dates": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)],
    "text": [f"visitor {i} came back today" for i in range(N)],
    "amounts in $": [f'"${1000 + 37 * i:,}.50"' for i in range(N)],
    "clock": [str(1704067200 + 61 * i) for i in range(N)],
    "id": [f"u{DRAW.getrandbits(40):x}" for _ in range(N)],
    "constant": ["1"] * N,
    "empty": [""] * N,
    "codes": [f"0{i % 5}" for i in range(N)],
    "numbers, some texts": ["?" if i == 3 else "n.d." if i == 7 else str(i % 9) for i in range(N)],
}
CHOICES = {
    "dates": "dates", "text": "words", "id": "ignore", "constant": "ignore", "empty": "ignore", "codes": "nominal",
    "numbers, some texts": "numeric",
}  # fmt: skip


def of(columns: dict[str, list[str]], separator: str = ",") -> str:
    rows = zip(*columns.values(), strict=True)
    return (
        "\n".join(separator.join(row) for row in [[f'"{name}"' for name in columns], *map(list, rows)]) + "\n"
    )


def kinds(found: TableCheck) -> dict[str, str]:
    return {column.name: column.kind for column in found.columns}


def taken(path: Path, found: TableCheck) -> datasets.Table:
    """The table as `read` takes it with what was proposed."""
    assert found.label is not None
    return datasets.read(path, found.label, **found.options)


@pytest.mark.usefixtures("csv_reader")
def test_every_kind_at_once(write: Writer) -> None:
    path = write(of({**KINDS, "label": ["a", "b", "c"] * (N // 3)}))
    found = datasets.check(path)
    assert kinds(found) == {**{kind: kind for kind in KINDS}, "text": "text: 64 words", "label": "names"}
    assert {column.name: column.choice for column in found.columns if column.choice} == {
        **CHOICES,
        "label": "label",
    }
    assert found.label == "label"
    assert found.options["decimal"] == "."
    assert (found.n_rows, found.is_ready) == (N, True)
    table = taken(path, found)
    assert set(CHOICES) & set(table.features) == {"codes", "numbers, some texts"}
    assert table.words == ("text",)
    assert table.X[0, table.features.index("amounts in $")] == 1000.5
    left_out = [name for name, choice in CHOICES.items() if choice == "ignore"]
    for name in left_out:
        assert any(remark.startswith(f"'{name}' ") for remark in found.remarks), name
    described = found.describe()
    assert all(name in described for name in KINDS)


def test_values_and_missing_are_counted(write: Writer) -> None:
    found = datasets.check(write("a,y\n1,u\n,v\n1,u\n2,v\n"), "y")
    column = found.columns[0]
    assert (column.values, column.n_values, column.missing, column.examples) == (2, "2", 1, ("1", "2"))
    many = datasets.check(write("a,y\n" + "".join(f"{i}.5,{'uv'[i % 2]}\n" for i in range(12_000))), "y")
    assert many.columns[0].n_values == "over 10,000"


@pytest.mark.usefixtures("csv_reader")
def test_missing_is_what_is_missing_when_it_is_read(write: Writer) -> None:
    cells = {
        "plain": ["1", "N/A", "3", "?"] * 10,
        "amounts": ["$1.50", "NA", "", "$2"] * 10,
        "texts": [*map(str, range(38)), "-", "NA"],
        "names": ["NA", "", "a", "?"] * 10,
        "codes": ["01", "NA", "02", ""] * 10,
        "y": ["NA", "v"] * 20,
    }
    path = write(of(cells))
    found = datasets.check(path)
    told = {column.name: (column.values, column.missing, column.examples) for column in found.columns}
    assert told == {
        "plain": (2, 20, ("1", "3")),
        "amounts": (2, 20, ("$1.50", "$2")),
        "texts": (38, 2, ("0", "1", "2")),
        "names": (3, 10, ("NA", "a", "?")),
        "codes": (3, 10, ("01", "NA", "02")),
        "y": (2, 0, ("NA", "v")),
    }
    table = taken(path, found)
    read = dict(zip(table.features, np.isnan(table.X).sum(axis=0).tolist(), strict=True))
    assert read == {name: missing for name, (_, missing, _) in told.items() if name != "y"}


LABELS = {
    "0 or 1": (["0", "1"] * 30, None, r"'y' is 0 or 1: two labels"),
    "continuous": (
        [f"{i / 2}" for i in range(101)],
        "y",
        r"column 'y' holds 101 different numbers with fractions",
    ),
    "too many": ([f"v{i}" for i in range(10_001)], "y", r"more than 10,000 different values"),
    "one": (["a"] * 30, "y", r"only the label 'a'"),
    "missing": (["a", "", "b"] * 10, "y", r"is empty in 10 rows"),
    "many": (
        [f"v{i}" for i in range(150)] * 2,
        "y",
        r"'y' has 150 values: each is learned from rows of its own",
    ),
    "hardly any": (["a", "b"] * 30 + ["c"], "y", r"values in hardly any row: 'c' \(1\); merge them"),
    "nearly all": (["a"] * 98 + ["b"] * 2, "y", r"'y' is 'a' in 98.0% of rows"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels(write: Writer, case: str) -> None:
    labels, wanted, message = LABELS[case]
    path = write(of({"x": [str(i % 7) for i in range(len(labels))], "y": labels}))
    found = datasets.check(path, wanted)
    assert any(re.search(message, remark) for remark in found.remarks), found.remarks
    ready = case in ("0 or 1", "many", "hardly any", "nearly all")
    assert (found.label, found.is_ready) == (("y", True) if ready else (None, False))
    if ready:
        assert len(taken(path, found).labels) == len(set(labels))
    else:
        with pytest.raises(DatasetError, match=message):
            datasets.read(path, "y")


def test_the_likeliest_label_is_taken(write: Writer) -> None:
    rows = of(
        {"a": ["u", "v"] * 20, "is_clicked": ["x", "y"] * 20, "b": ["1", "0"] * 20, "c": ["q", "r"] * 20}
    )
    assert datasets.check(write(rows)).label == "is_clicked"
    assert datasets.check(write(rows.replace("is_clicked", "m"))).label == "c"
    assert (
        datasets.check(write(rows.replace("is_clicked", "m").replace("r", "7.5").replace("q", "0.5"))).label
        == "b"
    )
    assert datasets.check(write(rows.replace("is_clicked", "m")), "a").label == "a"
    with pytest.raises(DatasetError, match=r"has no column 'd': .*its columns are a, m, b, c"):
        datasets.check(write(rows.replace("is_clicked", "m")), "d")


NOT_PROPOSED = {
    "too many": ([f"v{i % 120}" for i in range(240)], r"^'label' has 120 values, more than 100, and is not"),
    "fractions": ([f"{i % 7}.5" for i in range(240)], r"^'label' holds numbers with fractions, and is not"),
    "texts": (["1", "NA", "2"] * 80, r"^'label' holds numbers and texts, and is not"),
    "dates": ([f"2024-01-{1 + i % 9:02}" for i in range(240)], r"^'label' holds dates, and is not"),
    "new": ([f"v{i}" for i in range(40)], r"^'label' has a new value in nearly every row, and is not"),
    "continuous": ([f"{i}.5" for i in range(240)], r"^no label: column 'label' holds 240 different numbers"),
    "missing": (["a", "b", ""] * 80, r"^no label: column 'label' is empty in 80 rows"),
    "one": (["a", ""] * 80, r"^no label: column 'label' has only the label 'a'"),
}


@pytest.mark.parametrize("case", NOT_PROPOSED)
def test_a_column_called_label_that_is_not_proposed(write: Writer, case: str) -> None:
    labels, message = NOT_PROPOSED[case]
    path = write(
        of(
            {
                "x": ["1.5", "2.5"] * (len(labels) // 2),
                "label": labels,
                "shop": ["a", "b"] * (len(labels) // 2),
            }
        )
    )
    found = datasets.check(path)
    assert found.label == "shop"
    assert re.search(message, found.remarks[0]), found.remarks
    assert found.remarks[1] == "'shop' is taken as the label."
    if not message.startswith("^no label"):
        assert found.remarks[0].endswith("as the label: say label='label' if it is the label all the same.")
        named = datasets.check(path, "label")
        assert set(taken(path, named).labels) == set(labels)


def test_names_that_would_be_missing_among_numbers(write: Writer) -> None:
    path = write(of({"x": ["NA", "None", ""] * 10, "n": ["1", "2", "3"] * 10, "y": ["u", "v"] * 15}))
    found = datasets.check(path, "y")
    assert (kinds(found)["x"], found.options) == ("names", {})
    assert taken(path, found).values == (("NA", "None"), None)


def test_a_column_called_as_a_part_of_a_date(write: Writer) -> None:
    rows = {
        "when": KINDS["dates"],
        "when.elapsed": KINDS["numbers"],
        "n": KINDS["numbers"],
        "y": ["u", "v"] * 30,
    }
    path = write(of(rows))
    found = datasets.check(path, "y")
    assert found.options == {"dates": ("when",), "ignore": ("when.elapsed",)}
    assert taken(path, found).features[0] == "n"


def test_ids_of_every_sort(write: Writer) -> None:
    hexes = [f"{DRAW.getrandbits(20):06d}" if i % 4 else f"{i:03x}f" for i in range(60)]
    cells = {"a": hexes, "user_id": [str(i * 7 % 61) for i in range(60)], "row": [str(i) for i in range(60)]}
    measured = {"size": [str(i * 7 % 61) for i in range(60)], "y": ["u", "v"] * 30}
    found = datasets.check(write(of(cells | measured)), "y")
    assert kinds(found) == {"a": "id", "user_id": "id", "row": "id", "size": "numbers", "y": "names"}


def test_an_id_is_kept_as_names(write: Writer) -> None:
    cells = {"key": [f"k{i}" for i in range(60)], "row": [str(i) for i in range(60)], "n": KINDS["numbers"]}
    path = write(of({**cells, "y": ["u", "v"] * 30}))
    found = datasets.check(path)
    for name, remedy in (("key", "say "), ("row", "say numeric=['row'] if it is none, or ")):
        told = f"'{name}' has a new value in nearly every row, as an id: it is left out; {remedy}nominal=['{name}'] to keep"
        assert any(remark.startswith(told) for remark in found.remarks), found.remarks
    table = datasets.read(path, "y", nominal=["key", "row"])
    assert table.kinds == ("nominal", "nominal", "numeric")


def test_texts_that_are_numbers_where_the_source_has_types() -> None:
    frame = pl.DataFrame({"x": ["-1.5", "2.5"] * 10, "n": ["3", "4"] * 10, "y": ["a", "b"] * 10})
    found = datasets.check(frame, "y")
    assert found.options == {"numeric": ("x",), "decimal": "."}
    assert datasets.read(frame, "y", **found.options).kinds == ("numeric", "nominal")
    with pytest.raises(DatasetError, match="label is 5: give the name"):
        datasets.check(frame, 5)  # type: ignore[arg-type]


def test_nothing_to_choose_or_to_learn_from(write: Writer) -> None:
    found = datasets.check(
        write(of({"a": [f"{i}.5" for i in range(200)], "b": [f"{i}.25" for i in range(200)]}))
    )
    assert not found.is_ready
    assert "no column can be the label" in found.remarks[-1]
    found = datasets.check(write(of({"id": [f"k{i}" for i in range(50)], "y": ["a", "b"] * 25})))
    assert (found.label, found.is_ready) == ("y", False)
    assert "no column is left to learn from" in found.remarks[-1]


@pytest.mark.usefixtures("csv_reader")
class TestFiles:
    def test_excel_as_it_comes_from_windows(self, write: Writer) -> None:
        rows = [
            f"{i % 28 + 1}.{i % 12 + 1}.2024;{1000 + i}.000,5{i % 10} €;{i % 9},5;{'ja' if i % 3 else 'nein'}"
            for i in range(60)
        ]
        rows = [row.replace(f";{1000 + i}.000", f";{1 + i}.234") for i, row in enumerate(rows)]
        path = write("\r\n".join(["Tag;Umsatz;Größe;Käufer", *rows]).encode("cp1252"))
        found = datasets.check(path)
        assert dict(found.options) == {"dates": ("Tag",), "encoding": "cp1252", "decimal": ","}
        assert any("reads as cp1252" in remark and "Größe" in remark for remark in found.remarks)
        assert any("'1.234,50 €' in 'Umsatz' is 1234.5" in remark for remark in found.remarks)
        assert taken(path, found).X[1, :2].tolist() == [2234.51, 1.5]

    def test_utf_16(self, write: Writer) -> None:
        path = write(of({"größe": ["1", "2"] * 10, "y": ["ä", "ö"] * 10}).encode("utf-16"))
        found = datasets.check(path)
        assert found.options["encoding"] == "utf-16"
        assert taken(path, found).labels == ("ä", "ö")

    def test_neither_utf_8_nor_windows(self, write: Writer) -> None:
        with pytest.raises(
            DatasetError, match=r"is not UTF-8 \(line 2\), and .* is not cp1252 either \(line 3\): say which"
        ):
            datasets.check(write(b"x,y\n1,\xe9\n2,\x81\n"))

    def test_two_encodings_in_one_file(self, write: Writer) -> None:
        found = datasets.check(write(b"x,y\n1,\xc3\xa9\n2,\xe9\n1,\xe9\n" * 1 + b"2,a\n1,a\n"), "y")
        assert any(
            re.search(r"is UTF-8 in line 2, and .* is not in line 3: with two encodings", remark)
            for remark in found.remarks
        )

    def test_two_encodings_in_one_folder(self, write: Writer, tmp_path: Path) -> None:
        write("x,y\n1,é\n2,a\n".encode(), "a.csv")
        write("x,y\n1,é\n2,a\n".encode("cp1252"), "b.csv")
        found = datasets.check(tmp_path, "y")
        assert any(
            re.search(r"a\.csv is UTF-8 in line 2, and .*b\.csv is not in line 2", remark)
            for remark in found.remarks
        )

    def test_numbers_with_a_few_words_for_missing(self, write: Writer) -> None:
        numbers = [f"{i}.5" if i % 3 else "-" for i in range(90)]
        path = write(of({"x": numbers, "m": ["1", "a", "b", "2"] * 22 + ["a", "b"], "y": ["a", "b"] * 45}))
        found = datasets.check(path, "y")
        assert found.options == {"numeric": ("x",), "nominal": ("m",)}
        assert any("30 texts count as missing" in remark for remark in found.remarks)

    @pytest.mark.parametrize(("separator", "mark", "told"), [(",", ".", "1,234.50"), (";", ",", "1.234,50")])
    def test_amounts_with_a_few_texts(self, write: Writer, separator: str, mark: str, told: str) -> None:
        amounts = [f'"{told[:2]}{i:03}{mark}50 €"' for i in range(234, 434)]
        cells = {
            "price": ["on request" if i in (3, 90) else amounts[i] for i in range(200)],
            "fee": ["-" if i % 5 == 1 else "NA" if i % 5 == 2 else amounts[i] for i in range(200)],
            "names": ["cheap" if i % 5 else amounts[i % 10] for i in range(200)],
            "y": ["a", "b"] * 100,
        }
        path = write(of(cells, separator))
        found = datasets.check(path, "y")
        assert found.options == {"numeric": ("price", "fee"), "decimal": mark, "nominal": ("names",)}
        assert kinds(found) == {
            "price": "numbers, some texts", "fee": "numbers, some texts", "names": "names", "y": "names",
        }  # fmt: skip
        assert [(column.values, column.missing) for column in found.columns[:2]] == [(198, 2), (120, 80)]
        assert any(f"'{told} €' in 'price' is 1234.5." in remark for remark in found.remarks)
        assert any(
            "first text is 'on request', in row 4): 2 texts count as missing" in remark
            for remark in found.remarks
        )
        table = taken(path, found)
        assert table.kinds == ("numeric", "numeric", "nominal")
        assert table.X[0, 0] == 1234.5
        assert np.isnan(table.X[:, :2]).sum(axis=0).tolist() == [2, 80]

    def test_a_few_texts_do_not_outvote_columns_without_any(self, write: Writer) -> None:
        cells = {
            "p": ["-" if i == 7 else f'"{i},5 €"' for i in range(40)],
            "q": ["-" if i == 7 else f'"{i},25 €"' for i in range(40)],
            "r": ["1.25", "2.5"] * 20,
            "y": ["a", "b"] * 20,
        }
        path = write(of(cells))
        found = datasets.check(path, "y")
        assert found.options == {"ignore": ("p", "q")}
        assert taken(path, found).features == ("r",)

    def test_dates_that_cannot_be_read(self, write: Writer) -> None:
        path = write(of({"n": ["1", "2"] * 10, "when": ["1.2.24", "3.4.24"] * 10, "y": ["a", "b"] * 10}))
        found = datasets.check(path, "y")
        assert found.options == {"ignore": ("when",)}
        assert any(
            remark.startswith("'when' is left out: dates=['when'], but a cell of that column is '1.2.24'")
            for remark in found.remarks
        )

    def test_thousands_that_no_cell_tells(self, write: Writer) -> None:
        path = write(of({"n": ['"1,234"', '"2,345"'] * 20, "y": ["a", "b"] * 20}))
        found = datasets.check(path, "y")
        assert any(
            "No cell tells for sure: say decimal=',' if it is 1.234" in remark for remark in found.remarks
        )
        assert taken(path, found).X[0, 0] == 1234
        assert datasets.check(path, "y", decimal=",").options["decimal"] == ","

    def test_points_that_part_thousands_beside_decimal_commas(self, write: Writer) -> None:
        path = write(of({"n": ["1.234", "2.000"] * 20, "m": ["1,5", "0,25"] * 20, "y": ["a", "b"] * 20}, ";"))
        found = datasets.check(path, "y")
        assert found.options == {"decimal": ","}
        assert taken(path, found).X[0].tolist() == [1234, 1.5]

    def test_plain_files_need_no_word(self, write: Writer) -> None:
        for separator, mark in ((",", "."), (";", ","), ("\t", "."), ("|", ".")):
            cells = {"n": [f"1{mark}5", "2"] * 20, "m": ["1", "2", "3", "4"] * 10, "y": ["a", "b"] * 20}
            assert datasets.check(write(of(cells, separator)), "y").options == {}

    def test_two_marks_in_one_file(self, write: Writer) -> None:
        cells = {
            "p": ['"1,5 €"', '"2,5 €"'] * 20,
            "q": ["1.25", "2.5"] * 20,
            "r": ["3.5", "4.5"] * 20,
            "y": ["a", "b"] * 20,
        }
        found = datasets.check(write(of(cells)), "y")
        assert found.options == {"ignore": ("p",), "decimal": "."} or found.options == {"ignore": ("p",)}
        assert any("'p' has amounts with the decimal mark ','" in remark for remark in found.remarks)

    def test_a_file_without_a_header(self, write: Writer) -> None:
        found = datasets.check(write("1,a\n2,b\n3,a\n4,b\n"))
        assert any(
            "a column is called '1': the first line has to name the columns" in remark
            for remark in found.remarks
        )
        assert any("one column only" in remark for remark in datasets.check(write("x~y\n1~2\n3~4\n")).remarks)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "is empty"), ("x,y\n", "there are no rows"), ("x,y\n1\n", "has 1 cells in line 2"),
            (b"PAR1....", "is a Parquet file by its content"), (b"a\0b", "is not text"), ('x,y\n1,"a\n', "a quote that is not closed"),
        ],
    )  # fmt: skip
    def test_refused(self, write: Writer, content: str | bytes, message: str) -> None:
        with pytest.raises(DatasetError, match=message):
            datasets.check(write(content))

    @given(
        st.lists(
            st.lists(
                st.one_of(
                    st.sampled_from(["", "1", "0", "a", "b", "1.5", "1,5", "1.234", "$5", "7 €", "01", "NA", "inf", "1e400",
                                     "2024-01-02", "3/4/2024", "13/4/2024", "9:30", "true", "one two three", "1,234.5", "x\x1b"]),
                    st.text(max_size=4),
                ),
                min_size=3, max_size=3,
            ),
            min_size=1, max_size=8,
        ),
        st.sampled_from([",", ";"]),
        st.integers(1, 12),
    )  # fmt: skip
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_what_is_proposed_is_taken(
        self, write: Writer, rows: list[list[str]], separator: str, times: int
    ) -> None:
        lines = [separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows * times]
        path = write("\n".join([separator.join("pqr"), *lines]).encode("utf-8", "replace"))
        try:
            found = datasets.check(path)
        except DatasetError:
            return
        if found.is_ready:
            table = taken(path, found)
            assert table.n_rows == found.n_rows


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no file .*nothing\.csv"):
        datasets.check(tmp_path / "nothing.csv")
    for i in range(3):
        (tmp_path / f"{i}.jsonl").write_text(
            "".join(
                f'{{"x": {j % 4}, "when": "2024-0{i + 1}-0{1 + j % 7}", "y": {j % 2}}}\n' for j in range(20)
            )
        )
    found = datasets.check(tmp_path)
    assert (found.n_rows, found.options) == (60, {"dates": ("when",)})
    assert taken(tmp_path, found).n_rows == 60


def test_frames_and_what_they_hold(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "x": [1, 2] * 20,
            "list": [[1]] * 40,
            "price": ["$1,000", "$7"] * 20,
            "zip": ["01", "02"] * 20,
            "y": ["a", "b"] * 20,
        }
    )
    frame.write_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        found = datasets.check(source)
        assert kinds(found) == {
            "x": "numbers",
            "list": "other things",
            "price": "amounts in $",
            "zip": "names",
            "y": "names",
        }
        assert found.options == {"numeric": ("price",), "ignore": ("list",), "decimal": "."}
        assert datasets.read(source, "y", **found.options).X[0].tolist() == [1, 1000, 0]
