"""Doors with junk before them: only our own errors come out, and nothing has changed."""

from __future__ import annotations

import io
import json
import math
import zipfile
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import (
    AdaBandit,
    AdaFull,
    BinBandit,
    Decision,
    GapBoost,
    HoeffdingTree,
    PendingDecisions,
    Schema,
    datasets,
    play,
)
from banditboost.datasets import files, uci
from banditboost.errors import BanditBoostError, FeatureError, LabelError, ParameterError
from banditboost.experiments import (
    agreement,
    comparison,
    estimators,
    figures,
    report,
    searches,
    statistics,
    tables,
    tune,
)
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.results import Results
from banditboost.experiments.task import Source, Task
from tests.experiments.made_up import record
from tests.test_bad_input import state_of

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(5000, 5010).map(lambda digits: 10**digits)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=3)
    | st.sampled_from(
        [
            Decimal("sNaN"),
            1j,
            object(),
            object,
            len,
            type,
            ([],),
            np.array(3),
            np.array([[1.0]]),
            pd.NA,
            np.timedelta64(1, "s"),
            np.datetime64("2020"),
            np.array([5, 6, 7], "m8"),
        ]
    )
    | st.sampled_from([0, 5, "NaT"]).map(
        np.timedelta64
    )  # Hypothesis itself wants to hash what it samples from
    | st.builds(lambda: pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "a"]})),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.lists(inner, max_size=3).map(iter)
    ),
    max_leaves=5,
)
MANY = settings(max_examples=300, deadline=None)


def only_ours(door: Any, *arguments: Any, **named: Any) -> None:
    with suppress(BanditBoostError):
        door(*arguments, **named)


@MANY
@given(junk=plain)
def test_schemas(junk: Any) -> None:
    only_ours(Schema, numeric=junk)
    only_ours(Schema, nominal=junk)
    only_ours(Schema, nominal={"x": junk})
    only_ours(Schema.of, junk, junk)
    only_ours(Schema.of, ["x"], ["nominal"], junk)
    only_ours(Schema.from_dict, junk)
    stored = Schema(numeric=["a"], nominal={"b": ["c"]}).to_dict()
    for key in stored:
        only_ours(Schema.from_dict, {**stored, key: junk})
        only_ours(Schema.from_dict, {**stored, key: [junk, junk]})
    only_ours(Schema(numeric=["a"]).values, junk)


@pytest.mark.parametrize("names", [[["a"]], [{}]], ids=repr)
def test_names_that_are_not_hashable(names: Any) -> None:
    with pytest.raises(FeatureError, match="not hashable; give strings"):
        Schema.from_dict({**Schema(numeric=["a"]).to_dict(), "names": names})


PLAYED = AdaBandit(["a", "b"], n_learners=2, seed=1)
X, Y = [{"x": 1.0}, {"x": 2.0}, {"x": 3.0}], ["a", "b", "a"]
play(PLAYED, X, Y)


@MANY
@given(junk=plain, door=st.sampled_from(["model", "X", "y", "labels", "delay", "delays", "lost", "progress"]))
def test_play(junk: Any, door: str) -> None:
    if callable(junk) and (door == "progress" or (door == "delay" and junk is len)):
        return
    model: Any = AdaBandit(["a", "b"], n_learners=2, seed=1)
    before = state_of(model)
    calls: dict[str, Any] = {
        "model": lambda: play(junk, X, Y),
        "X": lambda: play(model, junk, Y),
        "y": lambda: play(model, X, junk),
        "labels": lambda: play(model, X, [junk] * 3),
        "delay": lambda: play(model, X, Y, delay=junk),
        "delays": lambda: play(model, X, Y, delay=lambda _: junk),
        "lost": lambda: play(model, X, Y, lost=junk),
        "progress": lambda: play(model, X, Y, progress=junk),
    }
    try:
        calls[door]()
    except BanditBoostError:
        assert state_of(model) == before


