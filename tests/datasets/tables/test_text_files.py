"""Encodings, separators and packed files."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banditboost import datasets
from banditboost.datasets import DatasetError
from tests.datasets.tables.conftest import Writer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.usefixtures("csv_reader")
TEXT = "größe,y\n1,café\n2,naïve\n"


@pytest.mark.parametrize(
    "encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-8", "UTF-8", "utf-8-sig", "utf-32", "cp850"]
)
def test_encodings(write: Writer, encoding: str) -> None:
    table = datasets.read(write(TEXT.encode(encoding)), "y", encoding=encoding)
    assert table.features == ("größe",)
    assert table.labels == ("café", "naïve")


def test_json_lines_have_encodings_too(write: Writer) -> None:
    path = write('{"x": 1, "y": "café"}\n{"x": 2, "y": "b"}\n'.encode("cp1252"), "t.jsonl")
    assert datasets.read(path, "y", encoding="cp1252").labels == ("b", "café")
    with pytest.raises(DatasetError, match=r"is not UTF-8 text \(byte 0xe9 in line 1\)"):
        datasets.read(path, "y")


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (
            b"x,y\n1,a\n2,\x81\n",
            "cp1252",
            r"is not cp1252 text \(byte 0x81 in line 3\): name another encoding",
        ),
        (b"x,y\n1,a\n2,\xff\xfe\n", "utf-8", r"is not UTF-8 text \(byte 0xff in line 3\)"),
        ("x,y\n1,a\n2,b\n".encode("utf-16-le") + b"\x00", "utf-16-le", r"is not utf-16-le text"),
        (b"x,y\n1,a\n2,\x80\n", "ascii", r"is not ascii text \(byte 0x80 in line 3\)"),
    ],
)
def test_not_in_that_encoding(write: Writer, content: bytes, encoding: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        datasets.read(write(content), "y", encoding=encoding)


def test_a_bad_byte_far_behind(write: Writer) -> None:
    path = write(b"x,y\n" + b"1,a\n2,b\n" * 50_000 + b"3,\x8f\n")
    with pytest.raises(DatasetError, match=r"is not cp1252 text \(byte 0x8f in line 100002\)"):
        datasets.read(path, "y", encoding="cp1252")
    with pytest.raises(DatasetError, match=r"is not UTF-8 text \(byte 0x8f in line 100002\)"):
        datasets.read(path, "y")


@pytest.mark.parametrize(
    "encoding", ["klingon", "rot13", "hex", "base64", "undefined", "", 7, b"utf-8", "utf-8\0"]
)
def test_no_encoding(write: Writer, encoding: object) -> None:
    with pytest.raises(
        DatasetError, match=r"encoding is .*: give the name of a text encoding that Python knows"
    ):
        datasets.read(write("x,y\n1,a\n2,b\n"), "y", encoding=encoding)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("separator", "character"),
    [("|", "|"), ("tab", "\t"), ("\\t", "\t"), (" ", " "), (":", ":"), (None, "|")],
)
def test_separators(write: Writer, separator: str | None, character: str) -> None:
    path = write("a,b~y\n1,2~u\n3,4~v\n".replace(",", "_").replace("~", character))
    assert datasets.read(path, "y", separator=separator, nominal=["a_b"]).features == ("a_b",)


@pytest.mark.parametrize("separator", ["", "ab", '"', "\n", "é", "\0", 5])
def test_no_separator(write: Writer, separator: object) -> None:
    with pytest.raises(DatasetError, match=r"separator is .*: give one character"):
        datasets.read(write("x,y\n1,a\n2,b\n"), "y", separator=separator)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["t.csv.zst", "t.csv.zstd", "t.csv"])
def test_zstd_whatever_the_name(write: Writer, name: str) -> None:
    two = zstd.compress(b"x,y\n1,a\n") + zstd.compress(b"2,b\n")
    assert datasets.read(write(two, name), "y").X.tolist() == [[1], [2]]
    packed = zstd.compress('{"x": 1, "y": 2}\n{"x": 3, "y": 4}\n'.encode("utf-16"))
    assert datasets.read(write(packed, "t.jsonl.zst"), "y", encoding="utf-16").X.tolist() == [[1], [3]]


def test_zstd_without_what_unpacks_it(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression", "compression.zstd", "backports", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DatasetError, match=r"is a zstd file, .*pip install backports.zstd, or unpack it"):
        datasets.read(write(zstd.compress(b"x,y\n1,a\n2,b\n"), "t.csv.zst"), "y")


def test_options_of_text_for_what_is_none(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    frame.write_parquet(tmp_path / "t.parquet")
    for option in ({"encoding": "cp1252"}, {"separator": ";"}):
        for source in (frame, tmp_path / "t.parquet"):
            with pytest.raises(DatasetError, match=r"is for text files, .* is none: leave it out"):
                datasets.read(source, "y", **option)


@given(
    st.binary(max_size=200),
    st.sampled_from([None, "cp1252", "utf-16", "shift_jis"]),
    st.sampled_from(["", "gz", "zst"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused_in_words(
    write: Writer, content: bytes, encoding: str | None, packed: str
) -> None:
    content = b"x,y\n1,a\n2,b\n" + content
    content = (
        gzip.compress(content) if packed == "gz" else zstd.compress(content) if packed == "zst" else content
    )
    path = write(content, f"t.csv{'.' if packed else ''}{packed}")
    try:
        datasets.read(path, "y", encoding=encoding)
    except DatasetError as error:
        told = str(error)
    else:
        told = str(path)
    assert str(path) in told
