"""Which encoding text files have, found by going through all of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from banditboost.datasets.errors import DatasetError
from banditboost.datasets.tables.text_files import UTF_8, UTF_16, bad_line, open_bytes

_WINDOWS = "cp1252"
_SHOWN = 60  # characters of a line


class Guess(NamedTuple):
    """An encoding that the files can be read in, and what has to be said about it."""

    encoding: str | None
    """None is UTF-8, which needs no word."""
    remarks: list[str]


def find_encoding(paths: Sequence[Path]) -> Guess:
    """UTF-8 if all files are, else what the first other one is."""
    for path in paths:
        with open_bytes(path) as content:
            start = content.read(2)
        if start in UTF_16:
            return Guess("utf-16", [f"{path} is UTF-16 text, as its first two bytes say."])
        line = bad_line(path, UTF_8)
        if line is not None:
            return _other(path, line, paths)
    return Guess(None, [])


def _other(path: Path, line: int, paths: Sequence[Path]) -> Guess:
    for each in paths:
        if (bad := bad_line(each, _WINDOWS)) is not None:
            raise DatasetError(
                f"{path} is not UTF-8 (line {line}), and {each} is not {_WINDOWS} either (line {bad}): say "
                "which encoding its maker used, such as encoding='cp1250', 'shift_jis' or 'gb18030'"
            )
    remarks = [
        f"{path} is not UTF-8 (line {line}), and reads as {_WINDOWS}, as Windows writes it. Name another "
        f"encoding if the letters are wrong in: {_shown(path, line)}"
    ]
    for each in paths:
        if (mixed := _line_in_utf8(each)) is not None:
            remarks.append(
                f"{each} is UTF-8 in line {mixed}, and {path} is not in line {line}: with two encodings the "
                "letters of one are wrong; write all in one of them."
            )
            break
    return Guess(_WINDOWS, remarks)


def _shown(path: Path, number: int) -> str:
    """The part of a line around its first letter that is not ASCII."""
    with open_bytes(path) as content:
        line = next(line for i, line in enumerate(content, 1) if i == number)
    text = line.decode(_WINDOWS).strip()
    place = next((i for i, letter in enumerate(text) if not letter.isascii()), 0)
    start = max(0, place - _SHOWN // 2)
    return text[start : start + _SHOWN]


def _line_in_utf8(path: Path) -> int | None:
    """The first line with letters beyond ASCII that is UTF-8."""
    with open_bytes(path) as content:
        return next((i for i, line in enumerate(content, 1) if not line.isascii() and _is_utf8(line)), None)


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True
