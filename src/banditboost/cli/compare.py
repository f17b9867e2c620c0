"""`banditboost compare`: several learners and seeds on one stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from banditboost import baselines
from banditboost.cli import options, output
from banditboost.cli.source import Choice, check_learner, default_parameters, parse_settings
from banditboost.cli.tasks import Workshop

Learners = Annotated[
    str, typer.Option(help=f"Which learners: boosters, or the baselines {', '.join(baselines.__all__)}.", metavar="A,B,...")
]
Seeds = Annotated[int, typer.Option(help="How many seeds.", min=1, metavar="N")]
Out = Annotated[Path | None, typer.Option(help="Directory for results, table and plot; compare-DATA if not given.", metavar="DIR")]


def compare(
    data: options.Data,
    label: options.Label = None,
    learners: Learners = "GapBoost,OptBandit,AdaBandit,BinBandit,OptFull,AdaFull",
    seeds: Seeds = 5,
    seed: options.FirstSeed = options.FIRST_SEED,
    n_learners: options.NLearners = None,
    exploration: options.Exploration = None,
    settings: options.Settings = None,
    repeat: options.Repeat = None,
    rounds: options.Rounds = None,
    shuffle: options.Shuffle = None,
    numeric: options.Numeric = None,
    nominal: options.Nominal = None,
    ignore: options.Ignore = None,
    variant: options.VariantOf = options.Variant.paper,
    directory: options.DataDirectory = None,
    out: Out = None,
    jobs: options.Jobs = None,
    engine: options.Engine = options.EngineName.local,
    scheduler: options.Scheduler = None,
    address: options.Address = None,
    as_json: options.Json = False,
) -> None:
    """Play several learners with several seeds on one stream: a table and a plot of learning curves, with 95 % intervals.

    Runs that are in the directory already are not played again: add learners or seeds and only those are new.

    \b
    Examples:
      banditboost compare balance --learners AdaBandit,AdaFull --seeds 10
      banditboost compare car --learners AdaBandit,EpsilonGreedyForest,EpsilonGreedyTree,DiagonalSOBA,Banditron,Majority,Random
      banditboost compare clicks.csv --label clicked --shuffle
    """
    columns = options.names(numeric), options.names(nominal), options.names(ignore)
    choice = Choice(data, label, *columns, variant.value, repeat, rounds, shuffle, directory)
    choice.check()
    chosen = [check_learner(name) for name in options.names(learners)]
    given = parse_settings(settings, n_learners=n_learners, exploration=exploration)
    workshop = Workshop(out or Path(f"compare-{choice.name}"), jobs, engine, scheduler, address, directory)
    workshop.check()
    with output.waiting("reading the data, loading kernels (the first time they are compiled: about a minute)"):
        from banditboost.experiments import figures, tables
        from banditboost.experiments.task import Task

        choice.check_rows()
        source = choice.source()
    tasks = [
        Task(source, learner, {**default_parameters(choice, learner), **fitting(learner, chosen, given)}, seed + i)
        for learner in dict.fromkeys(chosen)
        for i in range(seeds)
    ]
    records = workshop.play(tasks, choice.name)
    sheet = tables.summary(records)
    files = workshop.write_sheet(sheet) + figures.write(figures.learning_curves(records), workshop.out / "curves")
    if as_json:
        output.print_json({"data": data, "learners": sheet.numbers, "out": str(workshop.out), "files": list(map(str, files))})
    else:
        output.print_sheet(sheet)
        output.say(f"{workshop.out}: results.jsonl, {', '.join(path.name for path in files)}")


def fitting(learner: str, chosen: list[str], given: dict[str, object]) -> dict[str, object]:
    """What was given, without what only others of the chosen learners have; what none of them has is left in, to be refused."""
    from banditboost.experiments.learners import parameters_of

    known = {name for other in chosen for name in parameters_of(other)}
    return {name: value for name, value in given.items() if name in parameters_of(learner) or name not in known}
