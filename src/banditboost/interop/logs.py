"""The decision log as others read it: Open Bandit Pipeline's columns, Vowpal Wabbit's lines and dsjson."""

from __future__ import annotations

import copy
import json
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np

from banditboost.decision import Decision
from banditboost.errors import DecisionError, FeatureError, LabelError
from banditboost.logs.log import Block, Log, as_objects
from banditboost.logs.vw import escaped
from banditboost.rewards import UNIT, check_range, in_units, share_told
from banditboost.rows.plain import Tags, is_missing, name_of, plain_row
from banditboost.rows.schema import Schema
from banditboost.rows.sharing import MOST_WORDS, is_text, words_in
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_labels

Word = tuple[Hashable, str]
"""A word, with its column before it."""


class _Entry(NamedTuple):
    row: dict[Any, Any]
    words: dict[Word, None]
    decision: Decision
    action: int
    reward: float


class DecisionLog:
    """Decisions with their rows and verdicts or rewards, for evaluation and training elsewhere.

    Actions are places in `labels`. A nominal feature becomes a column for each of its values, a list of words
    one for each word. Rows with values that the models would refuse are refused. Give the model's `schema` if
    it was declared, or if the model is a GapBoost that was shown texts, of which then the words are noted.
    Give its `rewards` if these are not in (0, 1).

    >>> from banditboost import AdaBandit
    >>> model = AdaBandit(["sports", "politics"], n_learners=3, exploration=0.1, seed=1)
    >>> log = DecisionLog(model.labels)
    >>> x = {"hour": 21, "device": "phone"}
    >>> log.add(x, model.decide(x), correct=True)
    >>> log.to_vw()
    ['1:0:0.9 | hour:21.0 device=phone']
    >>> len(log)
    1
    """

    def __init__(
        self,
        labels: Iterable[Hashable],
        schema: Schema | None = None,
        *,
        rewards: tuple[float, float] = UNIT,
    ) -> None:
        self.rewards = check_range(rewards)
        self.labels = check_labels(labels)
        self._actions = {label: action for action, label in enumerate(self.labels)}
        self._schema = Schema() if schema is None else copy.deepcopy(schema)
        self._schema.keeps_all_values = True
        self._splits_texts = self._schema.takes_words
        self._schema.takes_words = False  # words are kept here, as they are spelled
        self._words: dict[Word, None] = {}
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def add(
        self,
        x: Mapping[Any, Any] | Array,
        decision: Decision,
        correct: bool | int | None = None,
        *,
        reward: float | None = None,
    ) -> None:
        """Note the verdict on the decision that was made for x, or its reward."""
        share = share_told(correct, reward, self.rewards)
        if not isinstance(decision, Decision):
            raise DecisionError(f"decision is {quoted(decision)}; give what decide returned")
        if decision.label not in self._actions:
            raise LabelError(
                f"the decision shows {decision.label!r}, which is not one of the log's labels; "
                f"they are {self.labels[:10]!r}"
            )
        row, words = self._parted(x)
        self._words.update(words)
        earned = _plain(in_units(share, self.rewards) if reward is None else float(reward))
        self._entries.append(_Entry(row, words, decision, self._actions[decision.label], earned))

    def _parted(self, x: Any) -> tuple[dict[Any, Any], dict[Word, None]]:
        """A row without lists and texts of words, which has joined, and the words. It refuses a bad row.

        What is no words stays as it was given, unless words stand within an object.
        """
        schema = self._schema
        named = schema.named(x)
        plain = plain_row(named, schema.dates)
        words = {(name, word): None for name, value in plain.items() for word in self._words_of(name, value)}
        if len(words) > MOST_WORDS:
            raise FeatureError(f"the row has {len(words)} words; give at most {MOST_WORDS}")
        apart = {name for name, value in plain.items() if self._is_apart(name, value)}
        if not apart:
            schema.admit(x)
            return dict(named), words
        whole = named if apart <= set(named) else plain
        rest = {name: value for name, value in whole.items() if name not in apart}
        schema.admit(rest)
        return rest, words

    def _is_apart(self, name: Hashable, value: Any) -> bool:
        """Whether a value is words and nothing else; a list that was not declared is left to be refused."""
        declared = self._schema.declared
        return name in self._schema.words or (isinstance(value, Tags) and not declared)

    def _words_of(self, name: Hashable, value: Any) -> Iterable[str]:
        """The words of a value: of a list, in a column for words, or of a text that GapBoost reads."""
        if value is None or isinstance(value, Tags):
            return value or ()
        if name in self._schema.words:
            return words_in(name_of(value))
        is_read = self._splits_texts and not self._schema.declared
        return words_in(value) if is_read and isinstance(value, str) and is_text(value) else ()

    # Open Bandit Pipeline

    @property
    def context_names(self) -> list[str]:
        """What the columns of the context are: a number, or whether a nominal feature has a value."""
        names = []
        for name, kind in zip(self._schema.names, self._schema.kinds, strict=True):
            names += (
                [str(name)]
                if kind == "numeric"
                else [f"{name}={value}" for value in self._schema.values(name)]
            )
        return [*names, *(f"{name}={word}" for name, word in self._words)]

    def context(self) -> Array:
        """A row for each decision; NaN for a missing number, zeros for a missing nominal value.

        A word is 1 where it is, else 0.
        """
        coded = np.array([self._coded(entry.row) for entry in self._entries]).reshape(
            len(self), len(self._schema.names)
        )
        columns = []
        for place, n_values in enumerate(self._schema.n_values()):
            column = coded[:, place : place + 1]
            columns.append(
                column
                if self._schema.kinds[place] == "numeric"
                else (column == np.arange(n_values)).astype(np.float64)
            )
        return np.hstack([*columns, self._words_there()])

    def _coded(self, row: dict[Any, Any]) -> Array:
        """The numbers and codes of a row, without words."""
        return self._schema.encode_anew(row)[self._schema.column_places]

    def _words_there(self) -> Array:
        """A column for each word."""
        places = {word: place for place, word in enumerate(self._words)}
        there = np.zeros((len(self), len(places)))
        for row, entry in zip(there, self._entries, strict=True):
            row[[places[word] for word in entry.words]] = 1.0
        return there

    def to_obp(self) -> dict[str, Any]:
        """The dict that Open Bandit Pipeline calls bandit feedback."""
        return {
            "n_rounds": len(self),
            "n_actions": len(self.labels),
            "context": self.context(),
            "action": np.array([entry.action for entry in self._entries], dtype=np.int64),
            "reward": _rewards_of(self._entries),
            "pscore": np.array([entry.decision.probability for entry in self._entries]),
            "position": None,
        }

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """A frame with the columns context (a list of numbers), action, reward and pscore.

        It is one of pandas, polars or pyarrow.
        """
        feedback = self.to_obp()
        columns = {name: feedback[name].tolist() for name in ("context", "action", "reward", "pscore")}
        return nw.from_dict(columns, backend=backend).to_native()

    def to_log(self) -> Log:
        """The same as a log of `banditboost.logs`: rows as they were given, labels, rewards, probabilities.

        >>> from banditboost import GapBoost
        >>> model = GapBoost(["sports", "politics"], seed=1)
        >>> log = DecisionLog(model.labels)
        >>> log.add({"hour": 21}, model.decide({"hour": 21}), correct=True)
        >>> next(iter(log.to_log())).rows
        [{'hour': 21}]
        """
        entries = tuple(self._entries)

        def blocks() -> Iterator[Block]:
            if entries:
                yield Block(
                    [_given(entry) for entry in entries],
                    as_objects([entry.decision.label for entry in entries]),
                    np.array([entry.reward for entry in entries], np.float64),
                    np.array([entry.decision.probability for entry in entries]),
                    ids=as_objects([_id_of(entry) for entry in entries]),
                )

        return Log("the decision log", blocks)

    # Vowpal Wabbit

    def _features(self, row: dict[Any, Any]) -> Iterator[tuple[str, float | str]]:
        """Names and values without gaps, values as the models saw them."""
        coded = self._coded(row).tolist()
        for name, kind, value in zip(self._schema.names, self._schema.kinds, coded, strict=True):
            if value == value:
                yield (
                    escaped(str(name)),
                    value if kind == "numeric" else str(self._schema.values(name)[int(value)]),
                )

    def to_vw(self) -> list[str]:
        """Lines `action:cost:probability | features` for `--cb` and `--cb_explore`.

        Actions count from 1. The cost is the largest reward minus this one: 1 for a wrong label.
        """
        lines = []
        for entry in self._entries:
            pairs = self._features(entry.row)
            words = [
                f"{name}={escaped(value)}" if isinstance(value, str) else f"{name}:{value!r}"
                for name, value in pairs
            ]
            words += _word_features(entry.words)
            lines.append(
                " ".join(
                    [f"{entry.action + 1}:{self._cost(entry)}:{entry.decision.probability!r}", "|", *words]
                )
            )
        return lines

    def _cost(self, entry: _Entry) -> float:
        return _plain(self.rewards[1] - entry.reward)

    def to_dsjson(self) -> list[str]:
        """Lines for `--dsjson --cb_explore_adf`: the whole distribution, the shown action first."""
        return [json.dumps(self._event(entry)) for entry in self._entries]

    def _event(self, entry: _Entry) -> dict[str, Any]:
        distribution = entry.decision.distribution()
        order = [entry.action, *(action for action in range(len(self.labels)) if action != entry.action)]
        event_id = _id_of(entry)
        return {
            "_label_cost": self._cost(entry),
            "_label_probability": entry.decision.probability,
            "_label_Action": entry.action + 1,
            "_labelIndex": entry.action,
            "o": [{"v": entry.reward, "EventId": event_id}],
            "Version": "1",
            "EventId": event_id,
            "a": [action + 1 for action in order],
            "c": {
                "x": {**dict(self._features(entry.row)), **dict.fromkeys(_word_features(entry.words), 1.0)},
                "_multi": [{"a": {"label": str(label)}} for label in self.labels],
            },
            "p": [distribution[self.labels[action]] for action in order],
        }


def _id_of(entry: _Entry) -> str:
    return f"{entry.decision.model_id}-{entry.decision.round}"


def _given(entry: _Entry) -> dict[Any, Any]:
    """The row as it was given: words are lists again."""
    row = {name: value for name, value in entry.row.items() if not is_missing(value)}
    for name, word in entry.words:
        if name not in entry.row:
            row.setdefault(name, []).append(word)
    return row


def _plain(number: float) -> float:
    """Whole numbers without a point, as verdicts are written."""
    return int(number) if number == int(number) else number


def _rewards_of(entries: list[_Entry]) -> Array:
    """Whole numbers if all are."""
    whole = all(isinstance(entry.reward, int) for entry in entries)
    return np.array([entry.reward for entry in entries], dtype=np.int64 if whole else np.float64)


def _word_features(words: Iterable[Word]) -> list[str]:
    return [f"{escaped(str(name))}={escaped(word)}" for name, word in words]
