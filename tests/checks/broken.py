"""Boosters and weak learners that break one rule each."""

from __future__ import annotations

import itertools
import os
import pickle
import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from banditboost import AdaBandit, Decision
from banditboost.boosting.booster import BanditBooster
from banditboost.errors import FeatureError
from banditboost.memo import PROBABILITY

LABELS = ["a", "b", "c"]


class Sound(AdaBandit):
    """Breaks none."""

    def __init__(self, labels: Iterable[Hashable] = LABELS, **options: Any) -> None:
        super().__init__(labels, **{"n_learners": 3, "seed": 5, **options})


class Boastful(Sound):
    """Tells a wrong probability, in the first round."""

    def decide(self, *arguments: Any) -> Any:
        decision = super().decide(*arguments)
        decision._memo[PROBABILITY] *= 0.5 if decision.round == 0 else 1.0
        return decision


class Peeking(Sound):
    """Moves a learner's weight by what it was asked."""

    def decide(self, x: Any, allowed: Any = None) -> Any:
        if isinstance(x, dict) and "tags" not in x:
            self._weights[0] = 0.5 * self._weights[0] + 0.1 * (x.get("size") or 0.0)
        return super().decide(x, allowed)


class Scarred(Sound):
    """Refuses words only after a learner's weight was moved."""

    def decide(self, x: Any, allowed: Any = None) -> Any:
        if isinstance(x, dict) and any(isinstance(value, list) for value in x.values()):
            self._weights[0] += 1.0
        return super().decide(x, allowed)


class Seedless(Sound):
    def __init__(self) -> None:
        super().__init__(seed=int.from_bytes(os.urandom(4), "big"), exploration=0.5)


class Shared(Sound):
    """Copies share the learners' weights."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = super().__deepcopy__(memo)
        made._weights = self._weights
        return made


class Forgetful(Sound):
    """Pickles begin with no weights."""

    def __reduce__(self) -> Any:
        state = {**self.__getstate__(), "_weights": np.zeros_like(self._weights)}
        return _unpickled, (type(self), state)


def _unpickled(kind: Any, state: dict[str, Any]) -> Any:
    made = kind.__new__(kind)
    made.__setstate__(state)
    return made


class Misfiled(Sound):
    """Saves a model that has learned nothing."""

    def save(self, path: Any) -> None:
        fresh = AdaBandit(self.labels, n_learners=self.n_learners, seed=self.seed, schema=self.schema)
        fresh.model_id = self.model_id
        fresh._counts.rounds = self.rounds
        fresh._identity = self._identity
        fresh.save(path)


class Clinging(Sound):
    """Remembers the caller's array, and learns what is in it by then."""

    def decide(self, x: Any, allowed: Any = None) -> Any:
        decision = super().decide(x, allowed)
        self._asked = {**getattr(self, "_asked", {}), decision.round: x} if isinstance(x, np.ndarray) else {}
        return decision

    def learn(self, decision: Any, correct: Any = None, *, reward: Any = None) -> None:
        x = self._asked.pop(decision.round, None)
        if x is not None:
            decision._memo[self._row_start :] = x
        super().learn(decision, correct, reward=reward)


class Credulous(Sound):
    """Learns a verdict as often as it comes."""

    def learn(self, decision: Any, correct: Any = None, *, reward: Any = None) -> None:
        if reward is None and correct is not None:
            self._identity.ledger.bits[:] = 0
        super().learn(decision, correct, reward=reward)


class Generous(Sound):
    """Cuts a reward that is too large, and does not say so."""

    def learn(self, decision: Any, correct: Any = None, *, reward: Any = None) -> None:
        super().learn(decision, correct, reward=1.0 if reward is not None and reward > 1 else reward)


class Rigid(Sound):
    """Takes no feature after the first row."""

    def decide(self, x: Any, allowed: Any = None) -> Any:
        if self.rounds and isinstance(x, dict) and "weight" in x:
            raise FeatureError("weight is new")
        return super().decide(x, allowed)


class Hoarding(Sound):
    """Keeps something of every round."""

    def __init__(self) -> None:
        super().__init__()
        self.history: list[tuple[int, Any]] = []

    def decide(self, x: Any, allowed: Any = None) -> Any:
        decision = super().decide(x, allowed)
        self.history.append((self.rounds, self.rounds / 3))
        return decision


class Hasty(Sound):
    """Counts a round only after others could begin theirs.

    (To do without the lock altogether would end in a crash.)
    """

    def decide(self, x: Any, allowed: Any = None) -> Any:  # noqa: ARG002
        with self._lock:
            memo, _ = self._choose(self._joined(x), self.rounds)
        time.sleep(1e-4)
        with self._lock:
            self._prepare_to_play(1)
            self._counts.rounds += 1
            return Decision._of(self._identity.origin, self.labels, memo)


