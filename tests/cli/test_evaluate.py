"""`banditboost evaluate`: learners judged by a log, from the command line."""

from __future__ import annotations

import random

import pytest

import banditboost


@pytest.fixture
def clicks(home):
    """1,500 visits: banners at random, each device has one that it likes."""
    draw = random.Random(5)
    lines = ["device,banner,clicked,p,price"]
    for _ in range(1500):
        device, banner = draw.choice(["phone", "desk"]), draw.choice(["news", "games", "film"])
        liked = {"phone": "games", "desk": "film"}[device] == banner
        lines.append(
            f"{device},{banner},{int(draw.random() < (0.6 if liked else 0.1))},{1 / 3!r},{draw.random():.3f}"
        )
    path = home / "clicks.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


COLUMNS = ("--action", "banner", "--reward", "clicked", "--ignore", "price")


def test_a_learner_beats_the_log_and_is_kept(answer, clicks):
    found = answer(
        "evaluate", clicks, *COLUMNS, "--probability", "p", "--least", "0.333", "--save", "kept.bb"
    )
    by_name = {one["policy"]: one for one in found["policies"]}
    assert list(by_name) == ["the log itself", "all alike", "best label so far", "GapBoost"]
    assert by_name["GapBoost"]["ahead_low"] > 0.0
    assert by_name["GapBoost"]["better_since"] < 1500
    assert by_name["the log itself"]["effective_rows"] == pytest.approx(1500)
    assert by_name["GapBoost"]["curve"][-1][0] == found["rows"] == 1500
    assert found["labels"] == ["film", "games", "news"]
    assert found["health"]["n_rows"] == 1500
    model = banditboost.load("kept.bb")
    assert model.logged == 1500
    assert max(model.distribution({"device": "phone"}).items(), key=lambda item: item[1])[0] == "games"


def test_what_was_shown_at_random_needs_no_column(answer, clicks):
    given = answer(
        "evaluate", clicks, *COLUMNS, "--ignore", "price,p", "--at-random", "--learner", "Majority"
    )
    told = answer(
        "evaluate", clicks, *COLUMNS, "--probability", "p", "--least", "0.333333", "--learner", "Majority"
    )
    for one, other in zip(given["policies"], told["policies"], strict=True):
        assert one["value"] == pytest.approx(other["value"], abs=1e-3)


def test_estimated_probabilities_come_with_a_warning(bb, clicks):
    result = bb("evaluate", clicks, *COLUMNS, "--estimate-probabilities", "--learner", "Random")
    assert result.exit_code == 0
    assert "depended on who came" in result.stderr
    assert "the log itself" in result.stdout


def test_the_table_the_remarks_and_the_picture(bb, clicks, home):
    result = bb(
        "evaluate", clicks, *COLUMNS, "--probability", "p", "--learner", "Majority", "--plot", "values.svg"
    )
    assert result.exit_code == 0, result.stderr
    assert "best label so far" in result.stdout
    assert "Ahead of the log by" in result.stdout
    assert (home / "values.svg").read_text(encoding="utf-8").count("<path") > 10


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "nothing is known of the probabilities"),
        (("--probability", "p", "--at-random"), "exclude each other"),
        (("--probability", "p", "--reward-range", "1"), "is not LOW:HIGH"),
        (("--probability", "q"), "q"),
        (("--probability", "device"), "device"),
        (("--probability", "p", "--least", "0.5"), "least is 0.5"),
        (("--probability", "p", "--level", "2"), "level is 2"),
        (("--probability", "p", "--learner", "AdaFull"), "learns no rewards"),
        (("--probability", "p", "--plot", "values.txt"), "--plot"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(bb, clicks, words, told):
    result = bb("evaluate", clicks, "--action", "banner", "--reward", "clicked", *words)
    assert result.exit_code in (1, 2)
    assert told in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_rewards_beyond_the_range_are_refused_with_the_option(bb, home):
    path = home / "prices.csv"
    path.write_text("banner,paid,p\n" + "a,7,0.5\nb,0,0.5\n" * 20, encoding="utf-8")
    columns = ("--action", "banner", "--reward", "paid", "--probability", "p", "--learner", "Majority")
    result = bb("evaluate", path, *columns)
    assert result.exit_code == 1
    assert "--reward-range least:largest" in result.stderr
    assert bb("evaluate", path, *columns, "--reward-range", "0:10").exit_code == 0


def test_run_says_when_a_file_is_a_log(bb, clicks):
    result = bb("run", clicks, "--label", "clicked", "--learner", "Majority")
    assert "banditboost evaluate" in result.stderr
    assert "--action banner --reward clicked" in result.stderr
    assert "evaluate" not in bb("run", clicks, "--label", "banner", "--learner", "Majority").stderr
