"""The exceptions a user can meet.

Each message names the argument, the value and the remedy; a failed call has changed nothing.
"""

from __future__ import annotations

from banditboost.text import visible_lines


class BanditBoostError(ValueError):
    """Whatever banditboost refuses."""

    def __str__(self) -> str:
        """The message, harmless to print: it may quote names of files, columns and labels."""
        return visible_lines(super().__str__())


def in_row(t: int, error: BanditBoostError, of: str = "X") -> BanditBoostError:
    """The same refusal, with the number of the row that is to blame.

    >>> print(in_row(3, FeatureError("feature 'hour' is inf; give a finite number")))
    row 3 of X (counted from 0): feature 'hour' is inf; give a finite number
    """
    return type(error)(f"row {t} of {of} (counted from 0): {error}")


class ParameterError(BanditBoostError):
    """A parameter of a model, a learner or a run is out of its range."""


class LabelError(BanditBoostError):
    """A label is unknown, repeated, or there are too few."""


class FeatureError(BanditBoostError):
    """A row does not fit the features, or holds a value that cannot be learned from."""


class DecisionError(BanditBoostError):
    """A verdict cannot be learned: another model's decision, one already learned, or one too old; or a model
    has come to its last round.
    """


class LearnedBeforeError(DecisionError):
    """A verdict cannot be learned, since it was learned before: each is learned once."""


class LogError(BanditBoostError):
    """A row of a log cannot be used, or a policy tells no probabilities for it."""


class ModelFileError(BanditBoostError):
    """A file is no model, is damaged, or comes from a newer version; or a model cannot be saved in one."""


class ConfigurationError(BanditBoostError):
    """A setting of the service is unknown, or its value cannot be used."""
