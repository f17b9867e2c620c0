"""Names that are hostile: whatever command meets them, nothing harmful is printed or written."""

from __future__ import annotations

import csv
import html.parser
import json
import os
import pty
import re
import sys
import unicodedata
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from banditboost import plot
from banditboost.experiments import comparison, estimators, figures, report, searches, sheets, tables
from banditboost.experiments.sheets import Entry, Sheet
from tests.experiments.made_up import record

TERMINAL = "\x1b]0;PWNED\x07\x1b[2J\x9b31m\x7f\u202e\u200b\u2028!"
MARKUP = "<script>alert(1)</script><img src=x>[red]rich[/red] :smile: |cell|`code` ![](x) [l](x) &lt;b&gt;"
FORMULAS = ["=1+cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=2", "x;=1", "\uff1d1"]
COMMANDS = r"$\frac{1}{ \input{/etc/passwd} \N %s {task.description} 100% #x _y_ ~z^"
NAMES = [f"{TERMINAL}a", MARKUP, COMMANDS, *FORMULAS]
LABELS = [f"=label {TERMINAL}", f"@{MARKUP}", f"-{COMMANDS}"]
VALUES = [f"+value {TERMINAL}", f"{MARKUP}v", f"{COMMANDS}v", "\ud7ff"]
FILE = f"=f {TERMINAL}<b>[red]$x$|`y` .csv".replace("/", "")
TAG = re.compile(r"<[a-zA-Z/!?]")


def control_characters(text: str) -> set[str]:
    """What a terminal would obey, or what hides and turns the text around it; lines may end."""
    return {letter for letter in text if letter != "\n" and unicodedata.category(letter) in _UNSEEN}


_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def expect_harmless_text(text: str) -> None:
    assert control_characters(text) == set()


def expect_harmless_csv(text: str) -> None:
    expect_harmless_text(text)
    for row in csv.reader(text.splitlines()):
        for cell in row:
            if not is_number(cell):
                assert not re.match(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]", cell), cell
                assert not re.search(r"[,;|]\s*[=+\-@]", cell), cell


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def expect_harmless_markdown(text: str) -> None:
    expect_harmless_text(text)
    assert not TAG.search(text), text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1, "a name has made a cell"
    assert not re.search(r"(?<!\\)[`\[\]]", text), text


def expect_harmless_latex(text: str) -> None:
    expect_harmless_text(text)
    assert r"\input" not in text
    assert r"\frac" not in text
    assert not re.search(r"(?<!\\)[#^]", text), text


def expect_harmless_svg(text: str) -> None:
    """Well-formed, nothing but what Matplotlib draws, and names drawn as they are."""
    expect_harmless_text(text)
    kinds = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}
    assert kinds.isdisjoint({"script", "img", "b", "a", "foreignObject"}), kinds


CHECKS = {
    ".csv": expect_harmless_csv,
    ".md": expect_harmless_markdown,
    ".tex": expect_harmless_latex,
    ".svg": expect_harmless_svg,
}


def expect_harmless_files(folder: Path) -> set[str]:
    """Look at all that was written; which endings there were."""
    seen = set()
    for path in folder.iterdir():
        if path.suffix in CHECKS:
            CHECKS[path.suffix](path.read_text(encoding="utf-8"))
            seen.add(path.suffix)
    return seen