# What only some of the doors take for what it is: NumPy's spans of time count as integers there, and those
# without a unit have no hash.
SPANS = [np.timedelta64(5), np.timedelta64(0), np.timedelta64("NaT"), np.timedelta64(0, "s")]
PARAMETERS = [
    "exploration",
    "n_learners",
    "seed",
    "max_memory",
    "clip",
    "estimator",
    "importance_scale",
    "tie_tolerance",
]


@pytest.mark.parametrize("span", SPANS, ids=repr)
def test_spans_of_time_are_no_numbers(span: Any) -> None:
    for name in PARAMETERS:
        with pytest.raises(BanditBoostError, match=rf"{name} is .*timedelta64.*; give"):
            AdaBandit(["a", "b"], **{name: span})
    for named in ({"grace_period": span}, {"min_branch_fraction": span}, {"tie_threshold": (span, 0.5)}):
        with pytest.raises(BanditBoostError, match=r"is .*timedelta64.*; give"):
            HoeffdingTree(**named)
    for name in ("delay", "lost"):
        with pytest.raises(BanditBoostError, match=rf"{name} is .*timedelta64.*; give"):
            play(PLAYED, X, Y, **{name: span})
    with pytest.raises(BanditBoostError, match=r"exploration is .*timedelta64"):
        PLAYED.exploration = span


def test_spans_of_time_without_a_unit_are_no_labels() -> None:
    span: Any = np.timedelta64(5)
    gap = GapBoost(["a", "b"], seed=1)
    full = AdaFull(["a", "b"], n_learners=2, seed=1)
    calls: dict[str, Any] = {
        "label": lambda: AdaBandit(["a", span]),
        "label ": lambda: gap.add_label(span),
        "allowed": lambda: gap.decide({"x": 1.0}, allowed=["a", span]),
        "allowed ": lambda: gap.decide_many([{"x": 1.0}], allowed=[[span]]),
        "y": lambda: full.learn_one({"x": 1.0}, span),
        "y ": lambda: full.learn_many([{"x": 1.0}], [span]),
        "y  ": lambda: play(gap, X, [span] * 3),
        "y   ": lambda: play(gap, X, np.array([5, 6, 7], "m8")),
        "label  ": lambda: BinBandit(["a", "b"], n_learners=2, seed=1).tree(0, label=span),
        "id": lambda: PendingDecisions(gap).add(span, gap.decide({"x": 1.0})),
    }
    for name, call in calls.items():
        with pytest.raises(BanditBoostError, match=rf"{name.strip()} .*5.*; (give|they)"):
            call()
    assert span not in PendingDecisions(gap)
    assert gap.labels == ("a", "b")


@pytest.mark.parametrize("delay", [type, int, float, dict, np.ndarray, AdaBandit])
def test_classes_are_no_functions_of_delays(delay: Any) -> None:
    with pytest.raises(
        BanditBoostError, match=r"delay is <class .*; give a number of rounds, .* or a function"
    ):
        play(PLAYED, X, Y, delay=delay)


@pytest.mark.parametrize("delay", [lambda _: np.ndarray, lambda _: [[1], [1, 2]], lambda n: n.astype("m8")])
def test_functions_that_give_no_delays(delay: Any) -> None:
    with pytest.raises(BanditBoostError, match=r"delay gave an array of shape .*; it must turn n uniform"):
        play(PLAYED, X, Y, delay=delay)


def failing() -> Any:
    yield b"k" * 32
    raise ValueError("not ours")


@pytest.mark.parametrize(
    "key", [failing(), np.timedelta64(5), np.array(3)], ids=["generator", "span", "array"]
)
def test_keys_that_cannot_be_gone_through(key: Any) -> None:
    token = GapBoost(["a", "b"], seed=1).decide({"x": 1.0}).to_token(b"k" * 32)
    with pytest.raises(BanditBoostError, match=r"key is a .*; give secret bytes"):
        Decision.from_token(token, key)


