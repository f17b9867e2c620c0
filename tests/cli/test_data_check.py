"""`banditboost data check`: what it prints can be pasted, and plays."""

from __future__ import annotations

import csv
import datetime
import json
import random
import re
import shutil
import subprocess
import sys

import polars as pl
import pytest

from banditboost.cli import data_choice
from banditboost.cli.options import in_options, names, typed_names
from banditboost.cli.output import shell
from tests.cli.test_hostile_names import COMMANDS, FILE, LABELS, NAMES, VALUES, expect_harmless_text

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DRAW = random.Random(3)
FAST = ("--learner", "Majority", "--json")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def excel(home):
    rows = ["Besuch;Datum;Umsatz;Größe;Stadt;Bemerkung;Käufer"]
    for i in range(120):
        amount = f"{DRAW.uniform(1000, 99999):,.2f}".translate(str.maketrans(",.", ".,"))
        city = DRAW.choice(["Köln", "München"])
        rows.append(
            f"{100 + i};{1 + i % 28}.{1 + i % 12}.2024;{amount} €;1,{i % 90 + 10};{city};Der Kunde kam {i} mal;{'ja' if i % 3 else 'nein'}"
        )
    (home / "Umsätze 2024.csv").write_bytes("\r\n".join(rows).encode("cp1252"))
    return "Umsätze 2024.csv"


def log(home):
    (home / "log").mkdir()
    for part in range(3):
        rows = (
            {
                "id": f"{DRAW.getrandbits(60):x}",
                "when": f"2024-0{part + 1}-{1 + i % 28:02}T{i % 24:02}:00:00Z",
                "clicked": i % 2,
            }
            for i in range(60)
        )
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (home / "log" / f"part-{part}.jsonl.zst").write_bytes(zstd.compress(text.encode()))
    return "log/*.zst"


def parquet(home):
    start = datetime.datetime(2024, 1, 1)
    for country in ("DE", "FR"):
        (home / "set" / f"country={country}").mkdir(parents=True)
        frame = pl.DataFrame(
            {
                "price": [f"${1000 + i:,}.5" for i in range(80)],
                "when": [start + datetime.timedelta(hours=i) for i in range(80)],
                "tags": [["a"]] * 80,
                "target": ["u", "v"] * 40,
            }
        )
        frame.write_parquet(home / "set" / f"country={country}" / "part.parquet")
    return "set"


def ids_and_dates(home):
    rows = (
        f'{1000 + i},3/{1 + i % 28}/2024 {1 + i % 12}:30 PM,0{i % 7},"{1 + i % 9},250",1,{"tv" if i % 3 else ""},{i % 2}'
        for i in range(90)
    )
    (home / "visits.csv").write_text("visit_id,when,zip,paid,seen,device,clicked\n" + "\n".join(rows))
    return "visits.csv"


UGLY = {
    excel: "--dates Datum --words Bemerkung --ignore Besuch --encoding cp1252 --decimal ,",
    log: "--dates when --ignore id",
    parquet: "--numeric price --words tags --decimal .",
    ids_and_dates: "--nominal zip --dates when --ignore visit_id,seen --decimal .",
}


