"""The two kinds of feedback: a verdict on the label that was shown, or the right label."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import Any

from banditboost.checks.rule import expect
from banditboost.checks.streams import Lesson

Seen = tuple[Any, ...]
_LONGEST = 500


def shown(seen: Seen) -> str:
    """What was seen, for people: cut off where a memo is long."""
    text = repr(seen)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


class Feedback(ABC):
    """How a model is asked and taught."""

    @abstractmethod
    def answer(self, model: Any, x: Any) -> tuple[Seen, Any]:
        """What is seen of the answer, and what has to be kept of it to teach."""

    @abstractmethod
    def teach(self, model: Any, kept: Any, right: Hashable) -> None:
        """Tell the model what there is to tell."""

    @abstractmethod
    def expect_sound(self, model: Any, x: Any) -> None:
        """Ask for a row; the answer must be a label of the model, with probabilities that fit."""

    def rounds(self, model: Any, lessons: Iterable[Lesson]) -> None:
        """Ask and teach, row by row."""
        for x, right in lessons:
            _, kept = self.answer(model, x)
            self.teach(model, kept, right)

    def expect_same_run(self, one: Any, other: Any, lessons: Iterable[Lesson], what: str) -> None:
        """Both answer alike, round by round, and are taught alike."""
        for t, (x, right) in enumerate(lessons):
            (seen, kept), (other_seen, other_kept) = self.answer(one, x), self.answer(other, x)
            expect(
                seen == other_seen,
                f"{what}: in round {t} one answers {shown(seen)}, the other {shown(other_seen)}",
            )
            self.teach(one, kept, right)
            self.teach(other, other_kept, right)
        counts, other_counts = _counts(one), _counts(other)
        expect(
            counts == other_counts,
            f"{what}: in the end one counts {counts} rounds and verdicts, the other {other_counts}",
        )


class Verdicts(Feedback):
    """`decide` and `learn`."""

    def answer(self, model: Any, x: Any) -> tuple[Seen, Any]:
        decision = model.decide(x)
        stored = decision.to_dict() if hasattr(decision, "to_dict") else {}
        return (decision.label, decision.greedy, decision.probability, stored.get("memo")), decision

    def teach(self, model: Any, kept: Any, right: Hashable) -> None:
        model.learn(kept, kept.label == right)

    def expect_sound(self, model: Any, x: Any) -> None:
        expect_sound_decision(model, model.decide(x))


class Labels(Feedback):
    """`predict_one` and `learn_one`."""

    def answer(self, model: Any, x: Any) -> tuple[Seen, Any]:
        return (model.predict_one(x), *model.predict_proba_one(x).items()), x

    def teach(self, model: Any, kept: Any, right: Hashable) -> None:
        model.learn_one(kept, right)

    def expect_sound(self, model: Any, x: Any) -> None:
        label, shares = model.predict_one(x), model.predict_proba_one(x)
        expect(label in model.labels, f"it predicted {label!r}, and its labels are {model.labels[:10]!r}")
        _expect_distribution(model, shares)


def _counts(model: Any) -> tuple[int, int]:
    return model.rounds, getattr(model, "verdicts", 0)


def expect_sound_decision(model: Any, decision: Any) -> None:
    """A label of the model, shown with the probability that the decision's own distribution gives it."""
    expect(
        decision.label in model.labels,
        f"it decided for {decision.label!r}, and its labels are {model.labels[:10]!r}",
    )
    shares = decision.distribution()
    _expect_distribution(model, shares)
    share = shares[decision.label]
    expect(
        share == decision.probability > 0.0,
        f"the probability is {decision.probability!r}, and that of its distribution is {share!r}",
    )


def _expect_distribution(model: Any, shares: dict[Hashable, float]) -> None:
    expect(
        set(shares) <= set(model.labels),
        f"the distribution is over {list(shares)[:10]!r}, the labels are {model.labels[:10]!r}",
    )
    total = math.fsum(shares.values())
    expect(
        min(shares.values()) >= 0.0 and abs(total - 1.0) < 1e-9,
        f"the distribution {shares!r} has sum {total!r}",
    )


def feedback_of(model: Any) -> Feedback:
    if hasattr(model, "decide") and hasattr(model, "learn"):
        return Verdicts()
    if hasattr(model, "predict_one") and hasattr(model, "learn_one"):
        return Labels()
    raise AssertionError(f"{model!r} has neither decide and learn nor predict_one and learn_one")
