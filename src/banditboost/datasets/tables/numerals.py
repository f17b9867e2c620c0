"""Numbers as texts: plain ones, and amounts as people write them.

An amount is a number with a decimal point or comma, which may have marks between its thousands, one unit (a
currency, or per cent) and a sign in front, or parentheses instead of a minus. "1,234" is more than a thousand
or little more than one: only who knows the decimal mark can tell. So the mark is an argument everywhere.
"""

import math
import re
from collections.abc import Callable
from typing import NamedTuple

MARKS = (".", ",")
"""What may stand before the decimals."""
_LONGEST = 60  # characters of an amount
_BLANK = "[ \u00a0\u2009\u202f]"
_CODES = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES|KRW|KZT|"
    "MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|UYU|VND|ZAR"
)
_CURRENCY = f"(?:{_CODES}|[A-Z]{{0,3}}[$€£¥¢₹₽₩₺₫₪₴₦₱₡₲₵₸₭₮฿₼₾]|kr|zł|Kč|Ft|lei|Fr\\.)"
_SIGN = "[-+\u2212]"


def _pattern(decimal: str) -> re.Pattern[str]:
    other = re.escape("," if decimal == "." else ".")
    mark = f"[{other}'\u2019 \u00a0\u2009\u202f]"
    whole = f"[1-9][0-9]{{0,2}}(?:(?P<mark>{mark})[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*)|[0-9]+"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>{_SIGN})?{_BLANK}?(?P<before>{_CURRENCY})?{_BLANK}?(?P<late>{_SIGN})?"
        rf"(?P<whole>{whole})?(?:{re.escape(decimal)}(?P<part>[0-9]*))?"
        rf"{_BLANK}?(?P<after>{_CURRENCY}|%)?(?P<close>\))?"
    )


_PATTERNS = {decimal: _pattern(decimal) for decimal in MARKS}


class Amount(NamedTuple):
    number: float
    unit: str
    """"" if there is none."""
    parted: bool
    """Whether there are marks between thousands."""


def amount(text: str, decimal: str) -> Amount | None:
    """The amount that a text is; None for other texts, and for plain numbers with an exponent.

    >>> amount("1.234,50 €", ","), amount("($1,234.50)", ".").number, amount("1,23", ".")
    (Amount(number=1234.5, unit='€', parted=True), -1234.5, None)
    """
    if len(text) > _LONGEST or not (found := _PATTERNS[decimal].fullmatch(text)):
        return None
    whole, part = found["whole"] or "", found["part"] or ""
    signs = [found[name] for name in ("sign", "late", "open") if found[name]]
    units = [found[name] for name in ("before", "after") if found[name]]
    if not whole + part or len(signs) > 1 or len(units) > 1 or bool(found["open"]) != bool(found["close"]):
        return None
    number = float(f"{re.sub('[^0-9]', '', whole) or '0'}.{part or '0'}")
    negative = bool(signs) and signs[0] != "+"
    return Amount(-number if negative else number, "".join(units), found["mark"] is not None)


def reader(decimal: str | None, separator: str) -> Callable[[str], float]:
    """What reads the cells of a file: the number, or NaN for a text that is none."""
    if decimal is not None:
        return lambda text: _number_or_amount(text, decimal)
    return _comma_number if separator == ";" else plain_number


def plain_number(text: str) -> float:
    """What Python takes for a number, but not 1_000."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def unit_of(text: str) -> str:
    """The unit of an amount, "" if it has none or the text is no amount."""
    if text[:1].isdigit() and text[-1:].isdigit():
        return ""
    found = amount(text, ".") or amount(text, ",")
    return found.unit if found else ""


def _comma_number(text: str) -> float:
    """With a decimal point or a decimal comma."""
    return plain_number(text.replace(",", "."))


def _number_or_amount(text: str, decimal: str) -> float:
    """A plain number of this decimal mark, or an amount; the other mark may only part thousands."""
    if decimal == "." or "." not in text:
        number = plain_number(text if decimal == "." else text.replace(",", "."))
        if number == number:
            return number
    found = amount(text, decimal)
    return math.nan if found is None else found.number
