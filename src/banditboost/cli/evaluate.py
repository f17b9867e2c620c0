"""`banditboost evaluate`: what learners would have earned, from the log of whoever chose until now."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.judged import BEST, LOGGED, REFERENCES, UNIFORM, Judged
from banditboost.cli.learner_choice import RECOMMENDED, Contestant, ParameterChoice
from banditboost.cli.log_choice import LogChoice, naming_rows
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.targets import check_page, check_picture, check_target
from banditboost.errors import BanditBoostError, LogError

if TYPE_CHECKING:
    from banditboost.logs import Health, Log

Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--learner",
        help="GapBoost (the default), AdaBandit, OptBandit, BinBandit, MixBandit or a baseline; may be given "
        "again.",
        metavar="NAME",
    ),
]
Level = Annotated[float, typer.Option(help="How sure the bounds are to hold.", metavar="SHARE")]
Save = Annotated[
    Path | None,
    typer.Option(help="Keep the first learner, with all that the log has taught it.", metavar="FILE"),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        help="Draw values and bounds as they came to be known into this file: .png, .svg or .pdf.",
        metavar="FILE",
    ),
]
Against = Annotated[
    str,
    typer.Option(
        help="What the others are held against: logged, uniform, best (the best label so far), or a learner.",
        metavar="POLICY",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(help="Write all of it as a page, one .html file that asks for no other.", metavar="FILE"),
]


@takes_groups
def evaluate(
    choice: LogChoice,
    learner: Learners = None,
    *,
    parameters: ParameterChoice,
    against: Against = "logged",
    level: Level = 0.95,
    seed: options.Seed = options.FIRST_SEED,
    save: Save = None,
    plot: Plot = None,
    report: Report = None,
    as_json: options.Json = False,
) -> None:
    """Judge learners by a log of what was shown, with what probability, and what came of it.

    Each learner learns along the log: a row is judged before it is learned. Bounds hold at any time, however
    often one looks, and also if whoever chose has learned meanwhile. The log is checked first.

    \b
    Examples:
      banditboost evaluate clicks.csv --action banner --reward clicked --probability p
      banditboost evaluate clicks.csv --action banner --reward clicked --at-random --report clicks.html
      banditboost evaluate decisions.dsjson --learner GapBoost --learner AdaBandit
    """
    choice.check()
    contestants = [Contestant.parse(name) for name in learner or [RECOMMENDED]]
    other = _against(against, contestants)
    check_target("--save", save)
    check_picture("--plot", plot)
    check_page("--report", report)
    with output.waiting(output.LOADING):
        from banditboost import evaluation, logs

        log = choice.open()
        _tell_of_names(log)
        health = logs.check(choice.told(log))
        with _telling_what_is_wrong(health):
            policies = _policies(contestants, parameters, log, choice, seed)
            found = evaluation.evaluate(
                policies,
                choice.blocks(log, health),
                log.labels,
                rewards=choice.range(),
                least=choice.least_of(log),
                level=level,
                against=other,
            )
    if save is not None:
        policies[contestants[0].title].model.save(save)
    judged = Judged(log.name, log.labels, found, health, None if save is None else str(save))
    _keep(judged, plot, report)
    if as_json:
        output.print_json(judged.to_dict())
    else:
        _print(judged)
        if choice.least_of(log) is None:
            output.say(
                "bounds are narrower if --least tells the least probability that any label had in any row; "
                f"the smallest in the log is {health.least_probability:.3g}"
            )


@contextmanager
def _telling_what_is_wrong(health: Health) -> Iterator[None]:
    """If rows cannot be judged, tell all that is wrong with the log instead of its first row."""
    try:
        yield
    except BanditBoostError as error:
        if not health.is_good or len(health.actions) < 2:
            raise LogError(" ".join(map(str, health.findings))) from error
        raise


def _tell_of_names(log: Log) -> None:
    """Say so if columns name each row: learners would take them for what is known."""
    names = [name for block in islice(log, 1) for name in naming_rows(block)]
    if names:
        ignored = output.shell(["--ignore", ",".join(names)])
        output.warn(
            f"{', '.join(map(repr, names))}: another text in each row, of which nothing can be learned; say "
            f"what it is with --id or --time, or leave it out with {ignored}"
        )


def _against(typed: str, contestants: list[Contestant]) -> str:
    """The name in the table of what was typed."""
    names = REFERENCES | {one.title.lower(): one.title for one in contestants}
    if typed.lower() not in names:
        known = ", ".join([*REFERENCES, *(one.title for one in contestants)])
        raise typer.BadParameter(f"--against {typed}: give one of {known}")
    return names[typed.lower()]


def _policies(
    contestants: list[Contestant], parameters: ParameterChoice, log: Log, choice: LogChoice, seed: int
) -> dict[str, Any]:
    """By their names in the table; each learner once."""
    from banditboost.evaluation import Learner
    from banditboost.experiments.learners import make

    learners: dict[str, Any] = {}
    for contestant in contestants:
        given = parameters.given() | contestant.parameters
        model = make(contestant.learner, log.labels, None, given, seed, choice.range())
        learners[contestant.title] = Learner(model)
    return {LOGGED: "logged", UNIFORM: "uniform", BEST: "best label so far", **learners}


def _keep(judged: Judged, plot: Path | None, report: Path | None) -> None:
    """Write the picture and the page that were asked for."""
    if plot is not None:
        from banditboost.cli.running_values import running_values
        from banditboost.experiments import figures

        figures.save(running_values(judged.found.looks, judged.learners), plot)
    if report is not None:
        from banditboost.cli.judged_page import page
        from banditboost.experiments.writing import write_whole

        command = output.shell(["banditboost", *sys.argv[1:]])
        write_whole(report, page(judged, command).encode("utf-8", "surrogateescape"))


def _print(judged: Judged) -> None:
    output.print_sheet(judged.sheet())
    for remark in judged.remarks():
        output.print_line(f"- {remark}")
    output.print_line("")
    output.print_line(judged.verdict())
