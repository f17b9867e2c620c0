"""`banditboost tune`: which exploration rate, how many trees, which trees."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.data_choice import DataChoice, typed
from banditboost.cli.learner_choice import (
    RECOMMENDED,
    Contestant,
    parameters_for,
    parse_settings,
    parse_value,
    tell_words,
)
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.workspace import WorkerChoice, Workspace

if TYPE_CHECKING:
    from banditboost.experiments.tune import Ranked, Search


class Method(StrEnum):
    """How to search."""

    grid = "grid"
    halving = "halving"


class Score(StrEnum):
    """The score to maximise."""

    accuracy = "accuracy"
    last_accuracy = "last_accuracy"
    greedy_accuracy = "greedy_accuracy"


GAPBOOST_GRID: dict[str, list[Any]] = {
    "n_learners": [5, 10, 20],
    "grace_period": [[5, 10], [20, 50], [50, 200]],
}
"""What is tried for GapBoost, which has no exploration rate.

The number of trees, and how early these split.
"""
Rates = Annotated[
    str | None,
    typer.Option(
        "--exploration",
        help="Exploration rates and schedules to try; for a learner that has one, "
        "seven rates from 0.0003 to 0.3 if "
        "nothing is given to try.",
        metavar="A,B,...",
    ),
]
Counts = Annotated[
    str | None,
    typer.Option(
        "--n-learners",
        help="Numbers of trees to try; for GapBoost 5, 10 and 20, each with three grace periods, "
        "if nothing is given to try.",
        metavar="A,B,...",
    ),
]
Try = Annotated[
    list[str] | None,
    typer.Option(
        "--try",
        help="Values to try for any other parameter, such as grace_period=5:20,50:200 (two ranges); "
        "may be given again.",
        metavar="NAME=A,B,...",
    ),
]
Learner = Annotated[
    str,
    typer.Option(
        help="The booster or baseline to tune, or a class of your own as MODULE:CLASS.", metavar="NAME"
    ),
]
MethodOf = Annotated[
    Method,
    typer.Option(
        help="Every combination on the whole stream, or successive halving: "
        "bad ones are dropped after a few rounds."
    ),
]
ScoreOf = Annotated[
    Score,
    typer.Option(
        help="Score to maximise: accuracy over the whole stream, over its last fifth, or of the greedy label."
    ),
]
Seeds = Annotated[
    int,
    typer.Option(help="How many seeds for each combination; intervals take at least 3.", min=1, metavar="N"),
]
Out = Annotated[
    Path | None,
    typer.Option(help="Directory for results, tables and plot; tune-DATA if not given.", metavar="DIR"),
]


@dataclass(frozen=True)
class Wishes:
    """What to try, as it was typed."""

    exploration: Rates = None
    n_learners: Counts = None
    tried: Try = None

    def choices(self, learner: str) -> dict[str, list[Any]]:
        """Values to try for each parameter; without any wish those that suit the learner."""
        from banditboost.experiments.learners import parameters_of

        if self.exploration is not None and "exploration" not in parameters_of(learner):
            raise typer.BadParameter(
                f"--exploration: {learner} has none; name a learner that has, such as --learner AdaBandit"
            )
        given = list(self.tried or [])
        if self.n_learners is not None:
            given.insert(0, f"n_learners={self.n_learners}")
        if self.exploration is not None:
            given.insert(0, f"exploration={self.exploration}")
        wanted = dict(_name_and_values(text) for text in given)
        return wanted or default_choices(learner)


def default_choices(learner: str) -> dict[str, list[Any]]:
    """Values to try if there is no wish.

    For GapBoost the number of trees and their grace periods, for others the paper's search, over exploration
    alone.
    """
    from banditboost.experiments.learners import parameters_of
    from banditboost.experiments.paper import RATES

    if learner == RECOMMENDED:
        return {name: list(values) for name, values in GAPBOOST_GRID.items()}
    if "exploration" not in parameters_of(learner):
        raise typer.BadParameter(
            f"{learner} has no exploration to try; say what to try, such as --n-learners 10,20"
        )
    return {"exploration": list(RATES)}


def _name_and_values(text: str) -> tuple[str, list[Any]]:
    name, _, values = text.partition("=")
    if not name or not options.names(values):
        raise typer.BadParameter(f"--try {text!r} is not NAME=A,B,..., such as grace_period=5:20,50:200")
    return name.strip().replace("-", "_"), [parse_value(part) for part in options.names(values)]


@takes_groups
def tune(
    choice: DataChoice,
    learner: Learner = RECOMMENDED,
    *,
    wishes: Wishes,
    settings: options.Settings = None,
    method: MethodOf = Method.grid,
    score: ScoreOf = Score.accuracy,
    seeds: Seeds = 3,
    seed: options.FirstSeed = options.FIRST_SEED,
    out: Out = None,
    workers: WorkerChoice,
    as_json: options.Json = False,
) -> None:
    """Search for good parameters on a stream: a table, the best first.

    Without a wish GapBoost is tuned: its number of trees, and how early they split. Of several exploration
    rates, a plot shows the accuracy.
    Runs that are in the directory already are not played again: a search goes on where it was stopped, a
    wider one plays only what is new.

    \b
    Examples:
      banditboost tune car
      banditboost tune car --n-learners 10,20 --try grace_period=5:10,50:200
      banditboost tune clicks.csv --label clicked --method halving
      banditboost tune mice --learner AdaBandit --exploration 0.01,0.1,divided
    """
    choice.check()
    contestant = Contestant.parse(learner)
    workspace = Workspace(out or Path(f"tune-{choice.name}"), workers, choice.directory)
    workspace.check()
    with output.waiting(output.LOADING):
        from banditboost.experiments import comparison
        from banditboost.experiments.wording import count

        choices = wishes.choices(contestant.learner)
        look = choice.look()
        search = _search(
            choice, contestant, choices, parse_settings(settings), range(seed, seed + seeds), score
        )
    output.say(look.described)
    tell_words([contestant], look.words)
    records, ranked = _play(search, method, workspace)
    combinations, each = count(len(ranked), "combination"), count(seeds, "seed")
    sheet = comparison.ranking(f"{contestant.title} on {choice.name}: {combinations}, {each} each", ranked)
    files = workspace.write_sheet(sheet) + _draw(records, search, score, workspace)
    command = _command(choice, contestant, ranked[0].parameters)
    if as_json:
        output.print_json(
            {
                "data": choice.data,
                "learner": contestant.title,
                "best": ranked[0].parameters,
                "ranking": sheet.numbers,
                "command": command,
                "out": str(workspace.out),
            }
        )
    else:
        output.print_sheet(sheet)
        workspace.tell_files(files)
        output.say(f"play the best: {command}")


def _search(
    choice: DataChoice,
    contestant: Contestant,
    choices: dict[str, list[Any]],
    given: dict[str, Any],
    seeds: range,
    score: Score,
) -> Search:
    from banditboost.experiments.tune import Search

    fixed = parameters_for(choice, contestant.learner, {**given, **contestant.parameters})
    fixed = {name: value for name, value in fixed.items() if name not in choices}
    return Search(choice.source(), contestant.learner, choices, fixed, seeds, score.value)


def _play(search: Search, method: Method, workspace: Workspace) -> tuple[list[dict[str, Any]], list[Ranked]]:
    """Records of all runs, and the ranking."""
    from banditboost.experiments.results import Results
    from banditboost.experiments.run import count_rounds
    from banditboost.experiments.tune import tune_by_grid, tune_by_halving
    from banditboost.experiments.wording import count

    records: list[dict[str, Any]] = []
    results = Results(workspace.results)

    def play(tasks: list[Any]) -> None:
        records.extend(workspace.play(tasks, count(len(tasks) // len(search.seeds), "combination")))

    if method is Method.grid:
        return records, tune_by_grid(search, results, play)
    return records, tune_by_halving(
        search, results, play, rounds=count_rounds(search.source, workspace.data_path)
    )


def _draw(records: list[dict[str, Any]], search: Search, score: Score, workspace: Workspace) -> list[Path]:
    """Accuracy against the exploration rate, if several rates were tried."""
    if sum(map(_is_number, search.choices.get("exploration", ()))) < 2:
        return []
    from banditboost.experiments import figures

    drawn = figures.exploration(_best_at_each_rate(records, score), series=_length)
    return figures.write(drawn, workspace.out / "exploration")


def _best_at_each_rate(records: list[dict[str, Any]], score: Score) -> list[Any]:
    """For each length and exploration rate the runs of the best combination of the other parameters.

    Runs with a schedule are left out.
    """
    from banditboost.experiments.grouping import estimate, exploration_of, group

    kept: list[Any] = []
    constant = [record for record in records if _is_number(record["task"]["parameters"]["exploration"])]
    for members in group(constant, _length, exploration_of).values():
        others = group(members, lambda record: str({**record["task"]["parameters"], "exploration": None}))
        kept += max(others.values(), key=lambda runs: estimate(runs, score.value).mean)
    return kept


def _is_number(rate: Any) -> bool:
    return isinstance(rate, (int, float))


def _length(record: Any) -> str:
    return f"{record['rounds']:,} rounds"


def _command(choice: DataChoice, contestant: Contestant, parameters: dict[str, Any]) -> str:
    """What plays the best combination."""
    words = [*typed("run", choice.data, choice.label, choice.reading), "--learner", contestant.title]
    for name, value in parameters.items():
        words += ["--set", f"{name}={':'.join(map(str, value)) if isinstance(value, list) else value}"]
    return output.shell(words)
