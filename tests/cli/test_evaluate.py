"""`banditboost evaluate`: learners judged by a log, from the command line."""

from __future__ import annotations

import random
import re

import pytest

import banditboost
from banditboost import logs
from tests.browser import look, needs_browser


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
        (("--probability", "p", "--report", "values.txt"), "--report values.txt: give a name that ends in"),
        (("--probability", "p", "--report", "no/values.html"), "there is no directory no"),
        (
            ("--probability", "p", "--against", "Majority"),
            "--against Majority: give one of logged, uniform, best",
        ),
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
    assert "--action banner --reward clicked --probability p" in result.stderr
    assert "evaluate" not in bb("run", clicks, "--label", "banner", "--learner", "Majority").stderr


def test_policies_are_held_against_another_one(answer, bb, clicks):
    columns = (
        *COLUMNS,
        "--ignore",
        "price,p",
        "--at-random",
        "--learner",
        "GapBoost",
        "--learner",
        "Majority",
    )
    plain = answer("evaluate", clicks, *columns)
    found = answer("evaluate", clicks, *columns, "--against", "best")
    assert (plain["against"], found["against"]) == ("the log itself", "best label so far")
    by_name = {one["policy"]: one for one in found["policies"]}
    assert by_name["best label so far"]["ahead_low"] < 0.0 < by_name["GapBoost"]["ahead_low"]
    assert [one["value"] for one in found["policies"]] == [one["value"] for one in plain["policies"]]
    assert "GapBoost earns" in found["verdict"]
    assert "as much as best label so far" in found["verdict"]
    of_learner = bb("evaluate", clicks, *columns, "--against", "gapboost")
    assert "Ahead of GapBoost by" in of_learner.stdout
    assert "No learner is known to earn more than GapBoost" in of_learner.stdout


def test_the_verdict_tells_how_many_times_as_much(answer, clicks):
    found = answer("evaluate", clicks, *COLUMNS, "--ignore", "price,p", "--at-random")
    by_name = {one["policy"]: one for one in found["policies"]}
    mine, log = by_name["GapBoost"], by_name["the log itself"]
    times, least = mine["value"] / log["value"], 1 + mine["ahead_low"] / log["high"]
    assert found["verdict"] == (
        f"GapBoost earns {times:.1f} times as much as the log itself, at least {least:.1f} times: "
        f"{mine['ahead_low']:.4f} more at least, known after {mine['better_since']:,} rows."
    )


def test_of_several_learners_the_best_is_picked_with_bounds_for_all_of_them(answer, clicks):
    columns = (*COLUMNS, "--ignore", "price,p", "--at-random", "--learner", "GapBoost")
    alone = answer("evaluate", clicks, *columns)
    found = answer("evaluate", clicks, *columns, "--learner", "Random", "--learner", "Majority")
    assert _ahead(found["verdict"]) < _ahead(alone["verdict"])
    assert found["policies"][3]["ahead_low"] == alone["policies"][3]["ahead_low"]
    assert "known after" in alone["verdict"]
    assert "known after" not in found["verdict"]


def _ahead(verdict):
    return float(verdict.split(": ")[1].split(" ")[0])


def _with_times(clicks):
    """The same log with an id and a time of each row."""
    lines = clicks.read_text("utf-8").splitlines()
    told = [f"e{i},2026-11-19T{i // 60:02d}:{i % 60:02d},{line}" for i, line in enumerate(lines[1:])]
    clicks.write_text("\n".join(["event,at," + lines[0], *told]) + "\n", encoding="utf-8")


def test_it_tells_since_when_it_is_known(answer, bb, clicks):
    _with_times(clicks)
    columns = ("--action", "banner", "--reward", "clicked", "--context", "device", "--at-random")
    found = answer("evaluate", clicks, *columns, "--time", "at", "--id", "event")
    mine = {one["policy"]: one for one in found["policies"]}["GapBoost"]
    row = mine["better_since"] - 1
    assert mine["better_since_time"] == f"2026-11-19T{row // 60:02d}:{row % 60:02d}"
    assert found["verdict"].endswith(f" rows, since {mine['better_since_time']}.")
    assert mine["curve"][-1][-1] == "2026-11-19T24:59"
    assert found["health"]["findings"] == []
    assert (
        mine["better_since_time"] in bb("evaluate", clicks, *columns, "--time", "at", "--id", "event").stdout
    )


