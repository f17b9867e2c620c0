"""The loop over a model's compiled round, with the results of `decide` and `learn` to the last bit.

It is written once, and made three times: compiled, where the round's functions are called by their addresses;
in Python, for models whose weak learners are Python objects; and in Python for rewards that a function tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from banditboost.compiled.compile import entry_long, inlined, with_addresses
from banditboost.memo import GREEDY, SHOWN
from banditboost.models.calls import LEARNED, call_decide, call_learn, call_witness
from banditboost.types import Array

PLAYED = LEARNED
# The cursor: where to go on.
NEXT_ROUND, NEXT_VERDICT = 0, 1


class Stream(NamedTuple):
    """Rows and right labels, when each verdict comes, and what is written down."""

    X: Array  # rows from round `start` on
    y: Array  # 0 in a stream with rewards
    rewards: Any  # [rounds, k] as shares of the range, or what is asked for them; without rounds if y tells
    order: Array
    due: Array
    slot: Array
    memos: Array
    shown: Array
    greedy: Array
    earned: Array  # by the shown labels, as shares of the range
    sums: Array  # [3, N]: what the witness makes of the right labels


class Span(NamedTuple):
    """Which rounds are played."""

    start: int  # the round with which stream.X begins
    stop: int  # the round to stop before
    first_round: int  # the model's number of the stream's first round
    seed: int  # of the model's draws
    full_information: int  # 1: the right label is told, not a verdict
    n_allowed: int  # labels that are shown, if some were removed; else 0


@inlined
def earned_by(stream: Any, t: int, label: int) -> float:
    """The reward of showing a label in a round, as a share of the range."""
    if stream.rewards.shape[0] > 0:
        reward: float = stream.rewards[t, label]
        return reward
    return 1.0 if stream.y[t] == label else 0.0


def _loop(
    decide_at: Callable[..., int],
    learn_at: Callable[..., int],
    witness_at: Callable[..., None],
    earned: Callable[..., float],
) -> Callable[..., int]:
    def play_rounds(
        model: Any, decide: Any, learn: Any, witness: Any, stream: Stream, cursor: Array, span: Span
    ) -> int:
        """Play rounds up to a stop, or until Python has to make way; the cursor says where to go on.

        Returns PLAYED, or what `learn` returned. The memo in question is that of the next verdict. What the
        model has been through it counts itself, round by round.
        """
        while True:
            t = cursor[NEXT_ROUND]
            while cursor[NEXT_VERDICT] < stream.order.size and stream.due[cursor[NEXT_VERDICT]] < t:
                told = stream.order[cursor[NEXT_VERDICT]]
                memo = stream.memos[stream.slot[told]]
                if span.full_information != 0:
                    feedback = float(stream.y[told])
                else:
                    feedback = earned(stream, told, int(memo[SHOWN]))
                closes = 1 - span.full_information
                status = learn_at(learn, (model, memo, feedback, span.n_allowed, closes, span.seed))
                if status != LEARNED:
                    return status
                cursor[NEXT_VERDICT] += 1
            if t == span.stop:
                return PLAYED
            memo = stream.memos[stream.slot[t]]
            row, round_ = stream.X[t - span.start], span.first_round + t
            decide_at(decide, (model, row, round_, span.seed, memo, span.n_allowed, 1))
            stream.shown[t] = int(memo[SHOWN])
            stream.greedy[t] = int(memo[GREEDY])
            stream.earned[t] = earned(stream, t, int(memo[SHOWN]))
            if witness != 0:
                witness_at(witness, (model, memo, stream.y[t], stream.sums))
            cursor[NEXT_ROUND] = t + 1

    return play_rounds


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


def _asked(stream: Stream, t: int, label: int) -> float:
    """What a function of the user's says."""
    reward: float = stream.rewards(t, label)
    return reward


play_compiled = entry_long(
    _loop(call_decide, call_learn, call_witness, earned_by), f"{__name__}.play_compiled"
)
play_in_python = _loop(_call, _call, _call, getattr(earned_by, "py_func", earned_by))
play_asking = _loop(_call, _call, _call, _asked)


def bound(stream: Stream, cursor: Array, span: Span) -> Callable[..., int]:
    """The compiled loop for one stream, whose arrays are looked at once; called like `play_in_python`."""
    return with_addresses(play_compiled, 4, stream, cursor, span)
