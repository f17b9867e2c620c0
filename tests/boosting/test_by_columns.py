"""Tables that go in by columns give what their rows give one by one, to the last bit, and are refused for the
same reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import AdaBandit, GapBoost, Schema, play
from banditboost.errors import FeatureError
from banditboost.rows import by_columns
from banditboost.rows.by_columns import taken_apart
from banditboost.rows.many import checked_table
from tests.boosting.loops import play_by_hand
from tests.boosting.states import difference, state_of
from tests.boosting.streams import growing_rows, make_stream

LABELS = ["yes", "no"]
Rows = list[dict[str, Any]]


def as_categories(rows: Rows) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    return frame.astype({name: "category" for name in ("colour", "late") if name in frame})


def as_views(rows: Rows) -> pa.Table:
    """Texts as pyarrow reads them from files of polars, with few functions for them."""
    table = pa.Table.from_pylist(rows)
    types = [pa.string_view() if kind == pa.string() else kind for kind in table.schema.types]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


def as_dictionaries(rows: Rows) -> pa.Table:
    """With a value that is there twice, and one that no row has."""
    table = pa.Table.from_pylist(rows)
    for i, name in enumerate(table.column_names):
        if table.schema.types[i] == pa.string():
            column = table.column(name).combine_chunks()
            values = pa.array(["unused", *column.to_pylist()])
            places = [None if cell is None else t + 1 for t, cell in enumerate(column.to_pylist())]
            table = table.set_column(i, name, pa.DictionaryArray.from_arrays(places, values))
    return table


FORMS: dict[str, Any] = {
    "dicts": list,
    "tuple": tuple,
    "objects": lambda rows: np.array(rows, object),
    "pandas": pd.DataFrame,
    "pandas objects": lambda rows: pd.DataFrame(rows).astype(object),
    "pandas NA": lambda rows: pd.DataFrame(rows).convert_dtypes(),
    "pandas categories": as_categories,
    "polars": pl.DataFrame,
    "polars categories": lambda rows: pl.DataFrame(rows).with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "pyarrow": pa.Table.from_pylist,
    "pyarrow views": as_views,
    "pyarrow dictionaries": as_dictionaries,
}


def fresh(schema: Schema | None = None) -> AdaBandit:
    return AdaBandit(LABELS, n_learners=2, seed=3, schema=schema)


def right_of(n_rows: int) -> list[int]:
    return [t % 2 for t in range(n_rows)]


def played(model: Any, X: Any, n_rows: int) -> tuple[list[int], str]:
    """What was shown, or why nothing was."""
    try:
        return play(model, X, right_of(n_rows)).shown.tolist(), ""
    except FeatureError as error:
        return [], str(error)


def by_hand(model: Any, rows: list[Any]) -> tuple[list[int], str]:
    """What was shown, or why a row was refused, as it is said of many."""
    first = model.rounds
    try:
        return play_by_hand(model, rows, right_of(len(rows))).shown, ""
    except FeatureError as error:
        return [], f"row {model.rounds - first} of X (counted from 0): {error}"


def decided(model: Any, rows: Any) -> tuple[list[bytes], str]:
    try:
        return [decision._memo.tobytes() for decision in model.decide_many(rows)], ""
    except FeatureError as error:
        return [], str(error)


def same_as_one_by_one(X: Any, rows: list[Any], make: Any = fresh) -> None:
    one, many, asked = make(), make(), make()
    before = state_of(many)
    expected, refusal = by_hand(one, rows)
    assert played(many, X, len(rows)) == ([] if refusal else expected, refusal)
    assert difference(one, many) == [] if not refusal else state_of(many) == before
    alone = make()
    try:
        memos = [alone.decide(row)._memo.tobytes() for row in rows]
    except FeatureError:
        memos = []
    assert decided(asked, X) == (memos, refusal)
    assert difference(alone, asked) == [] if not refusal else state_of(asked) == before


def typed_rows(columns: dict[str, list[Any]]) -> Rows:
    n_rows = len(next(iter(columns.values())))
    return [{name: cells[t] for name, cells in columns.items()} for t in range(n_rows)]


NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(float("nan")))
WHOLE = st.one_of(st.none(), st.integers(-(2**53), 2**53))
WORDS = st.one_of(st.none(), st.sampled_from(["red", "blue", "green", "", "3", "nan"]))
FLAGS = st.one_of(st.none(), st.booleans())
LATE = st.one_of(st.none(), st.none(), st.none(), st.sampled_from(["a", "b"]))
KINDS = {"size": NUMBERS, "count": WHOLE, "colour": WORDS, "flag": FLAGS, "late": LATE}


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    n_rows = draw(st.integers(1, 12))
    names = draw(st.permutations(list(KINDS)))[: draw(st.integers(1, len(KINDS)))]
    return typed_rows({name: draw(st.lists(KINDS[name], min_size=n_rows, max_size=n_rows)) for name in names})


@pytest.mark.parametrize("form", FORMS)
@given(tables())
def test_a_table_is_its_rows(form: str, rows: Rows) -> None:
    same_as_one_by_one(FORMS[form](rows), rows)


@given(tables(), st.data())
def test_dicts_whose_keys_differ(rows: Rows, data: st.DataObject) -> None:
    """In any order, and what is missing may be left out."""
    shuffled = []
    for row in rows:
        names = data.draw(st.permutations(list(row)))
        kept = [name for name in names if row[name] is not None or data.draw(st.booleans())]
        shuffled.append({name: row[name] for name in kept})
    same_as_one_by_one(shuffled, shuffled)


@given(tables())
def test_lists_by_position(rows: Rows) -> None:
    lists = [list(row.values()) for row in rows]
    same_as_one_by_one(lists, lists)
    objects = np.empty((len(lists), len(lists[0])), object)
    objects[:] = lists
    same_as_one_by_one(objects, lists)


ODD = st.one_of(
    st.floats(),
    st.integers(-(10**400), 10**400),
    st.booleans(),
    st.sampled_from(["red", "3", None, pd.NA, [1]]),
    st.just(np.float32(2.5)),
    st.decimals(),
)


@given(st.lists(st.tuples(ODD, ODD), min_size=1, max_size=5), st.sampled_from([None, "numeric", "nominal"]))
def test_odd_columns_are_taken_or_refused_alike(cells: list[tuple[Any, Any]], declared: str | None) -> None:
    rows = [{"a": a, "b": b} for a, b in cells]
    schema = None if declared is None else Schema.of(["a", "b"], [declared, "numeric"])
    same_as_one_by_one(rows, rows, lambda: fresh(schema))


@pytest.mark.parametrize("kinds", [["numeric", "nominal"], ["nominal", "nominal"], ["nominal", "numeric"]])
@pytest.mark.parametrize("form", FORMS)
@given(rows=tables())
def test_declared_features(form: str, kinds: list[str], rows: Rows) -> None:
    same_as_one_by_one(FORMS[form](rows), rows, lambda: fresh(Schema.of(["size", "colour"], kinds)))


@pytest.mark.parametrize("form", FORMS)
def test_a_model_that_goes_on(form: str) -> None:
    """Values that are known, and in another order, keep their codes; a table may lack features."""
    stream = make_stream("mixed", 2, 60)
    rows = stream.dicts()
    one, many = (GapBoost(LABELS, seed=1) for _ in range(2))
    for part in (rows[:20], rows[::-1], [{"f1": row["f1"], "new": "a"} for row in rows]):
        shown = play_by_hand(one, part, right_of(len(part))).shown
        assert taken_apart(FORMS[form](part), many.schema) is not None
        assert play(many, FORMS[form](part), right_of(len(part))).shown.tolist() == shown
        assert difference(one, many) == []


@pytest.mark.parametrize("delay", [0, 7])
def test_blocks_that_end_anywhere(delay: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_columns, "BLOCK", 7)
    rows = growing_rows(make_stream("mixed", 2, 100))
    one, many = (GapBoost(LABELS, seed=1) for _ in range(2))
    assert taken_apart(rows, many.schema) is not None
    shown = play_by_hand(one, rows, right_of(100), delay).shown
    assert play(many, rows, right_of(100), delay=delay).shown.tolist()[: 100 - delay] == shown[: 100 - delay]


@pytest.mark.parametrize("form", FORMS)
def test_more_values_than_are_kept(form: str) -> None:
    rows = [{"id": f"v{t % 300}", "x": float(t)} for t in range(700)]
    one, many = fresh(), fresh()
    shown = play_by_hand(one, rows, right_of(len(rows))).shown
    assert play(many, FORMS[form](rows), right_of(len(rows))).shown.tolist() == shown
    assert difference(one, many) == []


@pytest.mark.parametrize("form", FORMS)
def test_plain_tables_do_go_by_columns(form: str) -> None:
    rows = [{"x": 1.5, "n": 3, "c": "red", "f": True}, {"x": None, "n": 4, "c": None, "f": False}]
    columns = checked_table(Schema(), FORMS[form](rows))
    assert columns is not None
    assert len(columns) == 2


def test_numbers_as_names_of_columns() -> None:
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2))
    rows = [{0: float(2 * t), 1: float(2 * t + 1)} for t in range(6)]
    same_as_one_by_one(frame, rows)
    assert taken_apart(frame, Schema()) is not None


def test_sparse_dicts_go_row_by_row() -> None:
    """A column for each word would be nearly empty."""
    assert taken_apart([{f"word{t}": 1.0} for t in range(50)], Schema()) is None


@pytest.mark.parametrize("allowed", [[["yes"], None, ["no"]], [None, None, None]], ids=["restricted", "all"])
def test_allowed_labels(allowed: Any) -> None:
    rows = [{"c": "red", "x": 1.0}, {"c": "blue", "x": 2.0}, {"c": "red", "x": None}]
    one, many = GapBoost(LABELS, seed=1), GapBoost(LABELS, seed=1)
    expected = [one.decide(row, choice)._memo.tobytes() for row, choice in zip(rows, allowed, strict=True)]
    assert [d._memo.tobytes() for d in many.decide_many(pl.DataFrame(rows), allowed)] == expected


def test_columns_that_are_called_nan() -> None:
    """Pandas may have several; they are told apart by nobody."""
    frame = pd.DataFrame([[1.0, 2.0]], columns=[float("nan"), float("nan")])
    with pytest.raises(FeatureError, match="two columns of one name"):
        play(fresh(), frame, [0])