@pytest.mark.parametrize("y", [5, [10**30] * 3, [([],)] * 3], ids=["5", "huge", "tuple"])
def test_right_labels_that_are_none(y: Any) -> None:
    with pytest.raises(LabelError, match=r"y (is|holds) .*; (give|they)"):
        play(PLAYED, X, y)


def test_neither_right_labels_nor_rewards() -> None:
    with pytest.raises(ParameterError, match="neither y nor rewards is given; give one"):
        play(PLAYED, X, None)


@MANY
@given(junk=plain)
def test_tables_of_the_user(junk: Any) -> None:
    frame = pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "a"]})
    only_ours(datasets.read, junk, "y")
    only_ours(datasets.read, frame, junk)
    only_ours(datasets.open_file, junk, "y")
    for name in ("numeric", "nominal", "ignore"):
        only_ours(datasets.read, frame, "y", **{name: junk})
    only_ours(datasets.load, junk)
    only_ours(datasets.load, "car", junk)
    only_ours(datasets.load, "mice", "raw", junk if junk is not None else "nowhere")
    table = datasets.read(frame, "y")
    only_ours(table.stream, seed=junk)
    only_ours(table.stream, rounds=junk)
    cells = pd.Series([junk, None, junk], dtype=object)
    only_ours(datasets.read, pd.DataFrame({"x": cells, "y": frame["y"]}), "y")
    only_ours(datasets.read, pd.DataFrame({"x": frame["x"], "y": cells}), "y")


LARGE = [2**53 + 1, 2**63 - 1, -(2**63), None]


