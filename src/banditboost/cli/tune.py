"""`banditboost tune`: which exploration rate, how many trees, which trees."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.source import Choice, check_learner, default_parameters, parse_settings, parse_value
from banditboost.cli.tasks import Workshop

if TYPE_CHECKING:
    from banditboost.experiments.tune import Search


class Method(StrEnum):
    """How to search."""

    grid = "grid"
    halving = "halving"


class Score(StrEnum):
    """What is to be high."""

    accuracy = "accuracy"
    last_accuracy = "last_accuracy"
    greedy_accuracy = "greedy_accuracy"


Rates = Annotated[
    str | None,
    typer.Option(
        "--exploration", help="Exploration rates and schedules to try; seven rates from 0.0003 to 0.3 if not given.", metavar="A,B,..."
    ),
]
Counts = Annotated[str | None, typer.Option("--n-learners", help="Numbers of trees to try.", metavar="A,B,...")]
Try = Annotated[
    list[str] | None,
    typer.Option(
        "--try",
        help="Values to try for any other parameter, such as grace_period=5:20,50:200 (two ranges); may be given again.",
        metavar="NAME=A,B,...",
    ),
]
MethodOf = Annotated[
    Method, typer.Option(help="Every combination on the whole stream, or successive halving: bad ones are dropped after a few rounds.")
]
ScoreOf = Annotated[Score, typer.Option(help="What is to be high: over the whole stream, over its last fifth, or of the greedy label.")]
Seeds = Annotated[int, typer.Option(help="How many seeds for each combination.", min=1, metavar="N")]
Out = Annotated[Path | None, typer.Option(help="Directory for results, table and plot; tune-DATA if not given.", metavar="DIR")]


def tune(
    data: options.Data,
    label: options.Label = None,
    learner: options.Learner = "AdaBandit",
    exploration: Rates = None,
    n_learners: Counts = None,
    tried: Try = None,
    settings: options.Settings = None,
    method: MethodOf = Method.grid,
    score: ScoreOf = Score.accuracy,
    seeds: Seeds = 3,
    seed: options.FirstSeed = options.FIRST_SEED,
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
    """Search for good parameters on a stream: a table, the best first, and a plot of accuracy against the exploration rate.

    Runs that are in the directory already are not played again: a search goes on where it was stopped, a wider one plays only what is new.

    \b
    Examples:
      banditboost tune car
      banditboost tune clicks.csv --label clicked --exploration 0.01,0.03,0.1 --n-learners 10,20 --method halving
      banditboost tune mice --try grace_period=5:20,300:301 --exploration 0.1
    """
    columns = options.names(numeric), options.names(nominal), options.names(ignore)
    choice = Choice(data, label, *columns, variant.value, repeat, rounds, shuffle, directory)
    choice.check()
    learner = check_learner(learner)
    choices = _choices(learner, exploration, n_learners, tried)
    workshop = Workshop(out or Path(f"tune-{choice.name}"), jobs, engine, scheduler, address, directory)
    workshop.check()
    with output.waiting("reading the data, loading kernels (the first time they are compiled: about a minute)"):
        from banditboost.experiments import figures, tables
        from banditboost.experiments.tune import Search

        choice.check_rows()
        fixed = {**default_parameters(choice, learner), **parse_settings(settings)}
        fixed = {name: value for name, value in fixed.items() if name not in choices}
        search = Search(choice.source(), learner, choices, fixed, range(seed, seed + seeds), score.value)
    records, ranked = _search(search, method, workshop)
    title = f"{learner} on {choice.name}: {len(ranked)} combinations, {seeds} seeds each"
    sheet = tables.ranking(title, ranked)
    files = workshop.write_sheet(sheet)
    if sum(map(_is_number, choices.get("exploration", ()))) > 1:
        files += figures.write(figures.exploration(_best_at_each_rate(records, score), series=_length), workshop.out / "exploration")
    best = _command(choice, learner, ranked[0].parameters)
    if as_json:
        output.print_json(
            {
                "data": data,
                "learner": learner,
                "best": ranked[0].parameters,
                "ranking": sheet.numbers,
                "command": best,
                "out": str(workshop.out),
            }
        )
    else:
        output.print_sheet(sheet)
        output.say(f"{workshop.out}: results.jsonl, {', '.join(path.name for path in files)}")
        output.say(f"play the best: {best}")


def _choices(learner: str, rates: str | None, counts: str | None, tried: list[str] | None) -> dict[str, list[Any]]:
    """What is to be tried: without any wish the paper's search, over exploration alone."""
    given = list(tried or [])
    if counts is not None:
        given.insert(0, f"n_learners={counts}")
    if rates is not None:
        given.insert(0, f"exploration={rates}")
    choices = {name: [parse_value(part) for part in options.names(values)] for name, values in map(_name_and_values, given)}
    if choices:
        return choices
    from banditboost.experiments.learners import parameters_of
    from banditboost.experiments.paper import RATES

    if "exploration" not in parameters_of(learner):
        raise typer.BadParameter(f"{learner} has no exploration to try; say what to try, such as --n-learners 10,20")

    return {"exploration": list(RATES)}


def _name_and_values(text: str) -> tuple[str, str]:
    name, _, values = text.partition("=")
    if not name or not options.names(values):
        raise typer.BadParameter(f"--try {text!r} is not NAME=A,B,..., such as grace_period=5:20,50:200")
    return name.strip().replace("-", "_"), values


def _search(search: Search, method: Method, workshop: Workshop) -> tuple[list[dict[str, Any]], list[Any]]:
    """Records of all runs, and the ranking."""
    from banditboost.experiments.results import Results
    from banditboost.experiments.run import count_rounds
    from banditboost.experiments.tune import tune_by_grid, tune_by_halving

    records: list[dict[str, Any]] = []
    results = Results(workshop.results)

    def play(tasks: list[Any]) -> None:
        records.extend(workshop.play(tasks, f"{len(tasks) // len(search.seeds)} combinations"))

    if method is Method.grid:
        return records, tune_by_grid(search, results, play)
    directory = None if workshop.data is None else str(workshop.data)
    return records, tune_by_halving(search, results, play, rounds=count_rounds(search.source, directory))


def _best_at_each_rate(records: list[dict[str, Any]], score: Score) -> list[Any]:
    """Of the runs with one length and one exploration rate those of the best combination of the other parameters; not of schedules."""
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


def _command(choice: Choice, learner: str, parameters: dict[str, Any]) -> str:
    label = f" --label {choice.label}" if choice.label else ""
    values = {name: ":".join(map(str, value)) if isinstance(value, list) else value for name, value in parameters.items()}
    return f"banditboost run {choice.data}{label} --learner {learner}" + "".join(f" --set {name}={value}" for name, value in values.items())
