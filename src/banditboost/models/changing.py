"""How a model changes, so that an exception from outside finds it as before a call or as after it.

Python lets such an exception in (Ctrl-C, a time limit, any signal handler that raises) between any two of its
instructions. Hence there are three ways of changing a model, and no other:

    in compiled code   a call of it does all it has to do: nothing comes in before it returns
    on a draft         what grows or is exchanged is changed on a draft, which takes the model's place in one
                       step
    from a list        what takes several such steps is written down first, in one step; if the call does not
                       come to its end, the next one does what is left
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self

from banditboost.models.locking import Locked


class Unfinished(Protocol):
    """What a call has begun."""

    def finish(self, model: Any) -> None:
        """Do what is left; if that is interrupted, it can be called again."""

    def counts(self, model: Any) -> Counts:
        """How much the model will have been through when that is done."""


class Counts(NamedTuple):
    """How much a model has been through."""

    rounds: int
    verdicts: int  # of logs, too
    logged: int


class ToLearn:
    """What is to be learned one after the other.

    Each adds one verdict to those that the model has learned: so it is known which ones are done.
    """

    def __init__(self, items: list[Any], model: Any) -> None:
        before = model._counted
        n_rounds = len(items) if model._settings.full_information else 0  # the others were decided before
        self._items, self._first, self._done = items, before.verdicts, 0
        self._counts = Counts(before.rounds + n_rounds, before.verdicts + len(items), before.logged)

    def counts(self, model: Any) -> Counts:  # noqa: ARG002 (whatever was learned of the list)
        """As after the last one of the list."""
        return self._counts

    def finish(self, model: Any) -> None:
        """Learn what is left of the list."""
        while self._done < len(self._items):
            item = self._items[self._done]
            if model._counted.verdicts == self._first + self._done:
                self.learn(model, item)
            model._note_learned(item)
            self._done += 1

    def learn(self, model: Any, item: Any) -> None:
        """Learn one of the list."""
        model._learn_item(item)


class Changing(Locked):
    """A model that can be changed in these ways."""

    @property
    def _unfinished(self) -> Unfinished | None:
        """What a call has begun and not finished."""
        unfinished: Unfinished | None = self._turn.unfinished
        return unfinished

    @_unfinished.setter
    def _unfinished(self, what: Unfinished | None) -> None:
        self._turn.unfinished = what

    def _draft(self) -> Self:
        """A model with the same parts, and copies of those that a change writes into."""
        draft = self.__new__(type(self))
        draft.__dict__.update(self.__dict__)
        draft._own_parts()
        return draft

    def _own_parts(self) -> None:
        """Copy, in a draft, what a change writes into; compiled code has to be bound anew then."""
        raise NotImplementedError

    def _become(self, draft: Self) -> None:
        """Let a draft take this model's place, in one call that nothing interrupts."""
        self.__dict__.update(draft.__dict__)

    def _settled(self) -> Self:
        self._finish_lesson()
        if self._unfinished is not None:
            self._unfinished.finish(self)
            self._unfinished = None
        return self

    def _finish_lesson(self) -> None:
        """Teach the learners what they had no room for, if the model has any."""

    def _learn_item(self, item: Any) -> None:
        """Learn one of a list."""
        raise NotImplementedError

    def _note_learned(self, item: Any) -> None:
        """Write down that one of a list was learned, if compiled code has not. Twice is as once."""
