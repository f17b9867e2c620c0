"""Files in which each row is an option: which column tells the decision, which the option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options
from banditboost.cli.data_choice import DataChoice
from banditboost.cli.reward_choice import RewardChoice
from banditboost.datasets.rewards import RewardColumns
from banditboost.rewards import UNIT

if TYPE_CHECKING:
    from banditboost.cli.offer_player import OfferPlayer
    from banditboost.logs import OptionRows

LEARNER = "OptionBoost"
Decision = Annotated[
    str | None,
    typer.Option(
        help="The file has a row for each option: this column is the same in all rows that were offered "
        "together. --rewards is one column then, what the option would earn; OptionBoost plays.",
        metavar="COLUMN",
    ),
]
Option = Annotated[
    str | None, typer.Option(help="With --decision: column with the id of the option.", metavar="COLUMN")
]
OptionColumns = Annotated[
    str | None,
    typer.Option(
        help="With --decision: columns that are the options', the others being the context's; those that "
        "differ within a decision if not given.",
        metavar="A,B,...",
    ),
]


@dataclass(frozen=True)
class OfferChoice:
    """The options of `run` for files with a row for each option."""

    decision: Decision = None
    option: Option = None
    option_columns: OptionColumns = None

    @property
    def is_given(self) -> bool:
        return self.decision is not None

    def check(self, choice: DataChoice, graded: RewardChoice, learner: str | None, url: str | None) -> None:
        """Refuse what cannot be meant, before anything is read."""
        if not self.is_given:
            for name, given in (("--option", self.option), ("--option-columns", self.option_columns)):
                if given is not None:
                    raise typer.BadParameter(
                        f"{name} goes with --decision, the column that tells which rows were offered together"
                    )
            return
        if self.option is None:
            raise typer.BadParameter("--decision needs --option, the column with the id of each option")
        if len(graded.columns) != 1:
            raise typer.BadParameter(
                "--decision needs --rewards with one column: what the option of each row would have earned"
            )
        if learner is not None and learner.lower() != LEARNER.lower():
            raise typer.BadParameter(
                f"--learner {learner} chooses among labels, and --decision tells options with features; "
                f"leave it out, for {LEARNER}"
            )
        if url is not None:
            raise typer.BadParameter("--url plays files with labels only; leave it out, or --decision")
        self._check_table(choice)

    def _check_table(self, choice: DataChoice) -> None:
        unfit: dict[str, Any] = {
            "--repeat": choice.repeat,
            "--shuffle": choice.shuffle or None,
            "--numeric": choice.numeric,
            "--nominal": choice.nominal,
            "--dates": choice.dates,
            "--words": choice.words,
        }
        for name, given in unfit.items():
            if given is not None:
                raise typer.BadParameter(
                    f"{name} is not for files with a row for each option, which are played once, in order, "
                    "with columns as they are; leave it out"
                )

    def open(self, choice: DataChoice, graded: RewardChoice) -> OfferedRounds:
        """The decisions of the file."""
        from banditboost import logs

        reading = choice.reading
        table = logs.read_options(
            choice.data,
            decision=str(self.decision),
            option=str(self.option),
            reward=graded.columns[0],
            option_columns=None if self.option_columns is None else options.names(self.option_columns),
            **{name: reading[name] for name in ("ignore", "encoding", "separator", "decimal")},
        )
        return OfferedRounds(table, graded.columns[0], choice.rounds)

    def player(
        self,
        choice: DataChoice,
        graded: RewardChoice,
        given: dict[str, Any],
        resume: Any,
        seed: int,
        skip: int,
    ) -> OfferPlayer:
        """Everything that can be refused is refused here, before the first round."""
        import banditboost
        from banditboost.cli import output
        from banditboost.cli.offer_player import OfferPlayer
        from banditboost.experiments.learners import make_for_options
        from banditboost.experiments.run import warm_up_for_options
        from banditboost.models.offering import OfferingModel

        with output.waiting(output.LOADING):
            rounds = self.open(choice, graded)
            if skip >= rounds.count:
                raise typer.BadParameter(
                    f"--skip {skip} leaves nothing of a stream of {rounds.count} rounds; give less"
                )
            model = None if resume is None else banditboost.load(resume)
            if model is not None and not isinstance(model, OfferingModel):
                raise typer.BadParameter(
                    f"{resume} holds a {type(model).__name__}, which chooses among labels; resume a model "
                    f"that chooses among options, such as {LEARNER}"
                )
            bounds = graded.check_rewards(rounds.rewards, model) or UNIT
            if model is None:
                model = make_for_options(LEARNER, given, seed, bounds)
            warm_up_for_options(LEARNER)
        return OfferPlayer(rounds, model, skip)  # type: ignore[arg-type]  # it has no labels


def check_labelled(model: Any, resume: Any) -> None:
    """Refuse a saved model that chooses among options, where there are labels."""
    from banditboost.models.offering import OfferingModel

    if isinstance(model, OfferingModel):
        raise typer.BadParameter(
            f"{resume} holds an {type(model).__name__}, which chooses among options: name the columns of a "
            "file with a row for each option, with --decision, --option and --rewards"
        )


class OfferedRounds:
    """A table of options as `run` plays it."""

    def __init__(self, table: OptionRows, reward: str, rounds: int | None) -> None:
        self._table = table
        self.count = table.n_decisions if rounds is None else min(rounds, table.n_decisions)
        self.n_options = len(table.ids)
        self.columns = {
            "option_columns": list(table.option_columns),
            "context_columns": list(table.context_columns),
        }
        (low, where), (high, other) = table.lowest, table.highest
        self.rewards = RewardColumns((reward,), (), (low, reward, where), (high, reward, other))

    def blocks(self, skip: int) -> Any:
        """Contexts, and options with their rewards, from a round on."""
        start = 0
        for X, offered, rewards in self._table.blocks():
            first, last = max(0, skip - start), min(len(X), self.count - start)
            start += len(X)
            if first < last:
                yield X[first:last], (offered[first:last], rewards[first:last])
            if start >= self.count:
                return
