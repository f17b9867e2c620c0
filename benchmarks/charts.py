"""Charts for the pages: all in one style, and each says which numbers it shows.

The digest of the numbers is written into the file, so that a test can tell whether a chart is of the record
that lies beside it, whatever version of Matplotlib drew it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from banditboost.experiments.figures import STYLE

OURS, PAPERS, PEER, PLAIN = "#D55E00", "#0072B2", "#009E73", "#777777"
"""GapBoost, the paper's boosters, other packages, simple rules: from Okabe and Ito's palette."""
# A fixed face, drawn as outlines: a chart looks the same everywhere.
_STYLE: Any = {**STYLE, "svg.fonttype": "path", "font.family": "DejaVu Sans"}


def digest(numbers: Any) -> str:
    """Of plain data."""
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]


def save(draw: Callable[[Any], Figure], numbers: Any, path: Path) -> Path:
    """Draw numbers in the common style, and write them as SVG."""
    with mpl.rc_context(_STYLE):
        draw(numbers).savefig(path, metadata={"Date": None, "Description": f"numbers {digest(numbers)}"})
    return path


def shows(path: Path, numbers: Any) -> bool:
    """Was the chart drawn from these numbers?"""
    return path.exists() and f"numbers {digest(numbers)}" in path.read_text(encoding="utf-8")
