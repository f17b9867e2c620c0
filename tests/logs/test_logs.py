"""Logs are read as they were written, whoever wrote them."""

from __future__ import annotations

import gzip
import json
import math
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import logs
from banditboost.errors import BanditBoostError, LogError
from banditboost.interop.logs import DecisionLog
from banditboost.logs.log import as_objects
from tests.logs.made import made_log, told

NAMED: dict[str, Any] = {name: name for name in ("action", "reward", "probability", "position", "time", "id")}


@pytest.mark.parametrize("extension", ["jsonl", "csv", "parquet"])
def test_written_logs_are_read_without_loss(extension: str, tmp_path: Path) -> None:
    log = made_log(300)
    path = tmp_path / f"log.{extension}"
    logs.write(log, path)
    back = logs.read(path, **NAMED)
    assert told(back) == told(log)
    assert (back.labels, back.n_rows) == (log.labels, 300)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_are_read_without_loss(backend: Any) -> None:
    log = made_log(100)
    assert told(logs.read(logs.to_frame(log, backend), **NAMED)) == told(log)


def test_vw_text_is_read_without_loss() -> None:
    log = made_log(100)
    back = logs.read_vw(list(logs.vw_lines(log, best=1.0)), labels=log.labels, best=1.0)
    assert [row[:4] for row in told(back)] == [row[:4] for row in told(log)]


def test_obp_is_read_without_loss() -> None:
    feedback = {
        "context": np.array([[1.0, 2.0], [math.nan, 3.0]]),
        "action": np.array([1, 0]),
        "reward": np.array([0.5, 1.0]),
        "pscore": np.array([0.25, 0.75]),
        "position": np.array([0, 2]),
    }
    log = logs.from_obp(feedback, labels=["a", "b"], context_names=["u", "v"])
    block = next(iter(log))
    assert block.rows == [{"u": 1.0, "v": 2.0}, {"v": 3.0}]
    assert block.actions.tolist() == ["b", "a"]
    again = logs.to_obp(log)
    assert again["action"].tolist() == [1, 0]
    assert again["pscore"].tolist() == [0.25, 0.75]
    np.testing.assert_array_equal(again["context"], feedback["context"])
    assert told(logs.from_obp(again, labels=log.labels, context_names=["u", "v"])) == told(log)


def decided(n_rows: int) -> DecisionLog:
    import banditboost

    model = banditboost.AdaBandit(["sports", "news", "7"], n_learners=2, exploration=0.3, seed=1)
    log = DecisionLog(model.labels)
    for t in range(n_rows):
        x = {"hour": t % 24, "device": ["phone", "a tv|set: 3"][t % 2], "1": 2.5}
        log.add(x, model.decide(x), correct=t % 3 == 0)
    return log


def test_decision_logs_are_read_without_loss() -> None:
    """As they are, through Vowpal Wabbit's text, and through dsjson."""
    log = decided(20)
    direct = told(log.to_log())
    assert [row[0]["device"] for row in direct[:2]] == ["phone", "a tv|set: 3"]
    rows, text = told(log.to_log()), told(logs.read_vw(log.to_vw(), labels=log.labels, best=1))
    assert [row[:4] for row in text] == [row[:4] for row in rows]
    events = told(logs.read_dsjson(log.to_dsjson(), best=1))
    assert [row[1:4] for row in events] == [row[1:4] for row in rows]
    assert [row[6] for row in events] == [row[6] for row in rows]  # ids
    assert events[0][0]["hour"] == 0.0


def test_values_of_all_kinds_are_told_again(tmp_path: Path) -> None:
    """Of rows with words beside them, too; numbers of NumPy and Decimals are numbers, in files and lines."""
    import banditboost

    model = banditboost.GapBoost(["a", "b"], seed=1)
    log = DecisionLog(model.labels)
    when = datetime(2026, 11, 1, 10, tzinfo=UTC)
    rows = [
        {"h": 1, "when": when, "tags": ["x"], "ok": True},
        {"h": np.float32(2.5), "n": Decimal("0.5"), "ok": False},
    ]
    for x in rows:
        log.add(x, model.decide(x), reward=0.5)
    assert [x for block in log.to_log() for x in block.rows] == rows
    names = {"action": "action", "reward": "reward", "probability": "probability", "id": "id"}
    for extension in ("jsonl", "parquet"):
        logs.write(log.to_log(), tmp_path / f"log.{extension}")
        (block,) = logs.read(tmp_path / f"log.{extension}", **names)
        assert block.rows == [
            {
                "h": 1.0,
                "when": when.isoformat(),
                "tags": ["x"],
                "ok": "True",
            },
            {"h": 2.5, "n": 0.5, "ok": "False"},
        ]
    (block,) = logs.read_vw(list(logs.vw_lines(log.to_log())))
    assert block.rows[1] == {"h": 2.5, "n": 0.5, "ok": "False"}


