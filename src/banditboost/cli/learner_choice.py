"""The learners of a command and their parameters: from what was typed to names and plain data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from banditboost.cli import options, output
from banditboost.cli.data_choice import DataChoice
from banditboost.experiments.protocol import ALGORITHMS
from banditboost.experiments.references import is_reference, typed_name
from banditboost.registry import MODELS

RECOMMENDED = "GapBoost"


@dataclass(frozen=True)
class ParameterChoice:
    """Parameters of learners: the options that `run` and `compare` share.

    >>> ParameterChoice(n_learners=3, settings=["edge=0.2"]).given()
    {'edge': 0.2, 'n_learners': 3}
    """

    n_learners: options.NLearners = None
    exploration: options.Exploration = None
    settings: options.Settings = None

    def given(self) -> dict[str, Any]:
        """Parameters by name, as plain data."""
        named = {"n_learners": self.n_learners, "exploration": self.exploration}
        return parse_settings(self.settings) | {
            name: value for name, value in named.items() if value is not None
        }


@dataclass(frozen=True)
class Contestant:
    """A learner as it was typed: its name, and a weak learner of the user's if one was added to it.

    >>> Contestant.parse("adabandit").learner
    'AdaBandit'
    >>> Contestant.parse("AdaBandit+mymodule:NearestMean").parameters
    {'weak_learner': 'mymodule:NearestMean'}
    """

    learner: str
    weak_learner: str | None = None

    @classmethod
    def parse(cls, text: str) -> Contestant:
        name, plus, weak_learner = text.partition("+")
        if plus and not is_reference(weak_learner):
            raise typer.BadParameter(f"{text!r}: behind the + comes a weak learner, as MODULE:CLASS")
        if weak_learner or is_reference(name):
            find_modules_here()
        return cls(check_learner(name), weak_learner or None)

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return typed_name(self.learner, self.parameters)

    @property
    def parameters(self) -> dict[str, Any]:
        """What it has beyond the parameters that all learners are given."""
        return {} if self.weak_learner is None else {"weak_learner": self.weak_learner}


def find_modules_here() -> None:
    """Let classes be found in modules of the current directory, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def check_learner(name: str) -> str:
    """The name as it is spelled, whatever the case; a class of the user's as MODULE:CLASS."""
    if is_reference(name):
        return name
    learners = tuple(MODELS)
    for known in learners:
        if known.lower() == name.lower():
            return known
    raise typer.BadParameter(f"unknown learner {name!r}: it is one of {', '.join(learners)}, or MODULE:CLASS")


def parse_value(text: str) -> Any:
    """A number, a range low:high, true or false, or a name.

    >>> parse_value("5:20"), parse_value("mymodule:NearestMean")
    ([5, 20], 'mymodule:NearestMean')
    """
    numbers = [_number(part) for part in text.split(":")]
    if len(numbers) <= 2 and None not in numbers:
        return numbers[0] if len(numbers) == 1 else numbers
    return {"true": True, "false": False}.get(text.lower(), text)


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None


def parse_settings(given: list[str] | None) -> dict[str, Any]:
    """Parameters from --set NAME=VALUE."""
    parameters: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise typer.BadParameter(f"--set {text!r} is not NAME=VALUE, such as edge=0.1")
        parameters[name.strip().replace("-", "_")] = parse_value(value.strip())
    if "weak_learner" in parameters:
        find_modules_here()
    return parameters


def parameters_for(choice: DataChoice, learner: str, given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a learner: what was given, and defaults for the rest.

    Defaults are the paper's for its boosters on its data sets, else the package's.
    """
    if choice.is_file or learner not in ALGORITHMS:
        return given
    from banditboost.experiments.learners import TREE_PARAMETERS
    from banditboost.experiments.paper import paper_parameters

    usual = paper_parameters(choice.data, learner)
    if "weak_learner" in given:
        usual = {name: value for name, value in usual.items() if name not in TREE_PARAMETERS}
    return {**usual, **given}


def words_left_out(learners: Sequence[str], words: Sequence[str]) -> str:
    """What is said if learners that cannot read words play a table that has some.

    >>> words_left_out(["AdaBandit", "Majority"], ["title"])
    "AdaBandit, Majority cannot read words and are played without 'title'; GapBoost reads them"
    """
    one = len(learners) == 1
    return (
        f"{', '.join(learners)} cannot read words and {'is' if one else 'are'} played without "
        f"{', '.join(map(repr, words))}; GapBoost reads them"
    )


def tell_words(chosen: Sequence[Contestant], words: Sequence[str]) -> None:
    """Say who is played without the columns of words."""
    from banditboost.experiments.learners import learner_class

    unable = [one.title for one in chosen if words and not learner_class(one.learner).takes_words]
    if unable:
        output.warn(words_left_out(unable, words))