@pytest.fixture
def table(home: Path) -> Path:
    """A file of one's own with hostile columns, values and labels, in a file with a hostile name."""
    path = home / FILE
    rows = [
        [
            VALUES[(t + place) % len(VALUES)] if place < 3 else str(t % 5 + place)
            for place in range(len(NAMES))
        ]
        for t in range(90)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow([*NAMES, "=right"])
        writer.writerows([*row, LABELS[t % 3]] for t, row in enumerate(rows))
    return path


@pytest.mark.usefixtures("table")
def test_run_and_show(bb, home):
    done = bb("run", FILE, "--label", "=right", "--n-learners", 2, "--save", "m.bb", "--plot", "=p.svg")
    assert done.exit_code == 0, done.output
    expect_harmless_text(done.stdout + done.stderr)
    expect_harmless_svg((home / "=p.svg").read_text(encoding="utf-8"))
    shown = bb("model", "show", "m.bb")
    assert r"\x1b]0;PWNED\x07" in shown.stdout
    assert "[red]rich[/red] :smile:" in shown.stdout
    expect_harmless_text(shown.stdout + shown.stderr)


@pytest.mark.parametrize(
    "command", [["run", FILE, "--label", "=right"], ["model", "show", "m.bb"]], ids=["run", "show"]
)
@pytest.mark.usefixtures("table")
def test_json_is_exact_and_harmless(bb, command):
    assert bb("run", FILE, "--label", "=right", "--n-learners", 2, "--save", "m.bb").exit_code == 0
    done = bb(*command, "--json")
    expect_harmless_text(done.stdout)
    answer = json.loads(done.stdout)
    if command[0] == "run":
        assert answer["data"] == FILE
    else:
        assert set(answer["labels"]) == set(LABELS)
        assert {name.strip() for name in NAMES} == set(answer["schema"])


@pytest.mark.usefixtures("table")
def test_compare_and_tune(bb, home):
    for words in (
        ["compare", FILE, "--learners", "Majority,Banditron", "--seeds", 1],
        ["tune", FILE, "--learner", "Banditron", "--exploration", "0.01,0.1", "--seeds", 1],
    ):
        done = bb(*words, "--label", "=right", "--jobs", 1, "--out", f"{words[0]}-<i>")
        assert done.exit_code == 0, done.output
        expect_harmless_text(done.stdout + done.stderr)
        assert expect_harmless_files(home / f"{words[0]}-<i>") == set(CHECKS)


@pytest.mark.parametrize(
    "words",
    [
        ["run", TERMINAL],
        ["run", FILE],
        ["run", FILE, "--label", TERMINAL],
        ["run", FILE, "--label", "=right", "--set", f"{TERMINAL}=1"],
        ["run", FILE, "--label", "=right", "--set", TERMINAL],
        ["run", FILE, "--label", "=right", "--learner", TERMINAL],
        ["run", FILE, "--label", "=right", "--save", f"{TERMINAL}/x"],
        ["run", FILE, "--label", "=right", "--plot", TERMINAL],
        ["run", FILE, "--label", "=right", "--nominal", TERMINAL],
        ["run", "mice", "--data", TERMINAL],
        ["run", FILE, "--label", "=right", "--exploration", TERMINAL],
        ["compare", FILE, "--label", "=right", "--out", FILE],
        ["compare", FILE, "--label", "=right", "--learners", TERMINAL],
        ["compare", "car", "--against", TERMINAL],
        ["tune", FILE, "--label", "=right", "--try", TERMINAL],
        ["reproduce", "--datasets", TERMINAL],
        ["reproduce", TERMINAL],
        ["model", "show", TERMINAL],
        ["model", "show", FILE],
        ["warm", TERMINAL],
        [TERMINAL],
        ["run", f"--{TERMINAL}"],
    ],
    ids=lambda words: " ".join(words[:2]).encode("unicode_escape").decode()[:40],
)
@pytest.mark.usefixtures("table")
def test_errors_quote_harmlessly(bb, words):
    done = bb(*words)
    assert done.exit_code in (1, 2)
    assert done.stderr.count("\n") == 1
    expect_harmless_text(done.stdout + done.stderr)


def test_data_list(bb, home):
    folder = home / FILE
    folder.mkdir()
    (folder / "mice.csv.gz").write_bytes(b"")
    done = bb("data", "list", "--data", FILE)
    assert r"\x1b]0;PWNED" in re.sub(r"[\s│]", "", done.stdout)
    expect_harmless_text(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.usefixtures("table")
def test_on_a_terminal(bb):
    """A real one: a bar is drawn, remarks are made, colours are on; no name says anything to it."""
    assert bb("run", FILE, "--label", "=right", "--n-learners", 2, "--save", "m.bb").exit_code == 0
    code = "from banditboost.cli import main; main()"
    for words in (["model", "show", "m.bb"], ["run", FILE, "--label", "=right", "--learner", "Majority"]):
        seen = on_terminal([sys.executable, "-c", code, *words])
        assert r"\x1b]0;PWNED\x07" in seen
        for harm in ("\x1b]0;", "PWNED\x07", "\x1b[2J", "\x9b", "\x7f", "\u202e", "\u200b", "\u2028"):
            assert harm not in seen
        assert "[red]rich" in seen


def on_terminal(command: list[str]) -> str:
    """What a command prints to a terminal of its own."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover (another process)
        os.environ.update(COLUMNS="200", TERM="xterm")
        os.execv(command[0], command)
    seen = b""
    while True:
        try:
            block = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        seen += block
    os.close(terminal)
    assert os.waitpid(child, 0)[1] == 0, seen
    return seen.decode("utf-8", "surrogateescape")


# What is made of records alone


def hostile_records() -> list[dict]:
    def one(seed: int, learner: str) -> dict:
        made = record(
            "x", learner, seed, exploration=0.1, machine={MARKUP: TERMINAL}, versions={COMMANDS: MARKUP}
        )
        task = {
            **made["task"],
            "source": {"name": FILE},
            "parameters": {MARKUP: TERMINAL, "exploration": 0.1},
        }
        return {**made, "task": task, "id": f"{seed}{learner}", "finished": f"<b>{TERMINAL}"}

    return [one(seed, learner) for seed in (1, 2, 3) for learner in [*NAMES, "_hidden"]]


class Page(html.parser.HTMLParser):
    """All tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {(tag, name) for name, _ in attrs}


def test_the_report():
    records = hostile_records()
    sheet = comparison.summary(records)
    text = report.page(report.Report(f"banditboost {MARKUP}{TERMINAL}", [sheet], records, records))
    expect_harmless_text(text)
    usual = record(exploration=0.1)
    ours = Page(report.page(report.Report("x", [comparison.summary([usual])], [usual], [usual])))
    page = Page(text)
    assert page.tags <= ours.tags | {"small"}
    assert page.attributes <= ours.attributes
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


@pytest.mark.parametrize(
    "make",
    [comparison.summary, tables.table1, searches.table4, estimators.estimators],
    ids=["summary", "table1", "table4", "estimators"],
)
@pytest.mark.parametrize("ending", list(sheets.FORMS))
def test_tables(make, ending):
    CHECKS[ending](sheets.FORMS[ending](make(hostile_records())))


@pytest.mark.parametrize("ending", list(sheets.FORMS))
def test_every_part_of_a_table(ending):
    rows = tuple((Entry(name, name),) * 2 for name in NAMES)
    sheet = Sheet(
        "x",
        MARKUP,
        TERMINAL,
        (NAMES[0], NAMES[1]),
        rows,
        tuple({NAMES[0]: name, NAMES[3]: 1} for name in NAMES),
    )
    CHECKS[ending](sheets.FORMS[ending](sheet))
    CHECKS[ending](sheets.FORMS[ending](replace(sheet, title=COMMANDS, note=MARKUP)))


def test_our_numbers_are_no_formulas():
    numbers = ({"difference": -0.5, "rate": "-0.25", "name": "-x"},)
    assert sheets.csv_text(Sheet("x", "", "", (), (), numbers)) == "difference,rate,name\n-0.5,-0.25,'-x\n"


@pytest.mark.filterwarnings("ignore:Glyph")  # there is no font for all of them
def test_figures():
    records = hostile_records()
    for figure in (figures.learning_curves(records), figures.exploration(records)):
        text = figures.svg_text(figure)
        expect_harmless_svg(text)
        drawn = " ".join(element.text or "" for element in ET.fromstring(text).iter())
        assert r"$\frac{1}{ \input" in drawn, "the dollar is drawn"
        assert "_hidden" in drawn, "no name is left out of the legend"


def test_figures_of_a_model():
    from banditboost import baselines, play

    model = baselines.Majority(LABELS, seed=1)
    result = play(model, [[t % 3] for t in range(60)], [LABELS[t % 3] for t in range(60)])
    for figure in (
        plot.confusion(result),
        plot.learning_curve({LABELS[0]: result, COMMANDS: result, "_x": result}),
    ):
        text = figures.svg_text(figure)
        expect_harmless_svg(text)
        assert r"$\frac{1}{" in text


def test_text_of_a_model():
    from banditboost import AdaFull, Schema

    names, labels = [*NAMES, ("a\x1b", 1), 10**5000], [*LABELS, 10**5000, b"\x1b"]
    model = AdaFull(labels, n_learners=2, seed=1, max_memory=1 << 24)
    for t in range(200):
        model.learn_one({name: VALUES[(t + i) % 4] for i, name in enumerate(names)}, labels[t % len(labels)])
    tree = model.tree(0)
    assert len(tree.nodes) > 1
    for text in (repr(model), str(model.summary()), str(tree), tree.to_graphviz(), repr(model.schema)):
        expect_harmless_text(text)
    dot = tree.to_graphviz()
    for line in dot.splitlines():
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0, line
    expect_harmless_text(repr(Schema(numeric=NAMES)))
