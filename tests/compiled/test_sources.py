"""What a kernel is made of is all of it: whatever is edited, its digest is another one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from banditboost.compiled.sources import source_of

NAMES = ("near", "near.far", "near.far.farther", "kernels_here")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `near` with the parts `far` and `far.farther`, to be imported anew."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "near" / "far").mkdir(parents=True)
    for name in ("near/__init__.py", "near/far/__init__.py", "near/far/farther.py"):
        (tmp_path / name).write_text("")
    yield tmp_path
    forget()


def forget() -> None:
    for name in NAMES:
        sys.modules.pop(name, None)


def digest(folder: Path, text: str, far: str) -> str | None:
    """Of the function `f` in a file, beside a module with another text."""
    (folder / "kernels_here.py").write_text(text)
    (folder / "near" / "far" / "farther.py").write_text(far)
    forget()
    __import__("kernels_here")
    return source_of(sys.modules["kernels_here"].f)


CHAIN = "import near.far.farther\ndef f(x):\n    return near.far.farther.THING\n"
TAKEN = "from near.far.farther import THING\n"
FAR = {
    "a number behind modules": (CHAIN, "THING = 1", "THING = 2"),
    "a kernel's file behind modules": (
        CHAIN,
        "import numba\n@numba.njit\ndef THING(x): return 1",
        "import numba\n@numba.njit\ndef THING(x): return 2",
    ),
    "a function that Numba was taught": (CHAIN, "def THING(x): return 1", "def THING(x): return 2"),
    "complex": (f"{TAKEN}def f(x):\n    return THING\n", "THING = 1j", "THING = 2j"),
    "a type": (f"{TAKEN}def f(x):\n    return THING(x)\n", "from numpy import float32 as THING",
               "from numpy import float64 as THING"),
    "a dtype": (f"{TAKEN}def f(x):\n    return THING\n", "import numpy\nTHING = numpy.dtype('f4')",
                "import numpy\nTHING = numpy.dtype('f8')"),
    "a default": (f"{TAKEN}def f(x, y=THING):\n    return x + y\n", "THING = 1", "THING = 2"),
    "a default by name": (f"{TAKEN}def f(x, *, y=THING):\n    return x + y\n", "THING = 1", "THING = 2"),
    "in a comprehension": (f"{TAKEN}def f(x):\n    return [THING for _ in x]\n", "THING = 1", "THING = 2"),
    "a member of an enum": (f"{TAKEN}def f(x):\n    return THING.A\n",
                            "from enum import IntEnum\nclass THING(IntEnum):\n    A = 1",
                            "from enum import IntEnum\nclass THING(IntEnum):\n    A = 2"),
    "within a tuple": (f"{TAKEN}def f(x):\n    return THING[0][0]\n",
                       "import numpy\nTHING = ((1, numpy.array([1.0])),)",
                       "import numpy\nTHING = ((1, numpy.array([1.0 + 1e-15])),)"),
    "a closure": (f"{TAKEN}def g(y):\n    def f(x):\n        return y\n    return f\nf = g(THING)\n",
                  "THING = 1", "THING = 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAR)
def test_whatever_is_edited_is_noticed(folder: Path, case: str) -> None:
    text, before, after = FAR[case]
    first = digest(folder, text, before)
    assert first is not None
    assert digest(folder, text, before) == first, "not the same in the next process"
    assert digest(folder, text, after) != first


def test_what_no_name_leads_to_does_not_matter(folder: Path) -> None:
    assert digest(folder, CHAIN, "THING = 1\nOTHER = 1") == digest(folder, CHAIN, "THING = 1\nOTHER = 2")


def test_a_module_that_cannot_tell_is_no_obstacle(folder: Path) -> None:
    far = "def __getattr__(name):\n    raise ImportError(name)\n"
    assert digest(folder, CHAIN, far) is not None


def reading(value: Any) -> Callable[[], Any]:
    return lambda: value


@given(st.data(), arrays.arrays(st.sampled_from(["f8", "f4", "i8", "u1", "?"]), st.integers(1, 2000)))
def test_one_bit_of_an_array_makes_another_digest(data: st.DataObject, array: Any) -> None:
    other = array.copy()
    place = data.draw(st.integers(0, other.nbytes - 1))
    other.view(np.uint8)[place] ^= 1
    assert source_of(reading(array)) == source_of(reading(array.copy()))
    assert source_of(reading(array)) != source_of(reading(other))
    assert source_of(reading(array)) != source_of(reading(array[:, None]))
