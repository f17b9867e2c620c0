"""Plain tables for the terminal, in Markdown."""

from collections.abc import Sequence


def render(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """First column to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(headers, *rows, strict=True)]
    lines = [_line(headers, widths), _line([_rule(width, i > 0) for i, width in enumerate(widths)], widths)]
    return "\n".join(lines + [_line(row, widths) for row in rows])


def number(value: float | None) -> str:
    """Three digits: 76,400 or 12.3 or 0.45."""
    if value is None:
        return "-"
    if value >= 1000:
        digits = len(str(int(value)))
        return f"{round(value, 3 - digits):,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(padded) + " |"


def _rule(width: int, right: bool) -> str:
    return "-" * (width - 1) + ":" if right else "-" * width
