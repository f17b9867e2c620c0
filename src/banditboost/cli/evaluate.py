"""`banditboost evaluate`: what learners would have earned, from the log of whoever chose until now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.learner_choice import RECOMMENDED, Contestant, ParameterChoice
from banditboost.cli.log_choice import LogChoice
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.targets import check_picture, check_target
from banditboost.text import counted

if TYPE_CHECKING:
    from banditboost.evaluation import Evaluation
    from banditboost.experiments.sheets import Entry
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
LOGGED, UNIFORM, BEST = "the log itself", "all alike", "best label so far"


@takes_groups
def evaluate(
    choice: LogChoice,
    learner: Learners = None,
    *,
    parameters: ParameterChoice,
    level: Level = 0.95,
    seed: options.Seed = options.FIRST_SEED,
    save: Save = None,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """Judge learners by a log of what was shown, with what probability, and what came of it.

    Each learner learns along the log: a row is judged before it is learned. Bounds hold at any time, however
    often one looks, and also if whoever chose has learned meanwhile. The log is checked first.

    \b
    Examples:
      banditboost evaluate clicks.csv --action banner --reward clicked --probability p
      banditboost evaluate clicks.csv --action banner --reward clicked --at-random --plot values.svg
    """
    choice.check()
    contestants = [Contestant.parse(name) for name in learner or [RECOMMENDED]]
    check_target("--save", save)
    check_picture("--plot", plot)
    with output.waiting(output.LOADING):
        from banditboost import evaluation, logs

        log = choice.open()
        health = logs.check(log)
        policies = _policies(contestants, parameters, log, choice, seed)
        found = evaluation.evaluate(
            policies,
            choice.blocks(log, health),
            log.labels,
            rewards=choice.range(),
            least=choice.least_of(health),
            level=level,
        )
    if save is not None:
        policies[contestants[0].title].model.save(save)
    if plot is not None:
        _draw(found, plot)
    told = [_told(name, found) for name in policies]
    if as_json:
        output.print_json(
            {
                "log": log.name,
                "rows": found.rows,
                "labels": list(log.labels),
                "level": level,
                "policies": told,
                "health": health.to_dict(),
                "saved": None if save is None else str(save),
            }
        )
    else:
        _print(log, found, told, health)


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


def _told(name: str, found: Evaluation) -> dict[str, Any]:
    """What is known of a policy, as plain data."""
    value, looks = found.values[name], found.looks[name]
    last = looks[-1] if looks else None
    return {
        "policy": name,
        "estimator": found.estimators[name],
        "value": value.estimate(found.estimators[name]),
        "low": None if last is None else last.low,
        "high": None if last is None else last.high,
        "ips": value.estimate("ips"),
        "snips": value.estimate("snips"),
        "ahead_low": None if last is None else last.ahead_low,
        "ahead_high": None if last is None else last.ahead_high,
        "better_since": found.better_since(name),
        "effective_rows": value.effective_sample_size,
        "mean_weight": value.mean_weight,
        "curve": [list(look) for look in looks],
    }


def _print(log: Log, found: Evaluation, told: list[dict[str, Any]], health: Health) -> None:
    from banditboost.experiments.sheets import Sheet

    title = f"{log.name}: {counted(found.rows, 'row')}, {counted(len(log.labels), 'label')}"
    header = (
        "Policy",
        "Earns",
        f"Bounds ({found.level:.0%})",
        "Ahead of the log by",
        "Better since",
        "As rows",
    )
    output.print_sheet(Sheet("evaluate", title, "", header, tuple(map(_row, told)), ()))
    output.print_line("Earns: of each row on average. As rows: as good as so many rows of the policy itself.")
    for finding in health.findings:
        output.print_line(f"- {finding}")
    best = max(
        (one for one in told[3:] if one["ahead_low"] is not None),
        key=lambda one: one["ahead_low"],
        default=None,
    )
    output.print_line("")
    if best is not None and best["ahead_low"] > 0.0:
        output.print_line(
            f"{best['policy']} earns more than the log: {best['ahead_low']:.4f} more at least, known after "
            f"{counted(best['better_since'], 'row')}."
        )
    else:
        output.print_line("No learner is known to earn more than the log: it may be too short to tell.")


def _row(one: dict[str, Any]) -> tuple[Entry, ...]:
    from banditboost.experiments.sheets import Entry

    bounds = "" if one["low"] is None else f"{one['low']:.4f} to {one['high']:.4f}"
    is_log = one["policy"] == LOGGED
    ahead = "" if one["low"] is None or is_log else f"{one['ahead_low']:.4f} to {one['ahead_high']:.4f}"
    since = "" if one["better_since"] is None or is_log else f"row {one['better_since']:,}"
    cells = (one["policy"], f"{one['value']:.4f}", bounds, ahead, since, f"{one['effective_rows']:,.0f}")
    return tuple(map(Entry, cells))


def _draw(found: Evaluation, path: Path) -> None:
    from banditboost.cli.running_values import running_values
    from banditboost.experiments import figures

    figures.save(running_values({name: looks for name, looks in found.looks.items() if looks}), path)