def test_ids_that_come_twice_and_rows_out_of_order_are_told(answer, clicks):
    _with_times(clicks)
    lines = clicks.read_text("utf-8").splitlines()
    clicks.write_text("\n".join([*lines, lines[5]]) + "\n", encoding="utf-8")
    columns = ("--action", "banner", "--reward", "clicked", "--probability", "p", "--learner", "Majority")
    found = answer("evaluate", clicks, *columns, "--time", "at", "--id", "event")
    told = [finding["what"] for finding in found["health"]["findings"]]
    assert told == [
        "1 row has an id that came before, the first is row 1501",
        "1 row came before the one above, the first is row 1501",
    ]


def test_columns_that_name_rows_are_told(bb, clicks):
    _with_times(clicks)
    columns = ("--action", "banner", "--reward", "clicked", "--probability", "p", "--learner", "Majority")
    told = bb("evaluate", clicks, *columns).stderr
    assert "'event', 'at': another text in each row" in told
    assert "--ignore event,at" in told
    assert "another text" not in bb("evaluate", clicks, *columns, "--ignore", "event,at").stderr


def test_what_is_said_to_be_at_random_must_look_so(answer, clicks):
    lines = clicks.read_text("utf-8").splitlines()
    kept = [line for i, line in enumerate(lines) if "news" not in line or i % 3 == 0]
    clicks.write_text("\n".join(kept) + "\n", encoding="utf-8")
    found = answer(
        "evaluate", clicks, *COLUMNS, "--ignore", "price,p", "--at-random", "--learner", "Majority"
    )
    assert found["verdict"].startswith("Mend the log first: the probabilities are too small for how often")


@pytest.mark.parametrize("way", ["--at-random", "--estimate-probabilities"])
def test_rows_without_an_action_are_told_whatever_is_known_of_probabilities(bb, clicks, way):
    with clicks.open("a", encoding="utf-8") as file:
        file.write("desk,,0,,\n")
    result = bb("evaluate", clicks, *COLUMNS, "--ignore", "price,p", way, "--learner", "Majority")
    assert result.exit_code == 1
    assert "1 row has no action, the first is row 1501" in result.stderr


@pytest.mark.parametrize("form", ["dsjson", "vw"])
def test_logs_of_vowpal_wabbit_are_judged_as_tables_are(answer, clicks, home, form):
    log = logs.read(clicks, action="banner", reward="clicked", probability="p", ignore=["price"])
    lines = logs.dsjson_lines(log) if form == "dsjson" else logs.vw_lines(log)
    (home / f"log.{form}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = answer("evaluate", clicks, *COLUMNS, "--probability", "p", "--learner", "Majority")
    found = answer("evaluate", f"log.{form}", "--learner", "Majority")
    assert [one["value"] for one in found["policies"]] == [one["value"] for one in table["policies"]]
    (home / "log.txt").write_bytes((home / f"log.{form}").read_bytes())
    assert (
        answer("evaluate", "log.txt", "--form", form, "--learner", "Majority")["policies"]
        == found["policies"]
    )


def test_columns_are_for_tables(bb, clicks):
    result = bb("evaluate", "log.dsjson", "--reward", "clicked")
    assert (result.exit_code, "--reward is for tables" in result.stderr) == (2, True)
    result = bb("evaluate", clicks, "--action", "banner")
    assert (result.exit_code, "needs --action COLUMN and --reward COLUMN" in result.stderr) == (2, True)


def test_rewards_below_0_have_no_quotient(answer, home):
    path = home / "prices.csv"
    path.write_text("banner,paid,p\n" + "a,1,0.5\nb,-1,0.5\n" * 400, encoding="utf-8")
    columns = ("--action", "banner", "--reward", "paid", "--probability", "p", "--reward-range", "-1:1")
    found = answer("evaluate", path, *columns)
    assert found["verdict"].startswith("GapBoost earns more than the log itself: ")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "the log has no rows. Give a log with at least one."),
        (["a,0.5,1"], "only one action was ever shown."),
        (["a,0.5,1", "b,0,0"] * 9, "9 rows have a probability of 0 or below, the first is row 2."),
        (["a,0.5,1", "b,,0"] * 9, "9 rows have no probability, the first is row 2."),
        (["a,50,1", "b,50,0"] * 9, "percent must be divided by 100"),
        (["a,0.5,1", "b,0.5,"] * 9, "9 rows have no reward, the first is row 2."),
        (["a,0.5,1", ",0.5,0"] * 9, "9 rows have no action, the first is row 2."),
    ],
)
def test_all_that_is_wrong_with_a_log_is_told_in_one_line(bb, home, rows, told):
    (home / "log.csv").write_text("\n".join(["banner,p,clicked", *rows]) + "\n", encoding="utf-8")
    columns = ("--action", "banner", "--reward", "clicked", "--probability", "p", "--learner", "Majority")
    result = bb("evaluate", "log.csv", *columns, "--save", "kept.bb")
    assert result.exit_code == 1
    assert told in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (home / "kept.bb").exists()


