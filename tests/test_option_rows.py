"""`logs.read_options`: tables with a row for each option of each decision."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import OptionBoost, logs, play
from banditboost.errors import LogError

COLUMNS = {"decision": "visit", "option": "article", "reward": "bought"}


def frame(*rows):
    return pd.DataFrame(list(rows), columns=["visit", "hour", "article", "price", "bought"])


def read(*rows, **more):
    return logs.read_options(frame(*rows), **COLUMNS, **more)


GOOD = (("v", 9, "tea", 4.5, 1.0), ("v", 9, "cake", 3.0, 0.0), ("w", 21, "tea", 4.0, 0.5))


def test_decisions():
    found = read(*GOOD).to_play()
    assert found["X"] == [{"hour": 9.0}, {"hour": 21.0}]
    assert found["options"] == [{"tea": {"price": 4.5}, "cake": {"price": 3.0}}, {"tea": {"price": 4.0}}]
    assert found["rewards"] == [{"tea": 1.0, "cake": 0.0}, {"tea": 0.5}]


def test_a_missing_cell_differs():
    """A price that one option lacks makes it a column of options; a context's cell may be missing in all."""
    found = read(("v", None, "tea", None, 1.0), ("v", None, "cake", 3.0, 0.0), GOOD[2])
    assert (found.option_columns, found.context_columns) == (("price",), ("hour",))
    assert found.to_play()["options"][0] == {"tea": {}, "cake": {"price": 3.0}}
    assert found.to_play()["X"] == [{}, {"hour": 21.0}]


def test_columns_told():
    assert read(*GOOD, option_columns=["price", "hour"]).context_columns == ()


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ((), {}, "there are no rows"),
        ((GOOD[0], GOOD[2]), {}, "each decision has one row"),
        ((*GOOD, GOOD[0]), {}, "decision 'v' comes again in row 4"),
        ((GOOD[0], GOOD[0]), {}, "decision 'v' has the option 'tea' twice, the second time in row 2"),
        ((*GOOD, ("w", 21, None, 1.0, 0.0)), {}, "row 4 has no option"),
        ((*GOOD, (None, 21, "tea", 1.0, 0.0)), {}, "row 4 has no decision"),
        ((*GOOD, ("w", 21, "cake", 1.0, None)), {}, "row 4 has no reward"),
        (GOOD, {"option_columns": ["hour"]}, "column 'price' differs between the options of decision 'v'"),
        (GOOD, {"option_columns": ["weight"]}, "option_columns has 'weight'"),
        (GOOD, {"option_columns": "price"}, "option_columns is 'price'; give a list"),
        (GOOD, {"option_columns": [1]}, "give a list of names"),
    ],
)
def test_refused(rows, more, message):
    with pytest.raises(LogError, match=message):
        read(*rows, **more)


def test_columns_are_three():
    with pytest.raises(LogError, match="column 'visit' is named twice"):
        logs.read_options(frame(*GOOD), decision="visit", option="visit", reward="bought")
    with pytest.raises(LogError, match="decision is None; give the name of a column"):
        logs.read_options(frame(*GOOD), decision=None, option="article", reward="bought")


cells = st.one_of(st.none(), st.sampled_from(["a", "b"]))


@given(
    st.lists(
        st.tuples(
            cells, st.lists(st.tuples(st.sampled_from("pqrst"), cells), min_size=2, unique_by=lambda o: o[0])
        ),
        min_size=1,
        max_size=5,
    )
)
def test_nothing_is_lost(offers):
    """Context and option together are the row of the table, whatever is missing."""
    rows = [
        (f"v{n}", context, option, cell, 1.0)
        for n, (context, offered) in enumerate(offers)
        for option, cell in offered
    ]
    read_back = read(*rows).to_play()
    told = [
        {**context, **features}
        for context, offered in zip(read_back["X"], read_back["options"], strict=True)
        for features in offered.values()
    ]
    given_rows = [{"hour": row[1], "price": row[3]} for row in rows]
    assert told == [{name: value for name, value in row.items() if value is not None} for row in given_rows]
    assert [list(rewards) for rewards in read_back["rewards"]] == [
        [o for o, _ in offered] for _, offered in offers
    ]


def test_what_greedy_options_would_have_earned():
    """Known rewards tell it, and a function, which is asked for shown options only, does not."""
    options = {"tea": {"price": 4.5}, "cake": {"price": 3.0}}
    told = [{"tea": 0.25, "cake": 0.75}, {"tea": 1.0, "cake": 0.5}] * 20
    X = [{"hour": 9}, {"hour": 21}] * 20
    known = play(OptionBoost(seed=3, max_memory=2**26), X, options=options, rewards=told)
    asked = play(
        OptionBoost(seed=3, max_memory=2**26), X, options=options, rewards=lambda t, option: told[t][option]
    )
    greedy = [told[t][known.labels[number]] for t, number in enumerate(known.greedy.tolist())]
    assert known.greedy_rewards.tolist() == greedy
    assert known.rewards.tolist() == asked.rewards.tolist()
    assert asked.greedy_rewards is None