def test_words_of_a_decision_log_are_lists_again() -> None:
    import banditboost

    model = banditboost.GapBoost(["a", "b"], seed=1)
    log = DecisionLog(model.labels)
    x = {"hour": 3, "tags": ["red", "big"]}
    log.add(x, model.decide(x), reward=0.25)
    assert next(iter(log.to_log())).rows == [x]
    assert next(iter(logs.read_vw(log.to_vw(), labels=log.labels, best=1))).rows == [
        {"hour": 3.0, "tags": ["red", "big"]}
    ]


OFFERS: list[dict[str, Any]] = [
    {"hour": 9.0, "item": "a", "r": 1.0, "p": 0.5, "offer": {"a": {"price": 1.5, "tags": ["x", "y"]}, "b": {"n": 2}}},
    {"hour": 10.0, "item": "b", "r": 0.0, "p": 0.5, "offer": {"b": {"n": 2}}},
    {"hour": 11.0, "item": "a", "r": 0.5, "p": 0.25, "offer": None},
]  # fmt: skip
OFFERED: dict[str, Any] = {"action": "item", "reward": "r", "probability": "p", "options": "offer"}


def offers(log: logs.Log) -> list[tuple[Any, ...]]:
    return [
        (*row, options)
        for block in log
        for row, options in zip(told([block]), block.options or [], strict=True)
    ]  # type: ignore[arg-type]


def offer_log() -> logs.Log:
    return logs.read(pd.DataFrame(OFFERS), **OFFERED)


def test_options_are_a_column_of_objects(tmp_path: Path) -> None:
    """As they are in JSON lines, in frames, structs of Parquet, and as JSON texts in CSV."""
    expected = offers(offer_log())
    assert [options for *_, options in expected] == [row["offer"] or {} for row in OFFERS]
    assert [row[0] for row in expected] == [{"hour": 9.0}, {"hour": 10.0}, {"hour": 11.0}]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, OFFERS)))
    pl.DataFrame(OFFERS).write_parquet(tmp_path / "log.parquet")
    as_texts = [{**row, "offer": row["offer"] and json.dumps(row["offer"])} for row in OFFERS]
    pd.DataFrame(as_texts).to_csv(tmp_path / "log.csv", index=False)
    for source in ("log.jsonl", "log.parquet", "log.csv"):
        assert offers(logs.read(tmp_path / source, **OFFERED)) == expected
    assert offers(logs.read(pl.DataFrame(OFFERS), **OFFERED)) == expected


@pytest.mark.parametrize("extension", ["jsonl", "csv", "parquet"])
def test_options_are_written_and_read_without_loss(extension: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.{extension}"
    logs.write(offer_log(), path)
    columns = {name: name for name in ("action", "reward", "probability", "options")}
    assert offers(logs.read(path, **columns)) == offers(offer_log())
    assert offers(logs.read(logs.to_frame(offer_log(), "pyarrow"), **columns)) == offers(offer_log())


def test_columns_may_tell_of_what_was_shown() -> None:
    rows = [{"item": "a", "r": 1, "price": 3.5, "kind": "z", "hour": 9}, {"item": "b", "r": 0, "hour": 10}]
    log = logs.read(pd.DataFrame(rows), action="item", reward="r", options=["price", "kind"])
    (block,) = log
    assert block.options == [{"a": {"price": 3.5, "kind": "z"}}, {"b": {}}]
    assert block.rows == [{"hour": 9.0}, {"hour": 10.0}]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"options": "hour"}, "tells no options; give an object"),
        ({"options": "nowhere"}, "no column 'nowhere'"),
        ({"options": ["nowhere"]}, "no column 'nowhere'"),
        ({"options": 5}, "options is 5; give a list"),
        ({"options": ["p"], "probability": "p"}, "'p' is in options, and is probability"),
        ({"options": ["hour"], "context": ["hour"]}, "'hour' is in context, and is in options"),
        ({"options": "offer", "ignore": ["offer"]}, "'offer' is in ignore, and is options"),
    ],
)
def test_columns_of_options_that_cannot_be(columns: dict[str, Any], words: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, OFFERS)))
    with pytest.raises(BanditBoostError, match=re.escape(words)):
        list(logs.read(tmp_path / "log.jsonl", action="item", reward="r", **columns))


