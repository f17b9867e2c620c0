"""A linear weak learner that is taught by cost vectors."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from banditboost.io.container import take_array
from banditboost.io.values import demand
from banditboost.rows.schema import Schema
from banditboost.types import Array
from banditboost.validation import check_number

_FEWEST_LABELS = 2
_NUMBER = -1  # in place of a nominal value
_MEAN = 1  # of the moments


class CostSensitiveLinear:
    """Ridge regression of the cost of each label, online and exact; it predicts the label that costs least.

    Numbers are standardised by their mean and deviation so far, every nominal value has a weight of its own,
    and what is missing counts as the mean, or as no value. A label, a column or a value that is new begins
    with the weight 0. Of a cost vector only the differences to its least entry count, each clipped at `clip`:
    an exploration that hits may cost a thousand times as much as an ordinary round.

    AdaBandit, OptBandit, AdaFull and OptFull teach it by `learn_costs`. Other boosters have a label and a
    weight w for it, which it takes for the vector that costs w / (k - 1) at all other labels.

    Args:
        schema: the booster's, which tells what columns are nominal; without it all are taken for numbers.
        ridge: how strongly weights are drawn to 0: as if so many rows had told that nothing costs anything.
        clip: the largest difference between two costs that counts; None is no limit.

    >>> from banditboost import AdaBandit, Schema, play
    >>> schema = Schema(nominal={"colour": ["red", "blue"]})
    >>> learner = CostSensitiveLinear(schema)
    >>> model = AdaBandit(["stop", "go"], n_learners=3, weak_learner=learner, schema=schema, seed=1)
    >>> play(model, [{"colour": "red"}, {"colour": "blue"}] * 100, ["stop", "go"] * 100).last_accuracy
    0.9
    """

    def __init__(self, schema: Schema | None = None, *, ridge: float = 1.0, clip: float | None = 1.0) -> None:
        self.ridge = check_number("ridge", ridge, 0.0, 1e12, open_low=True)
        self.clip = None if clip is None else check_number("clip", clip, 0.0, 1e12, open_low=True)
        nominal = [] if schema is None else schema.are_nominal()
        self._nominal = [column for column, is_nominal in enumerate(nominal) if is_nominal]
        self._n_columns = 0
        self._places: dict[tuple[int, int], int] = {}  # in z, by column and value
        self._numeric = np.zeros((2, 0), np.int64)  # the columns of numbers, and their places
        self._moments = np.zeros((3, 0))  # of these: how many were seen, mean, sum of squared deviations
        self._scale = np.zeros(0)  # 1 / deviation; 0 while all were the same
        self._inverse = np.full((1, 1), 1.0 / self.ridge)  # of ridge I + sum z z'
        self._weights = np.zeros((_FEWEST_LABELS, 1))  # by label and place

    def predict(self, x: Array) -> int:
        """The label that is expected to cost least, the first of several."""
        return int(np.argmin(self._weights @ self._inputs(x)))

    def learn_costs(self, x: Array, costs: Array) -> None:
        """One step of recursive least squares, for all labels at once."""
        self._make_room(x, len(costs))
        self._note_numbers(x)
        z = self._inputs(x)
        along = self._inverse @ z
        gain = along / (1.0 + z @ along)
        self._weights += (self._target(costs) - self._weights @ z)[:, None] * gain
        self._inverse -= along[:, None] * gain

    def learn(self, x: Array, label: int, weight: float) -> None:
        """Learn the vector that costs nothing at this label, and the same at all others."""
        n_labels = max(len(self._weights), label + 1)
        costs = np.full(n_labels, weight / (n_labels - 1))
        costs[label] = 0.0
        self.learn_costs(x, costs)

    def _target(self, costs: Array) -> Array:
        """Clipped differences around their mean, so that 0 stands for a label of which nothing is known."""
        differences = np.minimum(costs - costs.min(), math.inf if self.clip is None else self.clip)
        return np.asarray(differences - differences.mean())

    def _inputs(self, x: Array) -> Array:
        """z: a constant 1, standardised numbers, and 1 for each nominal value that the row has."""
        z = np.zeros(self._weights.shape[1])
        z[0] = 1.0
        columns, places = self._numeric
        numbers = (x[columns] - self._moments[_MEAN]) * self._scale
        numbers[np.isnan(numbers)] = 0.0
        z[places] = numbers
        for key in self._values(x):
            if key in self._places:
                z[self._places[key]] = 1.0
        return z

    def _values(self, x: Array) -> list[tuple[int, int]]:
        """The nominal values of a row, as column and value."""
        values = x.tolist()
        present = (column for column in self._nominal if column < len(values))
        return [(column, int(values[column])) for column in present if values[column] == values[column]]

    def _note_numbers(self, x: Array) -> None:
        """Welford's update of mean and scatter; a missing number changes nothing."""
        numbers = x[self._numeric[0]]
        there = ~np.isnan(numbers)
        seen, mean, scatter = self._moments
        seen += there
        off = np.where(there, numbers - mean, 0.0)
        mean += off / np.maximum(seen, 1.0)
        scatter += np.where(there, off * (numbers - mean), 0.0)
        self._set_scale()

    def _set_scale(self) -> None:
        seen, _, scatter = self._moments
        self._scale = np.sqrt(seen / np.where(scatter > 0.0, scatter, math.inf))

    def _make_room(self, x: Array, n_labels: int) -> None:
        """Admit labels, columns and nominal values that are new."""
        columns = [column for column in range(self._n_columns, len(x)) if column not in self._nominal]
        fresh = [(column, _NUMBER) for column in columns]
        fresh += [key for key in self._values(x) if key not in self._places]
        more_labels = max(0, n_labels - len(self._weights))
        if not fresh and not more_labels:
            return
        self._n_columns = max(self._n_columns, len(x))
        first = self._weights.shape[1]
        self._places.update({key: first + i for i, key in enumerate(fresh)})
        places = np.arange(first, first + len(columns))
        self._numeric = np.hstack([self._numeric, np.array([columns, places], np.int64)])
        self._moments = np.pad(self._moments, ((0, 0), (0, len(columns))))
        self._set_scale()
        self._weights = np.pad(self._weights, ((0, more_labels), (0, len(fresh))))
        self._inverse = np.pad(self._inverse, (0, len(fresh)))
        np.fill_diagonal(self._inverse[first:, first:], 1.0 / self.ridge)

    # Files

    def to_dict(self) -> dict[str, Any]:
        """All there is to keep."""
        places = [(*key, place) for key, place in self._places.items()]
        return {
            "ridge": self.ridge,
            "clip": self.clip,
            "nominal": list(self._nominal),
            "n_columns": self._n_columns,
            "places": np.array(places, np.int64).reshape(-1, 3),
            "moments": self._moments.copy(),
            "inverse": self._inverse.copy(),
            "weights": self._weights.copy(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The learner that `to_dict` told of, after a look at every number."""
        made = cls()
        demand(
            isinstance(data, dict) and data.keys() == made.to_dict().keys(), "a linear learner is not whole"
        )
        made = cls(ridge=data["ridge"], clip=data["clip"])
        weights = take_array(data, "weights", np.float64, (None, None))
        n_labels, width = weights.shape
        places = take_array(data, "places", np.int64, (width - 1, 3))
        numeric = places[places[:, 1] == _NUMBER]
        inverse = take_array(data, "inverse", np.float64, (width, width))
        moments = take_array(data, "moments", np.float64, (3, len(numeric)))
        columns = [*data["nominal"], data["n_columns"]] if isinstance(data["nominal"], list) else [None]
        demand([isinstance(column, int) and column >= 0 for column in columns], "a column is out of range")
        demand(n_labels >= _FEWEST_LABELS, "a linear learner has too few labels")
        demand(np.sort(places[:, 2]) == np.arange(1, width), "inputs of a linear learner are mixed up")
        demand((places[:, 0] >= 0) & (places[:, 0] < data["n_columns"]), "a column is out of range")
        for array in (weights, inverse, moments):
            demand(np.isfinite(array), "a number of a linear learner is not finite")
        made._nominal, made._n_columns = list(data["nominal"]), data["n_columns"]
        made._places = {(column, value): place for column, value, place in places.tolist()}
        made._numeric = np.array(numeric[:, [0, 2]].T)
        made._moments, made._inverse, made._weights = moments.copy(), inverse.copy(), weights.copy()
        made._set_scale()
        return made

    @property
    def memory_usage(self) -> int:
        """Bytes of what was learned."""
        return sum(array.nbytes for array in (self._numeric, self._moments, self._inverse, self._weights))
