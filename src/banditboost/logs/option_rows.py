"""Tables in which each row is an option: all rows of one decision were offered together.

The reading itself is that of logs (tables.py). Which columns are the options' can be told, or is found: those
that differ between two options of one decision.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from banditboost.errors import LogError
from banditboost.logs.log import Log
from banditboost.logs.tables import read
from banditboost.text import quoted

Features = dict[Any, Any]


@dataclass
class Offer:
    """What was offered in one decision: rows of the table, one for each option."""

    id: str
    rows: dict[Hashable, Features] = field(default_factory=dict)
    """Option -> all that its row tells."""
    rewards: dict[Hashable, float] = field(default_factory=dict)


Rounds = tuple[list[Features], list[dict[Hashable, Features]], list[dict[Hashable, float]]]
"""Contexts, options, rewards."""


class OptionRows:
    """A table of options, which stays where it is and is gone through decision by decision. `read_options`
    returns it.

    >>> import pandas as pd
    >>> from banditboost import logs
    >>> offered = {"visit": [1, 1, 2, 2], "hour": [9, 9, 21, 21], "article": ["tea", "cake", "tea", "cake"],
    ...            "price": [4.5, 3.0, 4.0, 3.0], "bought": [1, 0, 0, 1]}
    >>> table = logs.read_options(
    ...     pd.DataFrame(offered), decision="visit", option="article", reward="bought"
    ... )
    >>> table.option_columns, table.context_columns
    (('price',), ('hour',))
    >>> table.to_play()["options"][0]
    {'tea': {'price': 4.5}, 'cake': {'price': 3.0}}
    >>> table.n_decisions
    2
    """

    def __init__(self, log: Log, option_columns: Collection[str] | None) -> None:
        self.name = log.name
        self._log = log
        self.n_decisions = self.n_rows = 0
        self.ids: tuple[Hashable, ...]
        """Every option that was offered, in the order in which they come."""
        self.lowest: tuple[float, str]
        """The least reward, and where it is; `highest` is the largest."""
        self.highest: tuple[float, str]
        self._look(None if option_columns is None else frozenset(option_columns))

    def _look(self, told: frozenset[str] | None) -> None:
        """A first pass: what there is, and whose columns are whose."""
        columns, differ, ids = dict[str, None](), dict[str, str](), dict[Hashable, None]()
        rewards, has_choice = list[tuple[float, str]](), False
        for offer in self._offers():
            rows = list(offer.rows.values())
            has_choice = has_choice or len(rows) > 1
            ids.update(dict.fromkeys(offer.rows))
            for row in rows:
                columns.update(dict.fromkeys(row))
            for name in _differing(rows):
                differ.setdefault(name, offer.id)
            where = f"decision {quoted(offer.id)}"
            rewards = [*rewards, *((reward, where) for reward in offer.rewards.values())]
            rewards = [min(rewards), max(rewards)]
            self.n_decisions, self.n_rows = self.n_decisions + 1, self.n_rows + len(rows)
        if not rewards:
            raise LogError(f"{self.name}: there are no rows")
        if not has_choice:
            raise LogError(
                f"{self.name}: each decision has one row, so there is nothing to choose; decision must name "
                "a column with the same value in all rows that were offered together"
            )
        self.ids, (self.lowest, self.highest) = tuple(ids), rewards
        self._share_out(columns, differ, told)

    def _share_out(
        self, columns: dict[str, None], differ: dict[str, str], told: frozenset[str] | None
    ) -> None:
        for name in sorted(told or ()):
            if name not in columns:
                raise LogError(
                    f"option_columns has {quoted(name)}, which is no column of features, or always empty; "
                    f"these are {', '.join(columns) or 'none'}"
                )
        theirs = frozenset(differ) if told is None else told
        for name, where in differ.items():
            if name not in theirs:
                raise LogError(
                    f"column {name!r} differs between the options of decision {quoted(where)}, and is not in "
                    "option_columns; name it there, or in ignore"
                )
        self.option_columns = tuple(name for name in columns if name in theirs)
        self.context_columns = tuple(name for name in columns if name not in theirs)

    def _offers(self) -> Iterator[Offer]:
        """One decision after the other; refused where a row cannot belong to any."""
        offer: Offer | None = None
        done, row_number = set[str](), 0
        for block in self._log:
            assert block.ids is not None
            told = block.ids.tolist(), block.actions.tolist(), block.rewards.tolist(), block.rows
            for id_, option, reward, row in zip(*told, strict=True):
                row_number += 1
                self._check(id_, option, reward, row_number)
                if offer is None or id_ != offer.id:
                    if offer is not None:
                        yield offer
                    if id_ in done:
                        raise LogError(
                            f"{self.name}: decision {quoted(id_)} comes again in row {row_number:,}, after "
                            "others; rows of one decision stand together: sort the table"
                        )
                    done.add(id_)
                    offer = Offer(id_)
                if option in offer.rows:
                    raise LogError(
                        f"{self.name}: decision {quoted(id_)} has the option {quoted(option)} twice, the "
                        f"second time in row {row_number:,}; give each option one row"
                    )
                offer.rows[option], offer.rewards[option] = row, reward
        if offer is not None:
            yield offer

    def _check(self, decision: Any, option: Any, reward: float, row: int) -> None:
        for what, value in (("decision", decision), ("option", option)):
            if value is None:
                raise LogError(f"{self.name}: row {row:,} has no {what}; fill it in, or leave the row out")
        if reward != reward:
            raise LogError(
                f"{self.name}: row {row:,} has no reward; each option needs what it would have earned. If "
                "only what was shown has one, this is a log: see `banditboost evaluate`"
            )

    def blocks(self, size: int = 1_000) -> Iterator[Rounds]:
        """Contexts, options and rewards of `size` decisions at a time, as `play` takes them."""
        found: Rounds = [], [], []
        for offer in self._offers():
            rows = offer.rows.values()
            found[0].append({name: row[name] for row in rows for name in self.context_columns if name in row})
            found[1].append({id_: self._of_option(row) for id_, row in offer.rows.items()})
            found[2].append(offer.rewards)
            if len(found[0]) == size:
                yield found
                found = [], [], []
        if found[0]:
            yield found

    def _of_option(self, row: Features) -> Features:
        return {name: row[name] for name in self.option_columns if name in row}

    def to_play(self) -> dict[str, Any]:
        """All of it as the arguments of `play`: X, options and rewards."""
        X, options, rewards = next(self.blocks(self.n_decisions))
        return {"X": X, "options": options, "rewards": rewards}

    def __repr__(self) -> str:
        return f"OptionRows({self.name!r}, {self.n_decisions:,} decisions, {self.n_rows:,} rows)"


def _differing(rows: list[Features]) -> list[str]:
    """Columns whose cells are not all alike; a missing cell is another one."""
    names = dict.fromkeys(name for row in rows for name in row)
    first = rows[0]
    return [name for name in names if any(row.get(name) != first.get(name) for row in rows)]


def read_options(
    source: str | os.PathLike[str] | Any,
    *,
    decision: str,
    option: str,
    reward: str,
    option_columns: Collection[str] | None = None,
    ignore: Collection[str] = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
) -> OptionRows:
    """A table in files (CSV, JSON lines, Parquet, Arrow) of any size, or in a frame, with a row for each
    option of each decision, and what the option would have earned.

    Rows of one decision stand together. Ids of decisions and options are texts as they are written.

    Args:
        source: a path of a file or a folder, a pattern such as "shop/*.csv.gz", or a frame of pandas, polars
            or pyarrow.
        decision: the column with the same value in all rows that were offered together.
        option: the column with the id of the option.
        reward: the column that tells what the option would have earned: numbers, or true and false.
        option_columns: features of options; all others are the context's, and alike within a decision. None
            takes those that differ between two options of any decision.
        ignore: columns to leave out.
        encoding, separator, decimal: of text files, as in `datasets.read`.

    >>> import pandas as pd
    >>> from banditboost import OptionBoost, logs, play
    >>> offered = {"visit": [1, 1, 2, 2], "hour": [9, 9, 21, 21], "article": ["tea", "cake", "tea", "cake"],
    ...            "price": [4.5, 3.0, 4.0, 3.0], "bought": [1, 0, 0, 1]}
    >>> table = logs.read_options(
    ...     pd.DataFrame(offered), decision="visit", option="article", reward="bought"
    ... )
    >>> len(play(OptionBoost(seed=1), **table.to_play()).shown)
    2
    """
    if option_columns is not None and (
        isinstance(option_columns, str)
        or not isinstance(option_columns, Collection)
        or not all(isinstance(name, str) for name in option_columns)
    ):
        raise LogError(f"option_columns is {quoted(option_columns)}; give a list of names of columns")
    told = {"decision": decision, "option": option, "reward": reward}
    for argument, name in told.items():
        if not isinstance(name, str):
            raise LogError(f"{argument} is {quoted(name)}; give the name of a column")
        if list(told.values()).count(name) > 1:
            raise LogError(f"column {name!r} is named twice; decision, option and reward are three columns")
    log = read(
        source,
        id=decision,
        action=option,
        reward=reward,
        ignore=ignore,
        encoding=encoding,
        separator=separator,
        decimal=decimal,
    )
    return OptionRows(log, option_columns)
