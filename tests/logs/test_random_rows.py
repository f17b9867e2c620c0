"""2,000 random rows at each door where rows of logs come in: they are taken whole, or refused whole."""

from __future__ import annotations

import pytest

from tests.fuzz.doors import logs as door
from tests.fuzz.luck import Luck, random_case

ROWS = 2_000


@pytest.fixture(scope="module", autouse=True)
def _models() -> None:
    door.prepare()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(door.CALLS))
def test_random_rows(name: str) -> None:
    """A case that fails is played again by `Luck(random_case(1, name, number))`."""
    refused, cases = 0, ROWS // door.ROWS.get(name, 1)
    for number in range(cases):
        luck = Luck(random_case(1, f"logs {name}", number))
        try:
            refused += door.CALLS[name](luck)
        except Exception as error:
            error.add_note(f"case {number} of {name}")
            raise
    assert 0.05 * cases < refused < 0.98 * cases
