"""Patches of the package, and clones in which they are applied.

A patch file begins with a line that says what it does, and a line with the algorithms that it concerns.
"""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
BASE = "d9dff8f7ba5cdbee53f925af23c0552e937bed13"
"""The commit that all patches are made against, and played with."""
UNCHANGED = "unchanged"
_ALGORITHMS = "algorithms: "


@dataclass(frozen=True)
class Patch:
    """A patch, or several that are applied one after the other: their names are joined by +."""

    name: str

    @property
    def files(self) -> list[Path]:
        """None for the package as it was."""
        return [] if self.name == UNCHANGED else [FOLDER / f"{part}.patch" for part in self.name.split("+")]

    @property
    def texts(self) -> list[str]:
        missing = [path.stem for path in self.files if not path.exists()]
        if missing:
            raise SystemExit(f"there is no patch {missing[0]!r}; there are {', '.join(names())}")
        return [path.read_text(encoding="utf-8") for path in self.files]

    @property
    def algorithms(self) -> list[str]:
        """Whom it concerns: those that any of its parts names; none named is all."""
        named = [
            name for text in self.texts for name in text.splitlines()[1].removeprefix(_ALGORITHMS).split()
        ]
        return list(dict.fromkeys(named))

    def clone(self, work: Path) -> Path:
        """The package with this patch, in a folder of its own that is made once."""
        digest = hashlib.sha256("".join([BASE, *self.texts]).encode()).hexdigest()[:12]
        place = work / f"{self.name}-{digest}"
        if place.exists():
            return place
        draft = place.with_suffix(".draft")
        subprocess.run(["rm", "-rf", str(draft)], check=True)
        _git(work, "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(draft))
        _git(draft, "checkout", "--quiet", BASE)
        for path in self.files:
            _git(draft, "apply", "--3way", str(path))
        return draft.rename(place)


def names() -> list[str]:
    """All patches there are."""
    return sorted(path.stem for path in FOLDER.glob("*.patch"))


def _git(where: Path, *arguments: str) -> None:
    where.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", *arguments], cwd=where, check=True)