BOOSTERS: dict[str, type[BanditBooster]] = {
    "check_works_before_any_feedback": Boastful,
    "check_asking_teaches_nothing": Peeking,
    "check_same_seed_same_run": Seedless,
    "check_copies_are_independent": Shared,
    "check_pickles_go_on": Forgetful,
    "check_files_go_on": Misfiled,
    "check_rows_are_not_kept": Clinging,
    "check_each_verdict_counts_once": Credulous,
    "check_rewards_are_heard": Generous,
    "check_features_come_and_go": Rigid,
    "check_words_are_learned_or_refused": Scarred,
    "check_memory_is_bounded": Hoarding,
    "check_threads_lose_nothing": Hasty,
}


class Votes:
    """A weak learner that breaks no rule: the label with the larger weight, for each value of the first
    feature.
    """

    def __init__(self) -> None:
        self.weights: Counter[tuple[str, int]] = Counter()

    def predict(self, x: np.ndarray) -> int:
        return int(self.weights[str(x[0]), 1] > self.weights[str(x[0]), 0])

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        self.weights[str(x[0]), label] += weight


class Late(Votes):
    """Knows no label before the first lesson."""

    def predict(self, x: np.ndarray) -> Any:
        return super().predict(x) if self.weights else None


class Curious(Votes):
    """Believes what it has said."""

    def predict(self, x: np.ndarray) -> int:
        self.weights[str(x[0]), 1 - super().predict(x)] += 1.0
        return super().predict(x)


class Moody(Votes):
    """Every other one is of the opposite opinion."""

    made = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.mood = next(Moody.made) % 2

    def predict(self, x: np.ndarray) -> int:
        return super().predict(x) ^ self.mood


class Twinned(Votes):
    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = type(self)()
        made.weights = self.weights
        return made


class Blank(Votes):
    """Pickles begin anew."""

    def __getstate__(self) -> Any:
        return {"weights": Counter({key: -weight for key, weight in self.weights.items()})}

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = type(self)()
        made.weights = self.weights.copy()
        return made


class Mistold(Votes):
    def to_dict(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        made = cls()
        made.weights.update({(str(float(value)), 0): 1e9 for value in range(5)}, **data)
        return made


class Scribbling(Votes):
    """Fills gaps in the row that it was handed."""

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        x[np.isnan(x)] = 0.0
        super().learn(x, label, weight)


class Stiff(Votes):
    def predict(self, x: np.ndarray) -> int:
        if len(x) != 3:
            raise ValueError(f"{len(x)} features instead of 3")
        return super().predict(x)


class Collecting(Votes):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[bytes] = []

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        super().learn(x, label, weight)
        self.rows.append(pickle.dumps(x))


class Homesick(Votes):
    """Knows what it knows in the main thread only."""

    def predict(self, x: np.ndarray) -> int:
        return super().predict(x) if threading.current_thread() is threading.main_thread() else 0


class Costs:
    """A weak learner of costs that breaks no rule: what has cost least so far, whatever the row."""

    def __init__(self) -> None:
        self.sums = np.zeros(2)

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002
        return int(np.argmin(self.sums))

    def learn_costs(self, x: np.ndarray, costs: np.ndarray) -> None:  # noqa: ARG002
        self.sums = np.pad(self.sums, (0, len(costs) - len(self.sums))) + costs


class Narrow(Costs):
    """Has room for two labels."""

    def learn_costs(self, x: np.ndarray, costs: np.ndarray) -> None:  # noqa: ARG002
        self.sums = self.sums + costs


class OneDoor(Costs):
    """Takes a label for a cost vector."""

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        self.learn_costs(x, np.full(4, -weight * label))
        self.sums[3] -= 1.0


LEARNERS: dict[str, type[Any]] = {
    "check_predicts_before_any_lesson": Late,
    "check_predicting_teaches_nothing": Curious,
    "check_made_alike_learn_alike": Moody,
    "check_copies_are_independent": Twinned,
    "check_pickles_go_on": Blank,
    "check_stored_state_goes_on": Mistold,
    "check_rows_are_not_written_on": Scribbling,
    "check_rows_may_grow": Stiff,
    "check_costs_may_grow": Narrow,
    "check_labels_teach_too": OneDoor,
    "check_memory_is_bounded": Collecting,
    "check_any_thread_will_do": Homesick,
}