def test_dsjson_is_written_and_read_without_loss() -> None:
    """With options of their own, with labels of any kind, with ids and times."""
    back = logs.read_dsjson(list(logs.dsjson_lines(made_log(50), best=1.0)), best=1.0)
    for row, before in zip(told(back), told(made_log(50)), strict=True):
        assert row[2] == pytest.approx(before[2], abs=1e-15)  # 1 - (1 - reward)
        assert (row[:2], row[3], row[5:]) == (before[:2], before[3], before[5:])
    whole = [row for row in OFFERS if row["offer"]]
    log = logs.read(pd.DataFrame(whole), **OFFERED)
    assert offers(logs.read_dsjson(list(logs.dsjson_lines(log)))) == offers(log)
    numbered = logs.from_obp({"action": [3, 0], "reward": [1, 0], "pscore": [0.5, 0.5]})
    assert told(logs.read_dsjson(list(logs.dsjson_lines(numbered)))) == told(numbered)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"reward": [math.nan]}, "row 1 has no reward"),
        ({"pscore": None}, "row 1 has no reward or probability"),
    ],
)
def test_what_dsjson_cannot_tell_is_refused(rows: dict[str, Any], words: str) -> None:
    log = logs.from_obp({"action": [0], "reward": [1], "pscore": [0.5]} | rows)
    with pytest.raises(LogError, match=words):
        list(logs.dsjson_lines(log))


def test_dsjson_has_no_names_that_begin_with_a_line() -> None:
    told_ = {"action": [0], "reward": [1], "pscore": [0.5], "context": [[1.0]]}
    with pytest.raises(LogError, match="'_x', which dsjson cannot tell: rename it"):
        list(logs.dsjson_lines(logs.from_obp(told_, context_names=["_x"])))
    with pytest.raises(LogError, match="dsjson can tell texts and whole numbers only"):
        list(logs.dsjson_lines(logs.from_obp(told_, labels=[1.5])))


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5).filter(lambda name: not name.startswith("_")),
        st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=6), st.booleans()),
        max_size=4,
    ),
    st.one_of(st.text(max_size=6), st.integers(-3, 3)),
)
def test_any_row_and_any_label_come_back_from_dsjson(row: dict[str, Any], label: Any) -> None:
    block = logs.Block([row], as_objects([label]), np.array([0.25]), np.array([0.5]))
    (back,) = logs.read_dsjson(list(logs.dsjson_lines(logs.Log("one", lambda: iter([block])))))
    assert (back.rows, back.actions.tolist(), back.rewards.tolist()) == ([row], [label], [0.25])


def test_personalizer_events() -> None:
    event = {
        "_label_cost": -1.0,
        "_label_probability": 0.8,
        "_label_Action": 2,
        "_labelIndex": 1,
        "Timestamp": "2026-11-18T10:00:00Z",
        "EventId": "e1",
        "a": [2, 1],
        "p": [0.8, 0.2],
        "c": {
            "FromUrl": [{"device": "phone", "hour": 9}],
            "_multi": [
                {"_tag": "sports", "i": {"constant": 1, "id": "sports"}, "j": [{"length": 3}]},
                {"_tag": "news", "i": {"constant": 1, "id": "news"}, "j": [{"length": 8}]},
            ],
        },
    }
    inactive = {**event, "_skipLearn": True}
    dangling = {"EventId": "e2", "RewardValue": 1.0}
    log = logs.read_dsjson([json.dumps(line) for line in (event, inactive, dangling)])
    (block,) = log
    assert (len(block), block.actions.tolist(), block.rewards.tolist()) == (1, ["news"], [1.0])
    assert block.rows == [{"FromUrl.device": "phone", "FromUrl.hour": 9}]
    assert block.options is not None
    assert block.options[0]["sports"]["j.length"] == 3


# Tables


