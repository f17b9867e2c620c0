"""`python -m benchmarks.numbers [--check]`: fills the pages from the records, or tells which ones differ."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.numbers import charts_of_pages, whole_pages
from benchmarks.numbers.marks import fill, names
from benchmarks.numbers.values import VALUES

ROOT = Path(__file__).parents[2]


def marked_pages() -> dict[Path, str]:
    """Pages with marks -> what they should say."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    return {page: fill(text, VALUES) for page, text in texts.items() if names(text)}


def outdated() -> list[Path]:
    """Pages and charts that differ from the records."""
    pages = marked_pages() | whole_pages.texts()
    differing = [
        page for page, text in pages.items() if not page.exists() or page.read_text(encoding="utf-8") != text
    ]
    return differing + charts_of_pages.outdated()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.numbers", description="Fill the pages from the records."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a page differs from the records"
    )
    if parser.parse_args(arguments).check:
        differing = [str(path.relative_to(ROOT)) for path in outdated()]
        if differing:
            raise SystemExit(f"{', '.join(differing)}: not what the records say; run `make numbers`")
        return
    for path, text in (marked_pages() | whole_pages.texts()).items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    for path in charts_of_pages.write():
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
