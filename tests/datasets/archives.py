"""Archives in the shape of UCI's, made from the lines of the gzip CSV form."""

import gzip
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence

import ncompress
import xlwt

from banditboost.datasets import uci


def zipped(members: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def mice(lines: Sequence[str]) -> bytes:
    """An Excel sheet: numbers as floats, missing ones as cells that do not exist."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Hoja1")
    for column, name in enumerate([*lines[0].split(",")[:-1], "class"]):
        sheet.write(0, column, name)
    for row, line in enumerate(lines[1:], 1):
        for column, cell in enumerate(line.split(",")):
            if cell:
                sheet.write(row, column, _number_or_text(cell))
    content = io.BytesIO()
    book.save(content)
    return zipped({uci.MICE_SHEET: content.getvalue()})


def isolet(lines: Sequence[str]) -> bytes:
    """Two files by `compress`, without a header: here the last row is the second file."""
    first, second = uci.ISOLET_PARTS
    texts = {first: isolet_text(lines[1:-1]), second: isolet_text(lines[-1:])}
    return zipped({f"{name}.Z": ncompress.compress(text) for name, text in texts.items()})


def isolet_text(lines: Sequence[str]) -> bytes:
    return "".join(line.replace(",", ", ") + ".\n" for line in lines).encode()


def movement(lines: Sequence[str]) -> bytes:
    """As UCI may pack it: the makers' archive inside an archive."""
    return zipped({"har/dataset.zip": zipped({uci.MOVEMENT_TABLE: movement_text(lines)})})


def movement_text(lines: Sequence[str]) -> bytes:
    header = lines[0].replace(",", ";").replace("label", "class")
    rows = (_comma_decimals(line.replace(",", ";")) for line in lines[1:])
    return "".join(line + "\r\n" for line in (header, *rows)).encode()


def gzipped(lines: Sequence[str]) -> bytes:
    return gzip.compress("".join(line + "\n" for line in lines).encode())


MAKERS: Mapping[str, Callable[[Sequence[str]], bytes]] = {
    "mice": mice,
    "isolet": isolet,
    "movement": movement,
}


def _comma_decimals(row: str) -> str:
    """The odd cell of Movement keeps its decimal point."""
    if ":" not in row:
        return row.replace(".", ",")
    return ";".join(cell if ":" in cell else cell.replace(".", ",") for cell in row.split(";"))


def _number_or_text(cell: str) -> float | str:
    try:
        return float(cell) if "_" not in cell else cell
    except ValueError:
        return cell
