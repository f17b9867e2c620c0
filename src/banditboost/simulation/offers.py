"""`play` for models that choose among options which come with each call: a round at a time, as by hand."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from banditboost.decision import Decision
from banditboost.errors import BanditBoostError, ParameterError
from banditboost.models.offering import OfferingModel, each_allowed, each_offer
from banditboost.rewards import in_units, share_told
from banditboost.rows.many import listed, rows_of
from banditboost.simulation.arrivals import Arrivals, Delay
from banditboost.simulation.result import Result
from banditboost.text import quoted
from banditboost.types import Array

_ROUNDS_BETWEEN = 1_000  # two reports of progress


class Offers(NamedTuple):
    """A stream of contexts, options, and what these earn."""

    contexts: Any
    options: list[Any]
    allowed: list[Any]
    earned: Callable[[int, Hashable], float]
    """Round and id -> the share of the range that is earned."""
    asked: bool
    """Whether a function tells that, which is asked for shown options only."""


def offers_of(
    model: OfferingModel, X: Any, options: Any, y: Any, rewards: Any, allowed: Any = None
) -> Offers:
    """A stream, after a look at its lengths."""
    if options is None:
        raise ParameterError(
            f"options is None; {type(model).__name__} is played with options: a list with what is offered in "
            "each round, or one dict {id: features} for all"
        )
    contexts = rows_of(X)
    offers = each_offer(options, contexts)
    earned = _by_right(y, len(contexts)) if rewards is None else _by_rewards(model, rewards, len(contexts))
    return Offers(contexts, offers, each_allowed(allowed, contexts), earned, is_asked(rewards))


def _by_right(y: Any, n_rounds: int) -> Callable[[int, Hashable], float]:
    right = _list_of("y", y, n_rounds, "the right id of each round")
    return lambda t, id_: float(bool(right[t] == id_))


def _by_rewards(model: OfferingModel, rewards: Any, n_rounds: int) -> Callable[[int, Hashable], float]:
    """From a function (round, id) -> reward, or a dict {id: reward} for each round."""
    asked = is_asked(rewards)
    given = [] if asked else _list_of("rewards", rewards, n_rounds, "a dict {id: reward} for each round")

    def earned(t: int, id_: Hashable) -> float:
        reward = rewards(t, id_) if asked else _reward_in(given[t], t, id_)
        try:
            return share_told(None, float(reward) if isinstance(reward, bool) else reward, model.rewards)
        except BanditBoostError as error:
            raise ParameterError(f"the reward of {quoted(id_)} in round {t}: {error}") from None

    return earned


def is_asked(rewards: Any) -> bool:
    """Whether rewards are told by a function."""
    return callable(rewards) and not isinstance(rewards, type)


def _reward_in(given: Any, t: int, id_: Hashable) -> Any:
    if not isinstance(given, Mapping) or id_ not in given:
        raise ParameterError(
            f"rewards[{t}] is {quoted(given)}, without the reward of {quoted(id_)}; give a dict with one for "
            "each option of the round"
        )
    return "None" if given[id_] is None else given[id_]


def _list_of(name: str, given: Any, n_rounds: int, what: str) -> list[Any]:
    try:
        found = listed(given)
    except TypeError:
        raise ParameterError(f"{name} is {quoted(given)}; give {what}") from None
    if len(found) != n_rounds:
        raise ParameterError(f"{name} has {len(found)} entries for {n_rounds} rounds; give {what}")
    return found


def play_offers(
    model: OfferingModel,
    stream: Offers,
    verdicts: tuple[Delay, float],
    progress: Callable[[int], None] | None,
) -> Result:
    """Decide in every round, and learn each reward when it is due."""
    n_rounds = len(stream.contexts)
    model._check_rounds(n_rounds)
    arrivals = Arrivals(n_rounds, *verdicts, model.seed, model.rounds)
    record, waiting = _Record(n_rounds, stream.asked), dict[int, tuple[Decision, float]]()
    n_heard = t = 0
    try:
        for t in range(n_rounds + 1):
            while n_heard < len(arrivals.order) and arrivals.due[n_heard] < t:
                decision, share = waiting.pop(int(arrivals.order[n_heard]))
                model.learn(decision, reward=in_units(share, model.rewards))
                n_heard += 1
            if t < n_rounds:
                decision = model.decide(stream.contexts[t], stream.options[t], stream.allowed[t])
                share = stream.earned(t, decision.label)
                record.note(t, decision, share)
                if not stream.asked:
                    record.note_greedy(t, stream.earned(t, decision.greedy))
                waiting[t] = decision._for_a_store(), share
                if progress is not None and ((t + 1) % _ROUNDS_BETWEEN == 0 or t + 1 == n_rounds):
                    progress(t + 1)
    except BaseException as error:
        error.add_note(f"play stopped after {t} of {n_rounds} rounds")
        raise
    return record.result(model, n_heard)


class _Record:
    """What was shown and earned; ids are numbered as they come."""

    def __init__(self, n_rounds: int, asked: bool) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._greedy_shares = None if asked else np.zeros(n_rounds)
        self._shown, self._greedy = np.zeros(n_rounds, np.int32), np.zeros(n_rounds, np.int32)
        self._shares = np.zeros(n_rounds)

    def note(self, t: int, decision: Decision, share: float) -> None:
        self._shown[t], self._greedy[t] = self._number(decision.label), self._number(decision.greedy)
        self._shares[t] = share

    def note_greedy(self, t: int, share: float) -> None:
        if self._greedy_shares is not None:
            self._greedy_shares[t] = share

    def _number(self, id_: Hashable) -> int:
        return self._numbers.setdefault(id_, len(self._numbers))

    def result(self, model: OfferingModel, n_heard: int) -> Result:
        low, high = model.rewards

        def in_range(shares: Array) -> Array:
            return np.minimum(low + (high - low) * shares, high)

        return Result(
            tuple(self._numbers),
            None,
            self._shown,
            self._greedy,
            n_heard,
            None,
            rewards=in_range(self._shares),
            greedy_rewards=None if self._greedy_shares is None else in_range(self._greedy_shares),
            reward_range=model.rewards,
        )
