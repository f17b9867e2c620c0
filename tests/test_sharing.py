"""Names without limit and words, at the door: which number each one is, and what joins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import banditboost
from banditboost import AdaBandit, GapBoost, Schema, play
from banditboost.errors import FeatureError, ModelFileError
from banditboost.rows import sharing
from banditboost.rows.distinct import Distinct
from banditboost.rows.sharing import (
    FEWEST_COLUMNS,
    FEWEST_SAID,
    FEWEST_WORDS,
    FIRST_VALUES,
    MAX_VALUES,
    MOST_COLUMNS,
    MOST_NOTES,
    MOST_OF_SPARSE,
    MOST_WORDS,
    SHARED,
    Newcomers,
    Note,
    code_of,
    is_text,
    words_in,
)  # fmt: skip
from banditboost.rows.sparse import SparseRows
from tests.io.models import forge
from tests.naive import gap as naive_gap
from tests.naive import sharing as naive

VALUES = st.lists(st.integers(0, 40).map(str), max_size=80)


def test_the_constants_are_those_of_the_page() -> None:
    assert (naive.FIRST, naive.MOST, naive.REMEMBERED) == (FIRST_VALUES, MAX_VALUES, MOST_NOTES)


@given(st.text(), st.text())
def test_numbers_of_values(name: str, value: str) -> None:
    name, value = (text.encode("utf-8", "replace").decode() for text in (name, value))
    assert code_of(name, value) == naive.number(name, value)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_words_of_a_text(text: str) -> None:
    assert words_in(text) == naive.words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("New York", False),
        ("a b c d", True),
        ("a  b  c", False),
        ("one, two, three; four", True),
        ("", False),
    ],
)
def test_a_text_has_four_words(text: str, expected: bool) -> None:
    assert is_text(text) == expected
    assert FEWEST_WORDS == 4


def places_of(schema: Schema, values: list[str]) -> list[int | None]:
    """The place of each value as it comes, None if it shares one."""
    numbers = [float(schema.code({"city": value})[0]) for value in values]
    assert all(number < SHARED or number == SHARED + code_of("city", value)
               for number, value in zip(numbers, values, strict=True))  # fmt: skip
    return [int(number) if number < SHARED else None for number in numbers]


@given(VALUES, st.sampled_from([3, 1024]))
def test_who_gets_a_place(values: list[str], remembered: int) -> None:
    column = naive.Column()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "MOST_NOTES", remembered)
        patch.setattr(naive, "REMEMBERED", remembered)
        assert places_of(Schema(), values) == [column.see(value) for value in values]


def test_at_most_so_many_have_places() -> None:
    values = [str(i) for i in range(MAX_VALUES + 50)]
    schema, column = Schema(), naive.Column()
    twice = [value for value in values for _ in range(2)]
    assert places_of(schema, twice) == [column.see(value) for value in twice]
    assert schema.n_values() == [MAX_VALUES]
    version = schema.version
    assert places_of(schema, values[-3:] * 3) == [None] * 9
    assert schema.version == version


@given(VALUES, st.integers(0, 80))
def test_a_stored_schema_goes_on(values: list[str], stop: int) -> None:
    schema, whole = Schema(), Schema()
    expected = places_of(whole, values)
    first = places_of(schema, values[:stop])
    again = Schema.from_dict(schema.to_dict())
    assert first + places_of(again, values[stop:]) == expected
    assert again.to_dict() == whole.to_dict()
    assert len(again) == len(whole)


# Notes count when their rounds do


def test_notes_of_rounds_that_do_not_count_are_dropped() -> None:
    notes = Newcomers()
    notes.settle(5)
    notes.note([Note(5, "city", "Rome")])
    assert not notes.has("city", "Rome")
    notes.settle(5)  # the call was interrupted: its round is decided anew
    assert notes.to_plain(6) == []
    notes.note([Note(6, "city", "Rome")])
    notes.settle(7)
    assert notes.has("city", "Rome")


@given(VALUES, st.integers(0, 80))
def test_rows_that_were_coded_ahead_and_not_played(values: list[str], played: int) -> None:
    """Of rounds coded ahead, only those count that were decided."""
    ahead, alone = Newcomers(), Newcomers()
    ahead.look_ahead(0)
    for t, value in enumerate(values):
        ahead.note([Note(t, "city", value)])
    for t, value in enumerate(values[:played]):
        alone.note([Note(t, "city", value)])
        alone.settle(t + 1)
    assert ahead.to_plain(min(played, len(values))) == alone.to_plain(played)


def test_notes_of_a_row_that_joins_and_of_those_after_it_count_in_play() -> None:
    """A bool among names makes `play` go row by row."""
    values = ["v0", "v1", "v2", "v3", "v4", "v5", "v4", True, "v4", "v5"]
    rows: list[dict[str, Any]] = [{"c": value} for value in values]
    rows[4]["joins"] = "x"
    played, by_hand = GapBoost(range(2), seed=1), GapBoost(range(2), seed=1)
    play(played, rows, [0] * len(rows))
    for row in rows:
        decision = by_hand.decide(row)
        by_hand.learn(decision, decision.label == 0)
    assert played.schema.values("c") == by_hand.schema.values("c") == ("v0", "v1", "v2", "v3", "v4", "v5")


def test_a_refused_decision_leaves_no_note() -> None:
    model = AdaBandit(["yes", "no"], n_learners=1, seed=1)
    for i in range(FIRST_VALUES):
        model.decide({"id": str(i)})
    for _ in range(3):
        with pytest.raises(Exception, match="allowed"):
            model.decide({"id": "new"}, allowed=["maybe"])
    model.decide({"id": "new"})
    assert model.schema.n_values() == [FIRST_VALUES]
    model.decide({"id": "new"})
    assert model.schema.n_values() == [FIRST_VALUES + 1]


# Words


def words_of(schema: Schema, row: Any) -> dict[int, float]:
    """The words of a coded row, by number."""
    numbers, places = schema.code(row), schema.places()
    found = {}
    for i, place in enumerate(places):
        if place.kind == "word" and numbers[i] == numbers[i]:
            found[int(numbers[i])] = float(numbers[i + 1])
    return found


def taking_words(**declared: Any) -> Schema:
    schema = Schema(**declared)
    schema.takes_words = True
    return schema


@pytest.mark.parametrize(
    "value", [["red", "blue"], ("red", "blue", "red"), {"red", "blue"}, np.array(["red", "blue"])]
)
def test_a_list_is_words(value: Any) -> None:
    schema = taking_words()
    assert words_of(schema, {"tags": value}) == dict.fromkeys(
        (naive.number("tags", word) for word in ("red", "blue")), 1.0
    )
    assert schema.names == ()
    assert len(schema) == 16


def test_a_set_is_the_same_in_every_order() -> None:
    rows = [schema.code({"t": value}).tolist() for schema in [taking_words()]
            for value in ({"a", "b", "c", "d"}, {"d", "c", "b", "a"}, frozenset("dcba"))]  # fmt: skip
    np.testing.assert_equal(rows[0], rows[1])
    np.testing.assert_equal(rows[0], rows[2])


def test_texts_count_by_their_words_unless_they_had_a_place() -> None:
    schema = taking_words()
    for text in [f"this is text number{i}" for i in range(FIRST_VALUES + 1)]:
        assert words_of(schema, {"title": text}) == dict.fromkeys(
            (naive.number("title", word) for word in text.split()), 1.0
        )
    assert words_of(schema, {"title": "this is text number0"}) == {}


def test_declared_words() -> None:
    schema = taking_words(numeric=["age"], words=["title"])
    assert repr(schema) == "Schema(age: numeric, title: words)"
    assert words_of(schema, {"age": 3, "title": "Red, red Wine"}) == dict.fromkeys(
        (naive.number("title", word) for word in ("red", "wine")), 1.0
    )
    assert words_of(schema, [3.0, ["a"]]) == {naive.number("title", "a"): 1.0}
    with pytest.raises(FeatureError, match="declare Schema"):
        schema.code({"age": 3, "tags": ["a"]})
    with pytest.raises(FeatureError, match="declared twice"):
        Schema(numeric=["age"], words=["age"])


def test_columns_beyond_the_limit_are_words() -> None:
    schema = taking_words()
    schema.code({f"w{i}": 2.0 for i in range(MOST_COLUMNS)})
    found = words_of(schema, {"more": 2.5, "w3": 1.0, "kind": "red", "none": 0.0, "flag": True})
    assert found == {
        naive.number("more", ""): 2.5, naive.number("kind", "red"): 1.0, naive.number("flag", "True"): 1.0
    }  # fmt: skip
    assert len(schema.names) == MOST_COLUMNS


@pytest.mark.parametrize("present", [31, 32])
@pytest.mark.parametrize("value", [1, 2.5, True, "red"])
def test_what_is_new_in_a_row_that_lacks_most_columns_is_a_word(present: int, value: Any) -> None:
    schema = taking_words()
    schema.code({f"w{i}": 2.0 for i in range(FEWEST_COLUMNS)})
    row = {**{f"w{i}": 1.0 for i in range(present)}, "new": value}
    schema.code({"tags": ["room"] * 2, **{f"w{i}": 1.0 for i in range(40)}})
    out = np.full(len(schema), np.nan)
    named = str(value) if isinstance(value, (bool, str)) else ""
    if present == 31:
        word = {naive.number("new", named): 1.0 if named else float(value)}
        assert schema.encode(row, out)
        assert out.tobytes() == schema.code(row).tobytes()
        assert words_of(schema, row) == word
        assert "new" not in schema.names
    else:
        assert not schema.encode(row, out)
        schema.code(row)
        assert schema.names[-1] == "new"


@pytest.mark.parametrize("value", [1, 1.0, True, np.True_])
def test_many_features_that_are_only_said_are_words(value: Any) -> None:
    schema = taking_words()
    row = {"hour": 9, **{f"w{i}": value for i in range(FEWEST_SAID)}}
    said = "True" if value is True or value is np.True_ else ""
    assert words_of(schema, row) == {naive.number(f"w{i}", said): 1.0 for i in range(FEWEST_SAID)}
    assert schema.names == ("hour",)
    out = np.full(len(schema), np.nan)
    more = {"hour": 9, **{f"v{i}": value for i in range(FEWEST_SAID)}}
    if type(value) in (int, float, bool):
        assert schema.encode(more, out)
        assert out.tobytes() == schema.code(more).tobytes()
    assert schema.names == ("hour",)


@pytest.mark.parametrize(
    "row",
    [
        {f"w{i}": 1 for i in range(FEWEST_SAID - 1)},
        {"out": 0, **{f"w{i}": 1 for i in range(FEWEST_SAID)}},
        {"out": False, **{f"w{i}": True for i in range(FEWEST_SAID)}},
        {f"w{i}": 2 for i in range(FEWEST_SAID)},
        {f"w{i}": "yes" for i in range(FEWEST_SAID)},
    ],
)
def test_a_row_of_a_table_has_columns(row: dict[str, Any]) -> None:
    schema = taking_words()
    schema.code(row)
    assert schema.names == tuple(row)
    strict = Schema()  # to trees, everything is a column
    strict.code({f"w{i}": 1 for i in range(FEWEST_SAID)})
    assert len(strict.names) == FEWEST_SAID


@pytest.mark.parametrize("present", [FEWEST_SAID // 2 - 1, FEWEST_SAID // 2])
def test_what_is_only_said_in_a_row_that_lacks_most_of_some_columns_is_a_word(present: int) -> None:
    schema = taking_words()
    schema.code({f"c{i}": 2.0 for i in range(FEWEST_SAID)})
    row = {**{f"c{i}": 2.0 for i in range(present)}, "new": True, "other": 3.0}
    schema.code(row)
    joined = () if present < FEWEST_SAID // 2 else ("new",)
    assert set(schema.names) == {*(f"c{i}" for i in range(FEWEST_SAID)), *joined, "other"}


def test_what_was_only_said_becomes_a_column_when_it_is_denied() -> None:
    schema = taking_words()
    schema.code({f"w{i}": 1 for i in range(FEWEST_SAID)})
    schema.code({f"w{i}": i % 2 for i in range(FEWEST_SAID)})
    assert len(schema.names) == FEWEST_SAID


def test_few_columns_are_never_too_many() -> None:
    schema = taking_words()
    schema.code({f"w{i}": 2.0 for i in range(FEWEST_COLUMNS - 1)})
    schema.code({"new": 2.0})
    assert schema.names[-1] == "new"
    strict = Schema()
    strict.code({f"w{i}": 1.0 for i in range(FEWEST_COLUMNS)})
    strict.code({"new": 1.0})
    assert strict.names[-1] == "new"  # to trees, everything is a column


@pytest.mark.parametrize("missing", [0, 30, 40])
def test_wide_frames_are_played_as_one_by_one(missing: int) -> None:
    """Of 70 columns some come later: as columns, or, if most others are missing in that row, as words."""
    luck = np.random.default_rng(missing)
    frame = pd.DataFrame(luck.normal(size=(40, 70)), columns=[f"c{i}" for i in range(70)])
    frame.iloc[:20, 69] = np.nan
    frame.iloc[20:, :missing] = np.nan
    y = luck.integers(0, 2, 40)
    many, one = GapBoost([0, 1], seed=3), GapBoost([0, 1], seed=3)
    shown = play(many, frame, y).shown.tolist()
    for row, right, label in zip(frame.to_dict("records"), y, shown, strict=True):
        decision = one.decide(row)
        assert decision.label == label
        one.learn(decision, correct=decision.label == right)
    assert many.schema.names == one.schema.names
    assert ("c69" in many.schema.names) == (missing < 40)


def test_a_name_counts_from_its_second_coming_on() -> None:
    """Ids are new each time: what is learned is what is learned without them."""
    luck = np.random.default_rng(5)
    schema = Schema(numeric=["size"], nominal={"id": list("abcd")})
    with_ids, without = (GapBoost([0, 1, 2], schema=schema, seed=3) for _ in range(2))
    for i in range(100):
        size = float(luck.normal())
        one, other = with_ids.decide({"size": size, "id": f"id {i}"}), without.decide({"size": size})
        assert (one.label, one.probability) == (other.label, other.probability)
        with_ids.learn(one, correct=size > one.label)
        without.learn(other, correct=size > other.label)
    again = with_ids.distribution({"size": 0.0, "id": "id 99"})
    assert again != with_ids.distribution({"size": 0.0})
    assert with_ids.distribution({"size": 0.0, "id": "never"}) == with_ids.distribution({"size": 0.0})


def test_too_many_words() -> None:
    schema = taking_words()
    schema.code({"t": [str(i) for i in range(MOST_WORDS)]})
    with pytest.raises(FeatureError, match="at most 4096"):
        schema.code({"t": [str(i) for i in range(MOST_WORDS + 1)]})


@pytest.mark.parametrize(
    "value", [(np.zeros(2), 3), (np.void(b"x"), 3), [1, 2], ["a", None], [["a"]], {"a", 3}, np.array([1.0])]
)
def test_lists_of_other_things_are_refused(value: Any) -> None:
    with pytest.raises(FeatureError, match="list or set of strings"):
        taking_words().code({"t": value})


def test_trees_refuse_words() -> None:
    model = AdaBandit(["yes", "no"], n_learners=1, seed=1)
    with pytest.raises(FeatureError, match="use GapBoost"):
        model.decide({"tags": ["a"]})
    assert model.rounds == 0


def test_a_model_that_only_learns_from_branches_gives_places() -> None:
    """A branch tells values that have places there; others it tells by their numbers."""
    model = GapBoost(["yes", "no"], seed=1)
    branch = model.branch()
    rows = [{"id": f"n{i}", "tags": ["a", f"t{i}"]} for i in range(FIRST_VALUES + 3)]
    decisions = [branch.decide(row) for row in [*rows, *rows[-1:]]]
    model.learn_many(decisions, [True] * len(decisions))
    assert model.schema.values("id") == branch.schema.values("id")
    assert model.verdicts == len(decisions)


STORED = [
    {"words": 3}, {"words": ["a"]}, {"word_places": [0]}, {"word_places": [0, 2, 4, 6, 8, 10, 12, 99]},
    {"word_places": "abc"}, {"shares": 1}, {"newcomers": [["a"]]}, {"newcomers": [["b", ["x"]]]},
    {"newcomers": [["a", ["0"]]]}, {"newcomers": [["a", ["x"]], ["a", ["y"]]]}, {"declared_values": [300]},
    {"newcomers": [[["a"], ["x"], "00" * 256]]},
]  # fmt: skip


@pytest.mark.parametrize("changed", STORED)
def test_stored_schemas_that_cannot_be(changed: dict[str, Any]) -> None:
    schema = Schema(nominal={"a": [str(i) for i in range(9)]}).to_dict()
    with pytest.raises(FeatureError, match=r"to_dict|declared twice"):
        Schema.from_dict({**schema, **changed})


# How many there were


def test_how_many_values_there_were_about() -> None:
    """Within three standard errors of 6.5 %, from few to many."""
    counted = Distinct()
    for n in range(1, 30_001):
        counted.add(code_of("id", f"visitor {n}"))
        if n in (1, 10, 100, 1_000, 10_000, 30_000):
            assert abs(counted.about() - n) <= 3 * 0.065 * n
            counted.add(code_of("id", f"visitor {n}"))
            assert abs(counted.copy().about() - n) <= 3 * 0.065 * n


def test_the_summary_tells_what_shares() -> None:
    model = GapBoost(["yes", "no"], seed=1)
    for i in range(300):
        decision = model.decide({"id": str(i), "tags": [f"t{i % 50}"]})
        model.learn(decision, correct=i % 2 == 0)
    summary = model.summary()
    own, shared = summary.shared_values["id"]
    assert own == FIRST_VALUES
    assert abs(shared - (300 - FIRST_VALUES)) < 60
    assert summary.word_places == (300 - FIRST_VALUES + 50, 2**18)
    assert "id: 4 values have places of their own, about" in repr(summary)
    assert "places in use" in repr(summary)


# Sparse matrices


def sparse_stream(n_columns: int, n_rows: int = 60) -> tuple[Any, list[int]]:
    luck = np.random.default_rng(n_columns)
    X = scipy.sparse.random(n_rows, n_columns, 8 / n_columns, "csr", rng=luck)
    return X, [int(row.nnz) % 2 for row in X]


@pytest.mark.parametrize("n_columns", [30, MOST_OF_SPARSE + 1, 2_000_000])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_are_played_as_one_by_one(n_columns: int, form: str) -> None:
    X, y = sparse_stream(n_columns)
    one, many, asked = (GapBoost([0, 1], seed=3) for _ in range(3))
    rows = list(SparseRows(one.schema, X).rows())
    assert all(isinstance(row, dict) == (n_columns > MOST_OF_SPARSE) for row in rows)
    shown = []
    for row, right in zip(rows, y, strict=True):
        decision = one.decide(row)
        shown.append(decision.label)
        one.learn(decision, correct=decision.label == right)
    assert play(many, X.asformat(form), y).shown.tolist() == shown
    assert [decision.label for decision in asked.decide_many(X)] == [
        decision.label for decision in GapBoost([0, 1], seed=3).decide_many(rows)
    ]


def test_a_sparse_matrix_to_trees_is_a_matrix() -> None:
    X, y = sparse_stream(MOST_OF_SPARSE + 5)
    sparse, dense = (AdaBandit([0, 1], n_learners=2, seed=3) for _ in range(2))
    assert play(sparse, X, y).shown.tolist() == play(dense, X.toarray(), y).shown.tolist()


def test_bad_sparse_matrices_are_refused() -> None:
    X, y = sparse_stream(5_000)
    X.data[7] = np.inf
    model = GapBoost([0, 1], seed=3)
    with pytest.raises(FeatureError, match="finite number"):
        play(model, X, y)
    X.data[7] = 1.0
    with pytest.raises(FeatureError, match="where 2 are expected"):
        play(GapBoost([0, 1], schema=Schema(numeric=["a", "b"])), X, y)
    with pytest.raises(FeatureError, match="4097 numbers that are not 0"):
        play(model, scipy.sparse.csr_matrix(np.ones((1, MOST_WORDS + 1))), [0])
    assert (model.rounds, len(model.schema)) == (0, 0)


@pytest.mark.parametrize("row", [{("#", 5): 1.0}, {("#", 5): None}, {("#", 5): "x"}, {"size": ("#", 5)}])
@pytest.mark.parametrize("kind", [AdaBandit, GapBoost])
def test_numbers_of_words_where_there_are_none(kind: Any, row: Any) -> None:
    """Only a branch tells a word or value by its number: not to trees, and not in a column of numbers."""
    model = kind(["yes", "no"], seed=1)
    model.decide({"size": 1.0})
    if kind is GapBoost and row == {("#", 5): 1.0}:
        model.decide(row)
        return
    with pytest.raises(FeatureError, match="as a branch tells"):
        model.decide(row)
    assert (model.rounds, len(model.schema)) == (1, 1)


def test_the_summary_counts_values_that_have_got_a_place_once() -> None:
    """All of 100 values come again, and have places; of 400 the last 144 share."""
    for n_values, own in ((100, 100), (400, MAX_VALUES)):
        model = GapBoost(["yes", "no"], seed=1)
        for i in range(3 * n_values):
            model.learn(model.decide({"city": f"c{i % n_values}"}), correct=i % 2 == 0)
        found = model.summary().shared_values["city"]
        assert found[0] == own
        assert abs(found[1] - (n_values - own)) < 0.2 * n_values


@pytest.mark.parametrize("form", ["array", "list", "many"])
def test_arrays_after_words_bring_columns(form: str) -> None:
    """They join as they do in any model: on a draft, and with their numbers as they are."""
    model = GapBoost(["yes", "no"], seed=1)
    model.decide({"tags": ["a", "b"]})
    assert sum(model.distribution(np.array([1.0, 2.0])).values()) == pytest.approx(1.0)
    assert model.schema.names == ()
    row = np.array([1.0, 2.0])
    decision = {"array": lambda: model.decide(row), "list": lambda: model.decide([1.0, 2.0]),
                "many": lambda: model.decide_many(row[np.newaxis])[0]}[form]()  # fmt: skip
    model.learn(decision, correct=True)
    assert model.schema.names == ("x0", "x1")
    assert model.rounds == 2


@pytest.mark.parametrize("n_columns", [30, 5_000])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.coo_array])
def test_one_sparse_row(n_columns: int, kind: Any) -> None:
    X, _ = sparse_stream(n_columns, 8)
    one, many = GapBoost([0, 1], seed=3), GapBoost([0, 1], seed=3)
    alone = [one.decide(kind(X[i : i + 1])).to_dict()["memo"] for i in range(8)]
    assert alone == [decision.to_dict()["memo"] for decision in many.decide_many(X)]
    assert one.distribution(scipy.sparse.csr_array(X)[3]) == one.distribution(X[3:4])
    with pytest.raises(FeatureError, match="use decide_many"):
        one.decide(X)


def keep_values(arrays: dict[str, Any], n: int) -> None:
    """The first n numbers of each shared place; of all five, without claims."""
    arrays["shared_values"] = arrays["shared_values"][:n]
    arrays["shared_values"][3:] = 0.0
    if n == 5:
        arrays["shared_claims"] = np.zeros(2)
    else:
        del arrays["shared_claims"]


def test_claims_in_files_are_possible_ones(tmp_path: Path) -> None:
    model = GapBoost(["yes", "no"], seed=1)
    for i in range(60):
        tags = [f"t{i % 5}"]
        decision = model.decide({"tags": tags})
        model.learn(decision, correct=(decision.label == "yes") == (i % 5 < 2))
    path = tmp_path / "model.bb"
    model.save(path)

    def load(place: tuple[int, float], claims: tuple[float, float]) -> None:
        def change(_: Any, arrays: dict[str, Any]) -> None:
            arrays["shared_values"][place[0], 0] = place[1]
            arrays["shared_claims"] = np.array(claims)

        banditboost.load(forge(path, change))

    load((3, 1.0), (60.0, 20.0))
    for place in ((3, -1.0), (3, 61.0), (4, -1.0), (4, 61.0), (4, np.nan), (3, np.inf)):
        with pytest.raises(ModelFileError, match="claims"):
            load(place, (60.0, 20.0))
    for claims in ((-1.0, 0.0), (1.0, 2.0), (1e9, 2.0), (60.0, -1.0), (np.nan, 0.0)):
        with pytest.raises(ModelFileError, match="claims"):
            load((3, 1.0), claims)


@pytest.mark.parametrize("n_columns", [30, MOST_OF_SPARSE + 1])
@pytest.mark.parametrize("kind", [GapBoost, AdaBandit])
def test_sparse_rows_after_dense_ones_are_the_same_features(n_columns: int, kind: Any) -> None:
    X, y = sparse_stream(n_columns)
    settings = {} if kind is GapBoost else {"n_learners": 2}
    mixed, dense = (kind([0, 1], seed=3, **settings) for _ in range(2))
    shown = [play(model, part, right).shown.tolist() for model, parts in (
        (mixed, (X[:20].toarray(), X[20:40], X[40:].toarray())),
        (dense, (X[:20].toarray(), X[20:40].toarray(), X[40:].toarray())),
    ) for part, right in zip(parts, (y[:20], y[20:40], y[40:]), strict=True)]  # fmt: skip
    assert shown[:3] == shown[3:]
    assert mixed.schema.to_dict() == dense.schema.to_dict()
    assert mixed.decide(X[3]).to_dict()["memo"] == dense.decide(X[3].toarray()[0]).to_dict()["memo"]


def test_wide_dense_rows_after_sparse_ones_are_refused() -> None:
    X, y = sparse_stream(MOST_OF_SPARSE + 1)
    model = GapBoost([0, 1], seed=3)
    play(model, X, y)
    dense, before = X.toarray(), model.schema.to_dict()
    for call in (lambda: play(model, dense, y), lambda: model.decide(dense[0]), lambda: model.decide_many(dense),
                 lambda: model.decide(dense[0].tolist()), lambda: model.distribution(dense[0])):  # fmt: skip
        with pytest.raises(FeatureError, match=r"of 257 values, but .* give a sparse matrix, such as scipy"):
            call()
    assert (model.rounds, model.schema.to_dict()) == (len(y), before)
    play(model, scipy.sparse.csr_matrix(dense), y)


def test_files_from_before_names_counted_from_their_second_coming(tmp_path: Path) -> None:
    """They have two numbers for each shared place, later ones three. Names that come again count from then on;
    words at once, and what their claims are worth is learned anew.
    """
    model = GapBoost(["yes", "no"], seed=1)
    for i in range(60):
        row = {"six": f"v{i % 6}", "twelve": f"v{i % 12}", "id": str(i), "tags": [f"t{i % 5}"]}
        model.learn(model.decide(row), correct=i % 2 == 0)
    path = tmp_path / "model.bb"
    model.save(path)
    two, three, none_right = (
        banditboost.load(forge(path, lambda _, arrays, keep=keep: keep_values(arrays, keep)))
        for keep in (2, 3, 5)
    )
    words, name, old = {"tags": ["t1", "t2"]}, {"id": "59"}, two
    assert two.distribution(words) == three.distribution(words) == none_right.distribution(words)
    assert three.distribution(name) == model.distribution(name)
    assert old.distribution(name) == old.distribution({})
    assert model.distribution(name) != model.distribution({})
    for shape in ((1, 4), (4, 4), (6, 4)):
        with pytest.raises(ModelFileError):
            banditboost.load(
                forge(path, lambda _, arrays, shape=shape: arrays.update(shared_values=np.ones(shape)))
            )


@pytest.mark.parametrize("n_values", range(1, 20))
@pytest.mark.parametrize("declared", [0, 6, 12])
def test_slots_of_values_are_those_that_files_have(n_values: int, declared: int) -> None:
    """As many as values up to 8, whoever gets a place first: files of before are laid out by it."""
    assert sharing.slots_for(n_values, declared) == naive_gap.n_slots("nominal", n_values, declared)
    assert sharing.slots_for(6, 0) == 6


@pytest.mark.parametrize("value", [np.arange(2), pd.NA, pd.DataFrame({"a": [1]}), float("nan"), [1], b"1"])
def test_what_is_neither_a_number_nor_a_text_is_not_0_or_1(value: Any) -> None:
    assert not sharing.equals(1, value)
    assert not sharing.equals(0, value)


@pytest.mark.parametrize("value", [1, 1.0, True, np.True_, np.float32(1), np.int8(1), "True"])
def test_what_says_that_a_word_is_there(value: Any) -> None:
    assert sharing.equals(1, value)
    assert not sharing.equals(0, value)