def pasted(command: str) -> list[str]:
    """The words of a command as bash understands them."""
    done = subprocess.run(
        ["bash", "-c", f"set -- {command}\nprintf '%s\\0' \"$@\""],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


@needs_bash
@pytest.mark.parametrize("make", UGLY, ids=lambda make: make.__name__)
def test_what_is_printed_can_be_pasted(bb, home, make, monkeypatch):
    data = make(home)
    told = bb("data", "check", data)
    assert told.exit_code == 0, told.output
    command = told.stdout.splitlines()[-1]
    assert command.startswith(f"banditboost run {shell([data])} --label ")
    assert command.endswith(UGLY[make])
    words = pasted(command)
    assert words[:2] == ["banditboost", "run"]
    played = bb(*words[1:], *FAST)
    assert played.exit_code == 0, played.output
    compared = bb(
        "compare", *words[2:], "--learners", "Majority", "--seeds", 1, "--jobs", 1, "--out", "out", "--json"
    )
    assert compared.exit_code == 0, compared.output
    record = json.loads((home / "out" / "results.jsonl").read_text().splitlines()[0])
    assert record["rounds"] == json.loads(played.stdout)["rounds"]
    monkeypatch.setattr(data_choice, "LARGEST_IN_MEMORY", 10)
    from_disk = bb(*words[1:], *FAST)
    assert from_disk.exit_code == 0, from_disk.output
    assert json.loads(from_disk.stdout)["accuracy"] == json.loads(played.stdout)["accuracy"]
    answered = json.loads(bb("data", "check", data, "--json").stdout)
    assert answered["command"] == command
    assert answered["arguments"] == words


def test_the_table_tells_everything(bb, home):
    told = bb("data", "check", ids_and_dates(home)).stdout
    for line in (
        r"visits\.csv: 90 rows, 7 columns",
        r"visit_id\s*│ id\s*│ 90\s*│\s*│ left out\s*│ 1000, 1001, 1002",
        r"when\s*│ dates\s*│ 8\d\s*│\s*│ --dates",
        r"zip\s*│ codes\s*│ 7\s*│\s*│ --nominal",
        r"seen\s*│ constant\s*│ 1 \s*│\s*│ left out",
        r"device\s*│ names\s*│ 1\s*│ 30\s*│ ",
        r"clicked\s*│ 0 or 1\s*│ 2\s*│\s*│ label",
        r"- 'visit_id' has a new value in nearly every row, as an id: it is left out; say --numeric 'visit_id'",
        r"No cell tells for sure: say --decimal ',' if it is",
    ):
        assert re.search(line, told), line


def test_a_file_that_cannot_be_played(bb, home):
    (home / "houses.csv").write_text("area,price\n" + "".join(f"{i}.5,{i * 1.25}\n" for i in range(150)))
    for words in ([], ["--label", "price"]):
        told = bb("data", "check", "houses.csv", *words)
        assert told.exit_code == 1
        assert "different numbers with fractions" in told.stdout
        assert "make a few bins of it" in told.stdout
        assert "There is no command that plays it as it is" in told.stdout
    answered = bb("data", "check", "houses.csv", "--json")
    assert answered.exit_code == 1
    assert json.loads(answered.stdout)["command"] is None


@pytest.mark.parametrize(
    ("words", "code", "remedy"),
    [
        (["nothing.csv"], 1, "no file nothing.csv"),
        (["*.csv"], 1, "no file is called *.csv"),
        (["."], 1, "is a directory without files"),
        (["good.csv", "--label", "z"], 1, "its columns are a, b"),
        (["good.csv", "--encoding", "klingon"], 1, "such as 'utf-8', 'cp1252'"),
        (["good.csv", "--decimal", "x"], 1, "give '.' or ','"),
        (["good.csv", "--separator", "xx"], 1, "give one character"),
        (["bad.csv"], 1, "which encoding its maker used, such as --encoding 'cp1250'"),
        ([], 2, "FILE"),
    ],
)
def test_errors(bb, home, words, code, remedy):
    if words and words[0] not in (".", "*.csv"):
        (home / "good.csv").write_text("a,b\n1,x\n2,y\n")
        (home / "bad.csv").write_bytes(b"a,b\n1,\x81\n")
    told = bb("data", "check", *words)
    assert told.exit_code == code
    assert told.stdout == ""
    assert len(told.stderr.splitlines()) == 1
    assert remedy in told.stderr


def test_built_in_sets_take_no_options_of_files(bb):
    for option, value in (
        ("--dates", "a"),
        ("--encoding", "cp1252"),
        ("--separator", ";"),
        ("--decimal", ","),
    ):
        told = bb("run", "car", option, value)
        assert told.exit_code == 2
        assert f"{option} is for files" in told.stderr


def test_tune_says_the_whole_command(bb, home):
    ids_and_dates(home)
    words = ["visits.csv", "--label", "clicked", "--ignore", "visit_id,seen,paid", "--dates", "when"]
    told = bb(
        "tune", *words, "--learner", "Banditron", "--exploration", "0.1", "--seeds", 1, "--jobs", 1, "--json"
    )
    assert told.exit_code == 0, told.output
    command = json.loads(told.stdout)["command"]
    assert command.startswith(
        "banditboost run visits.csv --label clicked --dates when --ignore visit_id,seen,paid --learner Banditron"
    )


@needs_bash
@pytest.mark.parametrize(
    "hostile", [*NAMES, *LABELS, *VALUES, FILE, COMMANDS, "a'b", "a\\'\x1b$(id)`id`", "\udcff", "-x", ""]
)
def test_a_shell_gets_the_words_back(hostile):
    command = shell([hostile, "b"])
    expect_harmless_text(command)
    assert pasted(command) == [hostile, "b"]


@pytest.mark.parametrize("given", [["a"], ["a,b", "c"], ['say "x"', "y"], ["a b", "c\nd"], NAMES, []])
def test_names_are_typed_and_read_again(given):
    assert names(typed_names(given)) == tuple(name.strip() for name in given)


def test_remedies_in_the_words_of_the_command_line():
    assert in_options("say dates=['a'] or encoding='cp1252'") == "say --dates 'a' or --encoding 'cp1252'"
    assert (
        in_options('say numeric=["it\'s"], or ignore=["it\'s"]')
        == 'say --numeric "it\'s", or --ignore "it\'s"'
    )
    assert in_options("say label='a' or label=\"it's\"") == "say --label 'a' or --label \"it's\""


def test_a_column_called_label_that_is_not_proposed(bb, home):
    rows = "".join(f"v{i % 120},{'ab'[i % 2]},{i % 7}\n" for i in range(240))
    (home / "wide.csv").write_text("label,shop,n\n" + rows)
    told = bb("data", "check", "wide.csv").stdout
    why = (
        "- 'label' has 120 values, more than 100, and is not proposed as the label: say --label 'label' if it"
    )
    assert why in told
    assert told.index(why) < told.index("is taken as the label")
    assert bb("data", "check", "wide.csv", "--label", "label").exit_code == 0


@needs_bash
def test_hostile_names(bb, home):
    """Columns, values and a file that are called anything: harmless to see, and the command still plays."""
    rows = [
        [
            VALUES[(t + place) % len(VALUES)] if place < 3 else str(t % 5 + place)
            for place in range(len(NAMES))
        ]
        for t in range(90)
    ]
    with (home / FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow([*NAMES, "=right", "$(touch harm), id", "`x`\x1b"])
        writer.writerows([*row, LABELS[t % 3], f"u{t}", ""] for t, row in enumerate(rows))
    for more in ([], ["--label", "=right"], ["--json"]):
        told = bb("data", "check", FILE, *more)
        assert told.exit_code == 0, told.output
        expect_harmless_text(told.stdout + told.stderr)
    words = pasted(bb("data", "check", FILE, "--label", "=right").stdout.splitlines()[-1])
    assert bb(*words[1:], *FAST).exit_code == 0
    assert not (home / "harm").exists()
