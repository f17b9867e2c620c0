"""What performance.md says about the forms that rows come in."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import forms
from benchmarks.mixed import N_VALUES
from benchmarks.numbers.sources import lines
from benchmarks.numbers.speed import origin
from benchmarks.tables import number


def rates(form: str, name: str = "GapBoost") -> float:
    """Rounds per second."""
    found = next(line for line in lines("forms") if line["form"] == form)
    rate: float = found["rates"][name]["per_second"]
    return rate


def table() -> str:
    return forms.report({line["form"]: line["rates"] for line in lines("forms")})


def least_share(way: str) -> str:
    """Of the array's rate, among the forms of one way of asking."""
    found = [line["form"] for line in lines("forms") if line["form"].startswith(way)]
    return forms.share_of(min(rates(form) / rates(forms.base_of(form)) for form in found), 1.0)


def quotient(form: str, other: str, name: str = "GapBoost") -> str:
    return number(rates(form) / rates(other, name))


VALUES: dict[str, Callable[[], str]] = {
    "forms.table": table,
    "forms.names": lambda: f"{min(N_VALUES)} to {max(N_VALUES)}",
    "forms.origin": lambda: origin("forms"),
    "forms.before": lambda: f"commit {lines('forms')[0]['before']}",
    "forms.play": lambda: least_share("play"),
    "forms.run": lambda: least_share("run"),
    "forms.many": lambda: least_share(forms.MANY),
    "forms.row-quotient": lambda: quotient(forms.ROW, forms.BEFORE),
    "forms.wabbit": lambda: quotient("play pandas", forms.BEST, ""),
    "forms.wabbit-plain": lambda: quotient("play pandas", forms.PLAIN, ""),
}