def test_large_integers_are_the_nearest_floats_everywhere(tmp_path: Path) -> None:
    """Parquet, Arrow, pandas on pyarrow and CSV have the same numbers."""
    y = ["a", "b", "a", "b"]
    table = pa.table({"id": pa.array(LARGE, pa.int64()), "y": y})
    pq.write_table(table, tmp_path / "t.parquet")
    lines = [
        "id,y",
        *(f"{'' if number is None else number},{label}" for number, label in zip(LARGE, y, strict=True)),
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    wanted = [math.nan if number is None else float(number) for number in LARGE]
    arrow = table.to_pandas(types_mapper=pd.ArrowDtype)
    for source in (table, arrow, tmp_path / "t.parquet", tmp_path / "t.csv"):
        np.testing.assert_array_equal(datasets.read(source, "y").X[:, 0], wanted)
    huge = pa.table({"id": pa.array([2**64 - 1, 0], pa.uint64()), "y": ["a", "b"]})
    assert datasets.read(huge, "y").X[:, 0].tolist() == [float(2**64), 0.0]
    assert datasets.read(pa.table({"x": [1, 2, 3], "id": LARGE[:3]}), "id").labels == tuple(
        map(str, sorted(LARGE[:3]))
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"a":' + "[" * 100_000, "nested too deep in line 1"),
        ('{"a":' + "9" * 5000 + "}", "too many digits in line 1"),
    ],
    ids=["deep", "long"],
)
def test_odd_lines_of_json(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(datasets.DatasetError, match=told):
        datasets.read(path, "y")


# Archives that unpack to more than they can be


def zipped(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


BOMB = bytes(uci.LARGEST + 1)


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
def test_zip_bombs(tmp_path: Path, inside: bool) -> None:
    packed = zipped(uci.MOVEMENT_TABLE, BOMB)
    (tmp_path / files.MOVEMENT.archive).write_bytes(zipped("har.zip", packed) if inside else packed)
    with pytest.raises(datasets.DatasetError, match="unpacks to more than 64 MiB"):
        datasets.load("movement", directory=tmp_path)


def test_gzip_bombs(tmp_path: Path) -> None:
    import gzip

    (tmp_path / files.MICE.filename).write_bytes(gzip.compress(BOMB, 1))
    with pytest.raises(datasets.DatasetError, match="unpacks to more than 64 MiB"):
        datasets.load("mice", directory=tmp_path)


def test_an_archive_that_holds_itself_ends() -> None:
    packed = zipped("a.zip", zipped("a.zip", zipped("a.zip", b"")))
    with pytest.raises(KeyError):
        uci.member(packed, "x.csv")


def test_https_comes_first() -> None:
    for file in files.FILES.values():
        plain_ones = [url for url in file.urls if url.startswith("http://")]
        for url in plain_ones:
            place = file.urls.index(url)
            assert file.urls.index(url.replace("http://", "https://")) < place == len(file.urls) - 1


# Experiments

GOOD = record()
MADE = {
    "summary": comparison.summary,
    "table1": tables.table1,
    "table4": searches.table4,
    "learners": searches.learners,
    "estimators": estimators.estimators,
    "within": agreement.within,
    "orders": agreement.orders,
    "curves": figures.learning_curves,
    "grid": figures.exploration,
    "report": lambda records: report.page(report.Report("x", [], records)),
}


@pytest.mark.parametrize("door", [name for name in MADE if name not in ("curves", "grid", "report")])
@MANY
@given(junk=plain, field=st.sampled_from([*GOOD, *(f"task.{name}" for name in GOOD["task"])]))
def test_records(door: str, junk: Any, field: str) -> None:
    part, _, inner = field.partition(".")
    value = {**GOOD[part], inner: junk} if inner else junk
    only_ours(MADE[door], [{**GOOD, part: value}])
    only_ours(MADE[door], junk)


@pytest.mark.parametrize("door", list(MADE))
@pytest.mark.parametrize(
    "field", ["task", "rounds", "n_labels", "accuracy", "curve", "seconds", "machine", "finished"]
)
def test_records_that_lack_something(door: str, field: str) -> None:
    for value in (None, "x", [], {}):
        only_ours(MADE[door], [{**GOOD, field: value}])
    with pytest.raises(ExperimentError, match="for task; delete its line"):
        MADE[door]([{**GOOD, "task": {}}])
    with pytest.raises(ExperimentError):
        MADE[door]([])


@pytest.mark.parametrize(
    "line",
    [
        '{"format":1,"id":[]}',
        '{"format":1,"id":{}}',
        '{"format":1,"id":1}',
        "[" * 100_000,
        "5",
        '"x"',
        '{"format":1,"id":"x"',
    ],
    ids=lambda line: line[:20],
)
def test_lines_that_are_no_records(tmp_path: Path, line: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ExperimentError, match=r"line 1 of .* is no record of a task; delete the line"):
        Results(path).records()


@MANY
@given(junk=plain)
def test_tasks(junk: Any) -> None:
    task = Task(Source("car"), "AdaBandit", {"n_learners": 2}, 4)
    only_ours(Source.from_dict, junk)
    only_ours(Task.from_dict, junk)
    for name in task.to_dict():
        only_ours(lambda key=name: Task.from_dict({**task.to_dict(), key: junk}).id)
    for name in ("name", "path", "numeric", "repeat", "rounds", "shuffle"):
        only_ours(Source.from_dict, {"name": "car", name: junk})
    only_ours(statistics.mean_interval, junk)
    only_ours(statistics.paired_difference, {1: 0.5}, junk)
    only_ours(tune.Search, Source("car"), "AdaBandit", junk)
    only_ours(tune.Search, Source("car"), "AdaBandit", {"edge": junk})
    only_ours(tune.rungs, 3, 900, junk)


def test_a_record_that_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    results.append({"id": "a"})
    for junk in (
        {"id": "b", "accuracy": math.nan},
        {"id": "b", "x": object()},
        5,
        {"id": "b", "n": 10**5000},
    ):
        with pytest.raises(ExperimentError, match="JSON cannot hold"):
            results.append(junk)  # type: ignore[arg-type]
    assert [json.loads(line)["id"] for line in results.path.read_text().splitlines()] == ["a"]