def test_columns_of_a_csv_file_are_what_all_their_cells_say(tmp_path: Path) -> None:
    """A column is numbers or it is texts, from the first row on, as written: 007 stays 007."""
    n = 120_000
    path = tmp_path / "clicks.csv.gz"
    lines = ["zip,age,banner,clicked,p,when,pad"]
    lines += [
        f"{'x' if t == n - 1 else f'00{t % 5}'},{t % 9},{t % 3},{t % 2},0.5,2026-11-{1 + t % 28:02},{'-' * 60}"
        for t in range(n)
    ]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    log = logs.read(path, action="banner", reward="clicked", probability="p", time="when", ignore=["pad"])
    blocks = list(log)
    assert len(blocks) > 1
    assert blocks[0].rows[3] == {"zip": "003", "age": 3.0}
    assert blocks[-1].rows[-1]["zip"] == "x"
    assert (log.labels, log.n_rows) == (("0", "1", "2"), n)


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_short_logs(n_rows: int, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("x,a,r,p\n" + "1,b,0,0.5\n" * n_rows)
    log = logs.read(path, action="a", reward="r", probability="p")
    assert (log.n_rows, len(log.labels)) == (n_rows, min(n_rows, 1))
    assert logs.check(log).is_good == (n_rows > 0)


def test_missing_cells_and_words_for_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("x,c,a,r,p\n1,red,b,true,0.5\n,,b,False,\n3,blue,,NA,0.25\n")
    (block,) = logs.read(path, action="a", reward="r", probability="p")
    assert block.rows == [{"x": 1.0, "c": "red"}, {}, {"x": 3.0, "c": "blue"}]
    assert block.actions.tolist() == ["b", "b", None]
    assert block.rewards.tolist()[:2] == [1.0, 0.0]
    assert np.isnan(block.rewards[2])
    assert block.probabilities is not None
    assert np.isnan(block.probabilities[1])


def test_only_some_columns_are_context() -> None:
    frame = pl.DataFrame({"a": ["u", "v"], "r": [0.0, 1.0], "x": [1, 2], "y": [3, 4], "z": [[1], [2]]})
    (block,) = logs.read(frame, action="a", reward="r", context=["y"])
    assert (block.rows, block.probabilities) == ([{"y": 3.0}, {"y": 4.0}], None)
    (block,) = logs.read(frame, action="a", reward="r", ignore=["z", "y"])
    assert block.rows == [{"x": 1.0}, {"x": 2.0}]


FRAME = pd.DataFrame({"a": ["u", "v"], "r": [0.0, 1.0], "x": [1, 2], "odd": [1j, 2j]})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"action": "b", "reward": "r"}, "has no column 'b'"),
        ({"action": "a", "reward": "a"}, "column 'a' is action and reward; give each a column of its own"),
        ({"action": 3, "reward": "r"}, "action is 3; give the name of a column"),
        ({"action": "a", "reward": "r", "ignore": "x"}, "ignore is 'x'; give a list of names"),
        ({"action": "a", "reward": "r", "context": ["r"]}, "column 'r' is in context, and is reward"),
        ({"action": "r", "reward": "a", "ignore": ["odd"]}, "column 'a' has 'u' in row 1; give numbers"),
        ({"action": "a", "reward": "r"}, r"column 'odd' \(row 1 on\) holds values of type complex"),
        ({"action": "a", "reward": "r", "context": ["y"]}, "has no column 'y'"),
    ],
)
def test_what_cannot_be_read_is_told(arguments: dict[str, Any], error: str) -> None:
    with pytest.raises(BanditBoostError, match=error):
        list(logs.read(FRAME, **arguments))


# Vowpal Wabbit


@pytest.mark.parametrize(
    ("line", "told_"),
    [
        ("1:0:0.5 x:1", "no bar"),
        ("| x:1", "it has 0 labels"),
        ("1:0:0.5 2:1:0.5 | x:1", "it has 2 labels"),
        ("shared | x:1", "log such decisions as dsjson"),
        ("a:0:0.5 | x:1", "cut short, or of another form"),
        ("4:0:0.5 | x:1", "its action is 4, and there are 2 labels"),
        ("1:0:0.5 | x:y", "cut short, or of another form"),
    ],
)
def test_lines_that_cannot_be_read(line: str, told_: str) -> None:
    with pytest.raises(LogError, match=rf"cannot be read in line 2: .*{told_}"):
        list(logs.read_vw(["1:0:0.5 | x:1", line], labels=["a", "b"]))


def test_features_of_vw_text() -> None:
    (block,) = logs.read_vw(["3 2:0.5:0.25 1 |user:2 age:3 vip |ad kind=a%20b", "", "1:-1:1 |x"])
    assert block.rows == [{"user^age": 6.0, "user^vip": 2.0, "ad^kind": "a b"}, {}]
    assert (block.actions.tolist(), block.rewards.tolist()) == ([2, 1], [-0.5, 1.0])


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    lines = decided(5).to_dsjson()
    path = tmp_path / "log.dsjson"
    path.write_text("\n".join(lines)[:-20])
    with pytest.raises(LogError, match=r"cannot be read in line 5: it is cut short"):
        list(logs.read_dsjson(path))
    with pytest.raises(LogError, match="there is no file"):
        logs.read_dsjson(tmp_path / "no.dsjson")
    log = made_log(300)
    for extension in ("csv", "jsonl", "parquet"):
        whole = tmp_path / f"log.{extension}"
        logs.write(log, whole)
        whole.write_bytes(whole.read_bytes()[:-7])
        with pytest.raises(BanditBoostError):
            list(logs.read(whole, **NAMED))


