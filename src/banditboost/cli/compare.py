"""`banditboost compare`: several learners and seeds on one stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost import baselines
from banditboost.cli import options, output
from banditboost.cli.data_choice import DataChoice
from banditboost.cli.learner_choice import Contestant, ParameterChoice, parameters_for, tell_words
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.workspace import WorkerChoice, Workspace

if TYPE_CHECKING:
    from banditboost.experiments.task import Task

DEFAULT = "GapBoost,OptBandit,AdaBandit,BinBandit,OptFull,AdaFull,Majority"
Learners = Annotated[
    str,
    typer.Option(
        help=f"Which learners: boosters, the baselines {', '.join(baselines.__all__)}, "
        "or classes of your own as "
        "MODULE:CLASS. AdaBandit+MODULE:CLASS boosts a weak learner of your own.",
        metavar="A,B,...",
    ),
]
Against = Annotated[
    str | None,
    typer.Option(
        help="The learner that the others are compared with, seed by seed. If not given, it is picked after "
        "the runs: the best of those that are not told the right label.",
        metavar="NAME",
    ),
]
Seeds = Annotated[int, typer.Option(help="How many seeds; intervals take at least 3.", min=1, metavar="N")]
Out = Annotated[
    Path | None,
    typer.Option(help="Directory for results, tables and plot; compare-DATA if not given.", metavar="DIR"),
]


@takes_groups
def compare(
    choice: DataChoice,
    learners: Learners = DEFAULT,
    against: Against = None,
    seeds: Seeds = 5,
    seed: options.FirstSeed = options.FIRST_SEED,
    *,
    parameters: ParameterChoice,
    out: Out = None,
    workers: WorkerChoice,
    as_json: options.Json = False,
) -> None:
    """Play several learners with several seeds on one stream: a table and a plot of learning curves.

    The table has the best first, and 95 % intervals, also of the differences to one learner on the same
    seeds. It says who is told the right label (AdaFull, OptFull and MixFull are); Majority is a baseline that
    does not look at the features.
    Runs that are in the directory already are not played again: add learners or seeds and only those are new.

    \b
    Examples:
      banditboost compare balance --learners AdaBandit,AdaFull --seeds 10
      banditboost compare car --learners GapBoost,AdaBandit,Banditron,Random --against AdaBandit
      banditboost compare clicks.csv --label clicked --shuffle
      banditboost compare car --learners GapBoost,mymodule:MyBooster,AdaBandit+mymodule:MyLearner
    """
    choice.check()
    chosen = list(dict.fromkeys(Contestant.parse(name) for name in options.names(learners)))
    reference = _reference(against, chosen)
    given = parameters.given()
    workspace = Workspace(out or Path(f"compare-{choice.name}"), workers, choice.directory)
    workspace.check()
    with output.waiting(output.LOADING):
        from banditboost.experiments import comparison, figures

        look = choice.look()
        tasks = _tasks(choice, chosen, given, range(seed, seed + seeds))
    output.say(look.described)
    tell_words(chosen, look.words)
    records = workspace.play(tasks, choice.name)
    sheet = comparison.summary(records, reference)
    files = workspace.write_sheet(sheet) + figures.write(
        figures.learning_curves(records), workspace.out / "curves"
    )
    if as_json:
        output.print_json(
            {
                "data": choice.data,
                "learners": sheet.numbers,
                "out": str(workspace.out),
                "files": list(map(str, files)),
            }
        )
    else:
        output.print_sheet(sheet)
        workspace.tell_files(files)


def _reference(against: str | None, chosen: Sequence[Contestant]) -> str | None:
    """The learner of --against, under the name that it has in the table."""
    if against is None:
        return None
    reference = Contestant.parse(against)
    if reference not in chosen:
        raise typer.BadParameter(f"--against {against}: it is none of the learners; add it to --learners")
    return reference.title


def _tasks(
    choice: DataChoice, chosen: Sequence[Contestant], given: dict[str, Any], seeds: range
) -> list[Task]:
    from banditboost.experiments.task import Task

    source = choice.source()
    tasks = []
    for contestant in chosen:
        own = {**fitting(contestant.learner, chosen, given), **contestant.parameters}
        parameters = parameters_for(choice, contestant.learner, own)
        tasks += [Task(source, contestant.learner, parameters, seed) for seed in seeds]
    return tasks


def fitting(learner: str, chosen: Sequence[Contestant], given: dict[str, Any]) -> dict[str, Any]:
    """What was given, without what only others of the chosen learners have.

    What none of them has is left in, to be refused.
    """
    from banditboost.experiments.learners import parameters_of

    known = {name for other in chosen for name in parameters_of(other.learner)}
    return {
        name: value for name, value in given.items() if name in parameters_of(learner) or name not in known
    }
