"""A bounded store of decisions that wait for their verdicts, each under an id of the user's."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Literal, Self

from banditboost.decision import Decision
from banditboost.errors import DecisionError, LearnedBeforeError
from banditboost.io.values import UnstorableError, encode
from banditboost.log import LOGGER
from banditboost.pending.stored import FORMAT, RULE, check_whose, checksum, read_store
from banditboost.pending.waiting import COUNTERS, Closing, Model, Outcome, Waiting
from banditboost.rewards import UNIT, Range, share_told
from banditboost.text import quoted
from banditboost.validation import check_choice, check_count, check_number, is_hashable, is_number, refuse

WhenExpired = Literal["as_wrong", "drop"] | float
_RULES = ("as_wrong", "drop")
_NO_LIMIT = "None is no limit"
# What becomes of a verdict on a decision that is closed, by how it was closed.
_SECOND: dict[Outcome | None, Outcome] = {
    Outcome.LEARNED: Outcome.DUPLICATE,
    Outcome.EXPIRED: Outcome.EXPIRED,
    Outcome.REFUSED: Outcome.REFUSED,
}


class PendingDecisions:
    """Keeps decisions until their verdicts come, and closes those that have waited too long.

    A decision expires when the model has decided more than `max_rounds` times since it was added, when more
    than `max_seconds` have passed, or, the oldest first, when there are more than `capacity`. Expired
    decisions are learned as wrong (`expired="as_wrong"`: silence means no), with a reward (`expired=0.0`), or
    dropped. That is done at the beginning of every call of `decide`, `add` and `learn`, and by `expire`.

    The ids of the last `capacity` closed decisions are remembered, so that a second or a late verdict is told
    from one for an unknown id.

    All methods may be called from any thread: one lock serves them all. The model has its own, so it may also
    be called directly.

    Args:
        model: the booster whose decisions are kept.
        capacity: how many decisions may be open.
        max_rounds, max_seconds: how long a decision may wait; None is for ever.
        expired: "as_wrong" (with the least reward), "drop", or the reward that silence stands for.
        clock: seconds as a float; by default the time of day, so that a saved store goes on in another
            process.

    >>> from banditboost import AdaBandit
    >>> pending = PendingDecisions(AdaBandit(["yes", "no"], n_learners=5, seed=1), max_rounds=1000)
    >>> label = pending.decide("visit-1", {"age": 31}).label
    >>> [str(pending.learn(visit, correct=True)) for visit in ("visit-1", "visit-1", "visit-2")]
    ['learned', 'duplicate', 'unknown']
    >>> len(pending)
    0
    """

    def __init__(
        self,
        model: Model,
        *,
        capacity: int = 100_000,
        max_rounds: int | None = None,
        max_seconds: float | None = None,
        expired: WhenExpired = "as_wrong",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.model = _checked_model(model)
        self.capacity = check_count("capacity", capacity, 1)
        self.max_rounds = (
            None if max_rounds is None else check_count("max_rounds", max_rounds, 1, hint=_NO_LIMIT)
        )
        self.max_seconds = (
            None
            if max_seconds is None
            else check_number("max_seconds", max_seconds, 0.0, math.inf, open_low=True, hint=_NO_LIMIT)
        )
        self.expired = _checked_rule(expired, self._rewards)
        self._clock = _checked_clock(clock)
        self._now = float("-inf")
        self._open: OrderedDict[Hashable, Waiting] = OrderedDict()  # the oldest first
        self._closed: OrderedDict[Hashable, Outcome] = OrderedDict()
        self._counters = dict.fromkeys(COUNTERS, 0)
        self._begun: dict[Hashable, Outcome] = {}  # what the model was told, or was about to be told
        self._closing: Closing | None = None
        self._lock = threading.RLock()

    # Decisions in, verdicts in

    def decide(
        self, key: Hashable, x: Any, allowed: Iterable[Hashable] | None = None, *, options: Any = None
    ) -> Decision:
        """Let the model decide for x, among the allowed labels if some are given, or among options
        (OptionBoost), and keep the decision under this id.
        """
        with self._lock:
            self._check_new(key)
            self.expire()
            model: Any = self.model
            given = (x, allowed) if options is None else (x, options, allowed)
            decision: Decision = model.decide(*given)
            self._add(key, decision)
            return decision

    def add(self, key: Hashable, decision: Decision) -> None:
        """Keep a decision of the model under this id, which must not be in use or closed only lately."""
        with self._lock:
            self._check_new(key)
            if not isinstance(decision, Decision) or decision.model_id != self.model.model_id:
                raise DecisionError(
                    f"decision is {quoted(decision)}; give one that this store's model, "
                    f"{self.model.model_id}, has made"
                )
            self.expire()
            self._add(key, decision)

    def learn(
        self, key: Hashable, correct: bool | int | None = None, *, reward: float | None = None
    ) -> Outcome:
        """Learn the verdict or the reward for this id, and say what became of it.

        If the model refuses to learn it, the decision is closed, and the reason is logged.
        """
        with self._lock:
            _check_id(key)
            told = _told(correct, reward, self._rewards)
            self.expire()
            if key in self._open:
                return self._learn(key, told)
            outcome = _SECOND.get(self._closed.get(key), Outcome.UNKNOWN)
            self._counters[outcome] += 1
            return outcome

    @property
    def _rewards(self) -> Range:
        """The range of the model's rewards; models of other packages may have none."""
        rewards: Range = getattr(self.model, "rewards", UNIT)
        return rewards

    def _learn(self, key: Hashable, told: dict[str, Any]) -> Outcome:
        outcome, reason = self._teach(key, told, Outcome.LEARNED)
        if reason:
            LOGGER.info(
                "decision %r of round %d: %s, %s", key, self._open[key].decision.round, outcome, reason
            )
        self._close(key, Outcome.LEARNED if outcome == Outcome.DUPLICATE else outcome, [outcome])
        return outcome

    def _teach(self, key: Hashable, told: dict[str, Any], outcome: Outcome) -> tuple[Outcome, str]:
        """Tell the model a verdict or a reward. Returns what became of it, and why the model refuses it.

        An exception from outside may come after the model has learned, and before the decision is closed.
        Then the model refuses to learn it again, and what became of it is what was meant.
        """
        begun = self._begun.get(key)
        self._begun.setdefault(key, outcome)
        try:
            self.model.learn(self._open[key].decision, **told)
        except LearnedBeforeError as error:
            return (Outcome.DUPLICATE, str(error)) if begun is None else (begun, "")
        except DecisionError as error:
            return Outcome.REFUSED, str(error)
        return outcome, ""

    def _check_new(self, key: Hashable) -> None:
        _check_id(key)
        self._finish_closing()
        if key in self._open or key in self._closed:
            state = "open" if key in self._open else f"closed ({self._closed[key]})"
            raise DecisionError(
                f"id {quoted(key)} belongs to a decision that is {state}; give each decision an id of its own"
            )

    def _add(self, key: Hashable, decision: Decision) -> None:
        self._open[key] = Waiting(decision._for_a_store(), self.model.rounds, self._now)
        self._counters["added"] += 1
        while len(self._open) > self.capacity:
            self._expire_oldest("expired_by_capacity")

    # Expiry: ids are in the order in which they were added, and so are their ages.

    def expire(self) -> int:
        """Close the decisions that have waited too long; returns how many these were."""
        with self._lock:
            self._finish_closing()
            self._now = max(self._now, self._time())  # a clock that is set back makes nobody younger
            before = len(self._open)
            while self._open:
                reason = self._reason(next(iter(self._open.values())))
                if reason is None:
                    break
                self._expire_oldest(reason)
            return before - len(self._open)

    def _time(self) -> float:
        return check_number("clock()", self._clock(), -math.inf, math.inf, hint="seconds")

    def _reason(self, waiting: Waiting) -> str | None:
        if self.max_rounds is not None and self.model.rounds - waiting.round > self.max_rounds:
            return "expired_by_rounds"
        if self.max_seconds is not None and self._now - waiting.seconds > self.max_seconds:
            return "expired_by_seconds"
        if len(self._open) > self.capacity:  # a call of add did not come to its end
            return "expired_by_capacity"
        return None

    def _expire_oldest(self, reason: str) -> None:
        key, waiting = next(iter(self._open.items()))
        outcome = Outcome.EXPIRED
        if self.expired != "drop":
            told = {"correct": False} if self.expired == "as_wrong" else {"reward": self.expired}
            outcome, _ = self._teach(key, told, outcome)
        if outcome == Outcome.LEARNED:  # by a call of learn that did not come to its end
            self._close(key, outcome, [outcome])
            return
        self._close(key, Outcome.EXPIRED, [reason] if outcome == Outcome.EXPIRED else [reason, "refused"])
        LOGGER.info("decision %r of round %d: %s, %s", key, waiting.decision.round, reason, self.expired)

    # Closing: an exception from outside may come between any two steps. What is left is done by the next
    # call.

    def _close(self, key: Hashable, outcome: Outcome, counted: Iterable[str]) -> None:
        more = {name: self._counters[name] + 1 for name in counted}
        self._closing = Closing(key, outcome, {**self._counters, **more})
        self._finish_closing()

    def _finish_closing(self) -> None:
        closing = self._closing
        if closing is None:
            return
        self._closed[closing.key] = closing.outcome
        self._open.pop(closing.key, None)
        self._begun.pop(closing.key, None)
        while len(self._closed) > self.capacity:
            self._closed.popitem(last=False)
        self._counters = closing.counters
        self._closing = None

    # What can be seen

    def __len__(self) -> int:
        """How many decisions are open."""
        return len(self._open)

    def __contains__(self, key: object) -> bool:
        """Whether a decision is open under this id."""
        return is_hashable(key) and key in self._open

    def __repr__(self) -> str:
        return f"PendingDecisions({len(self)} open of at most {self.capacity}, expired={self.expired!r})"

    @property
    def counters(self) -> dict[str, int]:
        """Decisions added; verdicts by outcome; decisions expired, by reason.

        Those that the model refused to learn as wrong are counted as refused, too.
        """
        with self._lock:
            self._finish_closing()
            return {str(name): count for name, count in self._counters.items()}

    # Plain data

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can carry; save it together with the model."""
        with self._lock:
            self._finish_closing()
            try:
                waiting = [
                    [encode(key), *item[1:], item.decision.to_dict()] for key, item in self._open.items()
                ]
                closed = [[encode(key), str(outcome)] for key, outcome in self._closed.items()]
            except UnstorableError as error:
                raise DecisionError(f"an id cannot be stored: {error}") from None
            data = {
                "format": FORMAT,
                "model": self.model.model_id,
                "rule": {name: getattr(self, name) for name in RULE},
                "open": waiting,
                "closed": closed,
                "counters": self.counters,
            }
            return {**data, "checksum": checksum(data)}

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], model: Model, *, clock: Callable[[], float] = time.time
    ) -> Self:
        """The store that `to_dict` described, for the same model.

        Store and model may have been saved at different times. A verdict that the model has learned since is
        a duplicate when it comes again, and one on a decision of a round that the model lost is refused. What
        was added at a round or time that the model or the clock has not come to yet counts as added now.
        """
        check_whose(data, _checked_model(model))
        measured_by = _checked_clock(clock)
        try:
            store = cls(model, **data["rule"], clock=measured_by)
            told = read_store(data, model.model_id)
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise DecisionError(
                f"the stored decisions were changed since to_dict ({error}); give the whole dict that it "
                "returned"
            ) from error
        now = store._time()
        for key, (decision, round_, seconds) in told.open.items():
            store._open[key] = Waiting(decision, min(round_, model.rounds), min(seconds, now))
        store._closed.update(told.closed)
        store._counters.update(told.counters)
        store._now = max((item.seconds for item in store._open.values()), default=store._now)
        return store


def _checked_model(model: Any) -> Model:
    if isinstance(model, type) or not all(
        hasattr(model, name) for name in ("model_id", "rounds", "decide", "learn")
    ):
        refuse("model", model, "give one that hears verdicts, such as AdaBandit or GapBoost")
    made: Model = model
    return made


def _checked_clock(clock: Any) -> Callable[[], float]:
    if not callable(clock):
        refuse("clock", clock, "give a function that returns seconds, such as time.time")
    made: Callable[[], float] = clock
    return made


def _check_id(key: Any) -> None:
    if not is_hashable(key):
        raise DecisionError(f"id {quoted(key)} is not hashable; give a string or a number")


def _told(correct: Any, reward: Any, rewards: Range) -> dict[str, Any]:
    """What the model is to be told. It would refuse what is no good, too; but what it refuses is closed."""
    share_told(correct, reward, rewards)
    return {"correct": bool(correct)} if reward is None else {"reward": reward}


def _checked_rule(expired: Any, rewards: Range) -> str | float:
    if not is_number(expired):
        return check_choice("expired", expired, _RULES)
    return check_number("expired", expired, *rewards, hint="the range of the model's rewards")
