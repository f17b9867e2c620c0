"""Data files of every kind through datasets.read, open_file, check, and `banditboost run` and `data check`."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from banditboost import GapBoost, datasets
from banditboost import play as play_stream
from tests.fuzz import values
from tests.fuzz.checks import ACCEPTED, REFUSED, attempt, look_at_text, run_command
from tests.fuzz.luck import Luck
from tests.fuzz.models import demand

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_SUFFIXES = (
    ".csv", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".csv.gz", ".jsonl.gz", ".csv.zst", ".jsonl.zst"
)  # fmt: skip
_WORDS = (
    "$1,234.50", "1.234,50 €", "1,234", "1.234", "(5)", "5 %", "-3", "1e3", "01", "NA", "", "x", "2024-01-02", "3/4/2024", "13/4/2024",
    "31.12.2024 23:59", "1/2/2024 3:45 PM", "9:30", "2024-01-02T03:04:05+01:00", "one two three", "\x1b[2J", "inf", "9999-12-31T23:59",
)  # fmt: skip
_ENCODINGS = ("utf-8", "cp1252", "utf-16", "utf-16-le", "shift_jis", "ascii", "klingon", "idna", "utf-7")


def prepare() -> None:
    """Compile what the command line plays."""
    from tests.fuzz.doors import lives
    from tests.fuzz.harness import scratch_folder

    with scratch_folder() as folder:
        for kind in ("Majority", "GapBoost"):
            lives.live(random.Random(1), Path(folder), kind, n_rounds=6)


def play(luck: Luck, folder: Path) -> str:
    if luck.chance(0.15):
        frame = values.frame(luck) if luck.chance(0.8) else values.thing(luck)
        return _read(luck, frame, _label(luck, list(getattr(frame, "columns", []))))
    suffix = luck.choice(_SUFFIXES)
    cells = _cells(luck)
    content = _written(luck, suffix, cells)
    if luck.chance(0.5):
        content = values.changed_bytes(luck, content)
    if luck.chance(0.05):
        suffix = luck.choice((*_SUFFIXES, "", ".xlsx", ".txt"))
    path = folder / f"table{suffix}"
    path.write_bytes(content)
    if luck.chance(0.1):
        path = _more_files(luck, folder, suffix, content)
    label = _label(luck, list(cells))
    if luck.chance(0.2):
        return _check(luck, path, label)
    if luck.chance(0.15) and isinstance(label, str) and "\0" not in label:
        return _run(luck, path, label, folder)
    return _read(luck, path, label)


def _cells(luck: Luck) -> dict[str, list[Any]]:
    """Columns, one of which can be the label in most cases."""
    cells = values.columns(luck)
    n = max((len(column) for column in cells.values()), default=3)
    if luck.chance(0.4):
        some = luck.sample(_WORDS, luck.randint(1, 4))
        cells["a0"] = [luck.choice(some) for _ in range(n)]
    if luck.chance(0.3):
        cells["b0"] = [_words(luck) for _ in range(n)]
    if luck.chance(0.9):
        cells["y"] = [luck.choice(("p", "q", "r")) for _ in range(n)]
    return cells


def _words(luck: Luck) -> Any:
    """A list of words, a text, or something that is neither."""
    words = [luck.choice(("red", "Big", "", "a b", "\ud800", "éß", "7")) for _ in range(luck.randint(0, 6))]
    made = luck.choice((words, words, words, " ".join(words), None, [*words, 3], ["w"] * 5_000))
    return " ".join(f"w{i}" for i in range(5_000)) if luck.chance(0.01) else made


def _label(luck: Luck, names: list[Any]) -> Any:
    if luck.chance(0.8):
        return "y"
    return luck.choice(names) if names and luck.chance(0.7) else values.thing(luck)


def _written(luck: Luck, suffix: str, cells: dict[str, list[Any]]) -> bytes:
    """The columns in a file of this kind; what its library does not write is left out."""
    kind = suffix.removesuffix(".gz").removesuffix(".zst").removeprefix(".")
    made = (
        _text(luck, kind, cells) if kind in ("csv", "tsv", "jsonl", "ndjson") else _arrow(luck, kind, cells)
    )
    if suffix.endswith(".zst"):
        return zstd.compress(made, 1)
    return gzip.compress(made, 1) if suffix.endswith(".gz") else made


def _more_files(luck: Luck, folder: Path, suffix: str, content: bytes) -> Path:
    """A folder or a pattern with the content twice, the second time perhaps changed."""
    below = folder / "set"
    for i, part in enumerate(("k=1", "k=2") if luck.chance(0.3) else ("", "")):
        (below / part).mkdir(parents=True, exist_ok=True)
        (below / part / f"{i}{suffix}").write_bytes(
            values.changed_bytes(luck, content) if i and luck.chance(0.3) else content
        )
    return below if luck.chance(0.5) else below / luck.choice(("*", "**/*", f"*{suffix}", "[01]*", "[x"))


def _check(luck: Luck, path: Path, label: Any) -> str:
    """What is proposed is taken."""
    if luck.chance(0.2):
        words = [f"--label={label}"] if isinstance(label, str) and "\0" not in label else []
        code = run_command(["data", "check", str(path), *words])
        return REFUSED if code else ACCEPTED
    options = _of_text(luck) if luck.chance(0.3) else {}
    found, error = attempt(lambda: datasets.check(path, label if luck.chance(0.7) else None, **options))
    if error is not None:
        return REFUSED
    look_at_text(found.describe())
    if found.is_ready:
        table = datasets.read(path, found.label, **found.options)
        demand(table.n_rows == found.n_rows, f"{table.n_rows} of {found.n_rows} rows came")
    return ACCEPTED


def _text(luck: Luck, kind: str, cells: dict[str, list[Any]]) -> bytes:
    rows = list(zip(*cells.values(), strict=True))
    if kind in ("jsonl", "ndjson"):
        lines = [
            json.dumps(dict(zip(cells, row, strict=True)), default=str, ensure_ascii=luck.chance(0.5))
            for row in _short(rows)
        ]
    else:
        between = "\t" if kind == "tsv" else luck.choice((",", ",", ",", ";"))
        quote = luck.choice(('"', '"', ""))
        lines = [between.join(_cell(cell, quote) for cell in row) for row in (tuple(cells), *_short(rows))]
    text = luck.choice(("\n", "\n", "\r\n")).join(lines) + luck.choice(("\n", ""))
    return text.encode("utf-8" if luck.chance(0.9) else "utf-16", "surrogatepass")


def _short(rows: list[Any]) -> list[list[Any]]:
    """Rows without integers that Python itself does not write."""
    return [
        [None if isinstance(cell, int) and abs(cell) > 10**1000 else cell for cell in row] for row in rows
    ]


def _cell(cell: Any, quote: str) -> str:
    text = "" if cell is None else str(cell)
    return f"{quote}{text.replace(quote, 2 * quote) if quote else text}{quote}"


def _arrow(luck: Luck, kind: str, cells: dict[str, list[Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    arrays = {}
    for name, column in cells.items():
        try:
            array = pa.array(column)
            arrays[name.encode("utf-8", "replace").decode()] = (
                array.dictionary_encode() if luck.chance(0.1) else array
            )
        except Exception:
            continue
    if luck.chance(0.2):
        n = len(next(iter(arrays.values()), []))
        arrays["odd"] = luck.choice(
            (
                lambda: pa.array([{"s": 1}] * n), lambda: pa.array([[1, 2]] * n), lambda: pa.array([b"x"] * n),
                lambda: pa.array(np.full(n, 2**64 - 1, np.uint64)), lambda: pa.array([10] * n, pa.timestamp("s")),
                lambda: pa.array([1] * n, pa.decimal128(38, 2)), lambda: pa.nulls(n), lambda: pa.array([1.5] * n, pa.float16()),
                lambda: pa.array([3] * n, pa.duration("ns")), lambda: pa.array(["x"] * n, pa.large_string()),
                lambda: pa.array([b"\xff\xfe"] * n, pa.binary()).view(pa.string()),
            )
        )()  # fmt: skip
    table, file = pa.table(arrays), io.BytesIO()
    if kind == "parquet":
        try:
            pq.write_table(table, file, compression=luck.choice(("none", "snappy", "gzip")))
        except pa.ArrowNotImplementedError:
            return b"PAR1"
    elif kind == "feather":
        pyarrow.feather.write_feather(table, file, compression=luck.choice(("uncompressed", "lz4")))
    else:
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return file.getvalue()


def _options(luck: Luck) -> dict[str, Any]:
    names = ("a0", "b0", "a1", "b1", "odd", "y", "nobody")
    of_columns = {
        option: luck.sample(names, luck.randint(0, 2)) if luck.chance(0.8) else values.thing(luck)
        for option in luck.sample(
            ("numeric", "nominal", "dates", "words", "ignore"), luck.choice((0, 0, 1, 2))
        )
    }
    return of_columns | (_of_text(luck) if luck.chance(0.3) else {})


def _of_text(luck: Luck) -> dict[str, Any]:
    known = {"encoding": _ENCODINGS, "separator": (",", ";", "\t", "tab", "|", "1"), "decimal": (".", ",")}
    return {
        option: luck.choice(known[option]) if luck.chance(0.9) else values.thing(luck)
        for option in luck.sample(tuple(known), luck.randint(1, 2))
    }


def _read(luck: Luck, source: Any, label: Any) -> str:
    options = _options(luck)
    if luck.chance(0.3):
        return _read_in_parts(luck, source, label, options)
    table, error = attempt(lambda: datasets.read(source, label, **options))
    if error is not None:
        return REFUSED
    demand(table.X.shape == (len(table.y), len(table.features)), "the table has no shape")
    demand(not np.isinf(table.X).any(), "a number is infinite")
    demand(len(table.y) == 0 or 0 <= table.y.min() <= table.y.max() < len(table.labels), "a label is none")
    look_at_text(str(table.describe()))
    for bag in table.bags:
        demand(len(bag) == table.n_rows and bag.ends[-1] == len(bag.codes), "words are lost")
    if table.words and luck.chance(0.5):
        _play_words(table)
    return ACCEPTED


def _play_words(table: Any) -> None:
    """What was read is played; by hand it is the same."""
    X, y = table.stream(rounds=min(table.n_rows, 6))
    played, by_hand = (GapBoost(table.labels, schema=table.schema(), n_learners=2, seed=1) for _ in range(2))
    shown = play_stream(played, X, y).shown
    for (row, right), label in zip(table.records(), shown, strict=False):
        decision = by_hand.decide(row)
        demand(decision.label == table.labels[label], "played otherwise than by hand")
        by_hand.learn(decision, decision.label == right)


def _read_in_parts(luck: Luck, source: Any, label: Any, options: dict[str, Any]) -> str:
    opened, error = attempt(lambda: datasets.open_file(source, label, **options))
    if error is not None:
        return REFUSED
    n = sum(len(y) for _, y in opened.batches(luck.choice((1, 2, 1000))))
    demand(n == opened.n_rows, f"{n} of {opened.n_rows} rows came")
    return ACCEPTED


def _run(luck: Luck, path: Path, label: str, folder: Path) -> str:
    learner = luck.choice(("Majority", "Majority", "GapBoost"))
    more = luck.choice(
        (
            [],
            ["--json"],
            ["--save", str(folder / "saved.bb")],
            ["--nominal", "a0"],
            ["--words", "a0,b0"],
            ["--shuffle"],
            ["--skip", "2"],
        )
    )
    code = run_command(["run", str(path), f"--label={label}", "--learner", learner, *more])
    return REFUSED if code else ACCEPTED
