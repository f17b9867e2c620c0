"""Amounts, read letter by letter from what docs/data.md says of them."""

from __future__ import annotations

BLANKS = " \u00a0\u2009\u202f"
SYMBOLS = "$€£¥¢₹₽₩₺₫₪₴₦₱₡₲₵₸₭₮฿₼₾"
WORDS = [
    "AED", "ARS", "AUD", "BGN", "BRL", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "EUR", "GBP",
    "HKD", "HUF", "IDR", "ILS", "INR", "ISK", "JPY", "KES", "KRW", "KZT", "MAD", "MXN", "MYR", "NGN", "NOK",
    "NZD", "PEN", "PHP", "PKR", "PLN", "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH",
    "USD", "UYU", "VND", "ZAR", "kr", "zł", "Kč", "Ft", "lei", "Fr.",
]  # fmt: skip
DIGITS = "0123456789"


def read(text: str, decimal: str) -> tuple[float, str] | None:
    """Number and unit, or None for a text that is no amount."""
    if len(text) > 60:
        return None
    negative = False
    if text.startswith("(") or text.endswith(")"):
        if not (text.startswith("(") and text.endswith(")") and len(text) > 2):
            return None
        text, negative = text[1:-1], True
    signs = 1 if negative else 0
    sign, text = _sign(text)
    before, text = _unit_in_front(_one_blank(text))
    late, text = _sign(_one_blank(text))
    signs += bool(sign) + bool(late)
    after, text = _unit_behind(text)
    if text[-1:] and text[-1] in BLANKS:
        text = text[:-1]
    number = _digits(text, decimal)
    if number is None or signs > 1 or (before and after):
        return None
    negative = negative or (sign or late) in ("-", "\u2212")
    return (-number if negative else number), before or after


def _sign(text: str) -> tuple[str, str]:
    return (text[0], text[1:]) if text[:1] and text[0] in "+-\u2212" else ("", text)


def _one_blank(text: str) -> str:
    return text[1:] if text[:1] and text[0] in BLANKS else text


def _unit_in_front(text: str) -> tuple[str, str]:
    for length in range(4, 0, -1):
        if _is_currency(text[:length]) and len(text) >= length:
            return text[:length], text[length:]
    return "", text


def _unit_behind(text: str) -> tuple[str, str]:
    if text.endswith("%"):
        return "%", text[:-1]
    for length in range(4, 0, -1):
        if len(text) > length and _is_currency(text[-length:]):
            return text[-length:], text[:-length]
    return "", text


def _is_currency(text: str) -> bool:
    if text in WORDS:
        return True
    letters, symbol = text[:-1], text[-1:]
    return (
        bool(symbol)
        and symbol in SYMBOLS
        and all("A" <= letter <= "Z" for letter in letters)
        and len(letters) <= 3
    )


def _digits(text: str, decimal: str) -> float | None:
    if text.count(decimal) > 1:
        return None
    whole, _, part = text.partition(decimal)
    if not all(letter in DIGITS for letter in part):
        return None
    others = [letter for letter in whole if letter not in DIGITS]
    if others:
        allowed = BLANKS + "'\u2019" + ("," if decimal == "." else ".")
        groups = whole.split(others[0])
        first, *rest = groups
        if (
            len(set(others)) > 1
            or others[0] not in allowed
            or not 1 <= len(first) <= 3
            or first[0] == "0"
            or any(len(group) != 3 for group in rest)
        ):
            return None
        whole = "".join(groups)
    if not whole + part:
        return None
    return float(f"{whole or '0'}.{part or '0'}")