@pytest.mark.parametrize("extension", ["csv", "jsonl"])
@pytest.mark.parametrize("cut", [1, 8, 40, 2_000])
def test_packed_files_that_were_cut_are_refused_wherever_they_were(
    extension: str, cut: int, tmp_path: Path
) -> None:
    whole, packed = tmp_path / f"log.{extension}", tmp_path / f"log.{extension}.gz"
    logs.write(made_log(300), whole)
    packed.write_bytes(gzip.compress(whole.read_bytes())[:-cut])
    with pytest.raises(BanditBoostError, match="is cut short or damaged"):
        list(logs.read(packed, **NAMED))


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,r\n" + "u,1\n" * 9)
    log = logs.read(path, action="a", reward="r")
    path.write_text("a,r\n" + "u,1\n" * 8)
    with pytest.raises(LogError, match="has changed since it was opened"):
        list(log)


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("old")
    for log, error in (
        (logs.read_vw(["1:0:1 | reward:1"]), "a feature is called 'reward'"),
        (logs.read_vw(["1:0:1 | tag=a tag=b"]), "holds lists, which a CSV file cannot"),
    ):
        with pytest.raises(LogError, match=error):
            logs.write(log, path)
    with pytest.raises(LogError, match=r"ends in \.csv, \.jsonl, \.parquet"):
        logs.write(made_log(2), tmp_path / "log.txt")
    with pytest.raises(LogError, match="names is"):
        logs.write(made_log(2), path, names={"banner": "action"})
    assert path.read_text() == "old"
    logs.write(logs.read_vw(["1:0:1 | reward:1"]), path, names={"reward": "clicked"})
    assert path.read_text().splitlines()[0] == "reward,action,clicked,probability"


def test_ten_thousand_actions() -> None:
    n = 20_000
    feedback = {"action": np.arange(n) % 10_000, "reward": np.zeros(n), "pscore": np.full(n, 1e-4)}
    health = logs.check(logs.from_obp(feedback))
    assert len(health.actions) == 10_000
    assert health.fit_p_value > 0.05


# Any lines and cells

TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
PIECES = st.sampled_from(
    ["1:0:0.5", "|", " ", "x:1", "a=b", ":", "=", "%", "1", "nan", "|ns", "inf", "\t", "-1:2:3"]
)


@given(st.lists(st.one_of(TEXT, st.lists(PIECES, max_size=8).map("".join)), max_size=3))
@settings(max_examples=2000, deadline=None)
def test_any_text_is_read_or_refused(lines: list[str]) -> None:
    for read in (logs.read_vw, logs.read_dsjson):
        try:
            blocks = list(read(lines))
        except LogError:
            continue
        assert all(len(block) == len(block.rewards) == len(block.actions) for block in blocks)
        logs.check(blocks)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = ["_label_cost", "_label_probability", "_label_Action", "_labelIndex", "a", "p", "c", "_skipLearn"]


@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=8), JSON)
@settings(max_examples=2000, deadline=None)
def test_any_event_is_read_or_refused(event: dict[str, Any], context: Any) -> None:
    for one in (
        event,
        {**event, "_label_cost": 0, "_labelIndex": 0, "c": {"_multi": [context], "n": context}},
    ):
        try:
            blocks = list(logs.read_dsjson([json.dumps(one)]))
        except LogError:
            continue
        logs.check(blocks)


CELLS = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(), st.text(max_size=3))


@given(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=4))
@settings(max_examples=2000, deadline=None)
def test_any_frame_is_read_or_refused(rows: list[tuple[Any, ...]]) -> None:
    frame = pd.DataFrame(rows, columns=["x", "a", "r", "p"], dtype=object)
    try:
        log = logs.read(frame, action="a", reward="r", probability="p")
        blocks = list(log)
    except BanditBoostError:
        return
    health = logs.check(blocks)
    assert health.n_rows == sum(map(len, blocks)) == len(rows)
    assert str(health)
    json.dumps(health.to_dict(), default=str)