def test_bounds_that_cannot_be_believed_are_told_and_nobody_is_switched_on_by_them(answer, bb, home):
    rows = [f"{'ab'[i % 2]},{(0.5, 1e-20)[i % 2]},{int(i % 9 == 0)}" for i in range(400)]
    (home / "log.csv").write_text("\n".join(["banner,p,clicked", *rows]) + "\n", encoding="utf-8")
    columns = ("--action", "banner", "--reward", "clicked", "--probability", "p", "--learner", "Random")
    found = answer("evaluate", "log.csv", *columns)
    assert "can hardly be right" in found["policies"][3]["remark"]
    assert found["policies"][0]["remark"] == ""
    assert found["verdict"].startswith("Mend the log first: the probabilities are too small")
    assert "- Random: the bounds cross" in bb("evaluate", "log.csv", *columns).stdout


# The page

LOOK = """
frame.onload = () => {
  const page = frame.contentDocument, inside = frame.contentWindow;
  const overhangs = e => e.getBoundingClientRect().right > inside.innerWidth + 1 && !e.closest("thead");
  tell({
    width: inside.innerWidth, scroll: page.documentElement.scrollWidth,
    wide: [...page.querySelectorAll("body *")].filter(overhangs).map(e => e.tagName),
    requests: inside.performance.getEntriesByType("resource").map(e => e.name),
    pictures: [...page.images].map(e => e.complete && e.naturalWidth > 0),
    stacked: inside.getComputedStyle(page.querySelector("#values td")).display,
    verdict: page.querySelector("#verdict").textContent,
    policies: [...page.querySelectorAll("#values tbody th")].map(e => e.textContent),
    labels: [...page.querySelectorAll("#actions tbody th")].map(e => e.textContent),
    findings: [...page.querySelectorAll("#health li")].map(e => e.textContent),
    tags: page.querySelectorAll("blink").length,
  });
};
frame.src = "clicks.html";
"""


@pytest.fixture
def page(bb, home):
    """Labels that are tags and do not end, and a log that changes half-way."""
    draw, odd = random.Random(3), "<blink>&amp;" + "a" * 200
    lines = ["device,banner,clicked,p"]
    for t in range(1200):
        shares = {odd: 0.2, "news": 0.8} if t < 600 else {odd: 0.6, "news": 0.4}
        banner = draw.choices(list(shares), list(shares.values()))[0]
        lines.append(f"{draw.choice('ab')},{banner},{int(draw.random() < 0.3)},{shares[banner]}")
    (home / "clicks.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = ("--action", "banner", "--reward", "clicked", "--probability", "p")
    learners = ("--learner", "GapBoost", "--learner", "Majority", "--learner", "Random")
    result = bb("evaluate", "clicks.csv", *columns, *learners, "--report", "clicks.html")
    assert result.exit_code == 0, result.stderr
    return home


def test_the_page_asks_for_nothing_and_shows_names_as_they_are(page):
    text = (page / "clicks.html").read_text(encoding="utf-8")
    assert "<blink>" not in text
    assert re.findall(r'(?:src|href|srcset)="(?!data:)', text) == []
    assert "No learner is known to earn more than the log itself" in text
    assert text.count("<img alt=") == 3


@needs_browser
@pytest.mark.parametrize(("width", "display"), [(390, "grid"), (1280, "table-cell")], ids=["phone", "desk"])
def test_a_browser_shows_the_page(page, width, display):
    found, log = look(page, width, LOOK)
    assert found["scroll"] <= width == found["width"]
    assert found["wide"] == found["requests"] == []
    assert found["pictures"] == [True] * 3
    assert found["stacked"] == display
    assert found["policies"][3:] == ["GapBoost", "Majority", "Random"]
    assert found["labels"] == ["news", "<blink>&amp;" + "a" * 200]
    assert len(found["findings"]) == 1
    assert "the shares of actions change along the log" in found["findings"][0]
    assert found["tags"] == 0
    assert "No learner is known" in found["verdict"]
    assert "CONSOLE" not in log, log
