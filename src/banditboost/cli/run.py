"""`banditboost run`: one learner over one stream."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.source import Choice, check_learner, check_picture, check_target, default_parameters, parse_settings

if TYPE_CHECKING:
    from banditboost.cli.game import Game

Learner = Annotated[
    str | None,
    typer.Option(help="GapBoost (the default), AdaBandit, OptBandit, BinBandit, AdaFull, OptFull or a baseline.", metavar="NAME"),
]
Save = Annotated[Path | None, typer.Option(help="Keep the model in this file.", metavar="FILE")]
Resume = Annotated[Path | None, typer.Option(help="Go on with the model in this file.", metavar="FILE")]
Skip = Annotated[int, typer.Option(help="Rounds at the beginning of the stream to leave out.", min=0, metavar="N")]
Plot = Annotated[Path | None, typer.Option(help="Draw the learning curve into this file: .png, .svg or .pdf.", metavar="FILE")]


def run(
    data: options.Data,
    label: options.Label = None,
    learner: Learner = None,
    n_learners: options.NLearners = None,
    exploration: options.Exploration = None,
    settings: options.Settings = None,
    repeat: options.Repeat = None,
    rounds: options.Rounds = None,
    skip: Skip = 0,
    shuffle: options.Shuffle = None,
    numeric: options.Numeric = None,
    nominal: options.Nominal = None,
    ignore: options.Ignore = None,
    variant: options.VariantOf = options.Variant.paper,
    directory: options.DataDirectory = None,
    seed: options.Seed = options.FIRST_SEED,
    save: Save = None,
    resume: Resume = None,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """Play one learner over a built-in data set or a file, and tell how well it did.

    The right label is hidden from the learner: it hears only whether the label it showed was right (AdaFull and OptFull are told it).
    Without other options a built-in set is played as often as in the paper, and the paper's boosters have its settings.

    \b
    Examples:
      banditboost run car
      banditboost run clicks.csv --label clicked --save clicks.bb
      banditboost run tomorrow.csv --label clicked --resume clicks.bb
    """
    columns = options.names(numeric), options.names(nominal), options.names(ignore)
    choice = Choice(data, label, *columns, variant.value, repeat, rounds, shuffle, directory)
    choice.check()
    named, parameters = check_learner(learner or "GapBoost"), parse_settings(settings, n_learners=n_learners, exploration=exploration)
    if resume is not None and (learner or parameters):
        raise typer.BadParameter(
            f"{', '.join(parameters) or '--learner'} cannot be changed with --resume; leave it out, or begin a new model"
        )
    check_target("--save", save)
    check_picture("--plot", plot)
    game = _set_up(choice, seed, skip, resume, named, parameters)
    game.play()
    saved = None
    try:
        if save is not None:
            game.model.save(save)
            saved = str(save)
        if plot is not None and game.parts:
            _draw(game, choice, plot)
    finally:  # a full disk does not take the numbers away
        _tell(choice, game, saved, as_json)
    if game.interrupted:
        output.warn(_how_to_go_on(save, skip + game.rounds))
        raise typer.Exit(output.INTERRUPTED)


def _set_up(choice: Choice, seed: int, skip: int, resume: Path | None, learner: str, parameters: dict[str, Any]) -> Game:
    """Everything that can be refused is refused here, before the first round."""
    with output.waiting("reading the data, loading kernels (the first time they are compiled: about a minute)"):
        import banditboost
        from banditboost.cli.blocks import open_rounds
        from banditboost.cli.game import Game
        from banditboost.experiments.learners import make
        from banditboost.experiments.run import warm_up

        rounds = open_rounds(choice, seed)
        if skip >= rounds.count:
            raise typer.BadParameter(f"--skip {skip} leaves nothing of a stream of {rounds.count} rounds; give less")
        if resume is not None:
            model = banditboost.load(resume)
        else:
            model = make(learner, rounds.labels, rounds.schema(), {**default_parameters(choice, learner), **parameters}, seed)
        game = Game(rounds, model, skip)
        warm_up(type(model).__name__)
    if choice.is_file:
        output.say(rounds.describe())
    return game


def _draw(game: Game, choice: Choice, path: Path) -> None:
    from banditboost.experiments import figures

    task = {"source": {"name": choice.name}, "learner": type(game.model).__name__, "seed": game.model.seed}
    record = {"task": task, "rounds": game.rounds, "n_labels": len(game.model.labels), "curve": game.curve()}
    figures.save(figures.learning_curves([record]), path)


def _tenths(game: Game) -> list[float]:
    """Accuracy in tenths of what was played."""
    correct = game.result().correct
    size = max(1, len(correct) // 10)
    return [float(correct[start : start + size].mean()) for start in range(0, size * 10, size) if start < len(correct)]


def _tell(choice: Choice, game: Game, saved: str | None, as_json: bool) -> None:
    summary = {"data": choice.data, **game.summary(), "saved": saved}
    if as_json:
        output.print_json(summary)
    elif game.parts:
        _print_facts(choice, summary, _tenths(game))


def _print_facts(choice: Choice, summary: dict[str, Any], tenths: list[float]) -> None:
    from banditboost.experiments.learners import LEARNERS

    printed = choice.printed(summary["learner"])
    facts = {
        "accuracy, last fifth": f"{summary['last_accuracy']:.3f}{f'   (the paper: {printed.last:.2f})' if printed else ''}",
        "accuracy, whole stream": f"{summary['accuracy']:.3f}{f'   (the paper: {printed.total:.2f})' if printed else ''}",
        "accuracy, tenth by tenth": " ".join(f"{share:.2f}" for share in tenths),
        "accuracy of greedy label": f"{summary['greedy_accuracy']:.3f}",
        "cost of exploration": f"{summary['exploration_cost']:.4f}   ({summary['explored']:.2%} of rounds tried another label)",
        "speed": f"{summary['rounds_per_second']:,.0f} rounds per second ({summary['seconds']:.1f} s)",
        "memory": f"{summary['memory_bytes'] / 2**20:.1f} MiB",
    }
    if summary["learner"].endswith("Full"):
        facts["cost of exploration"] = "none: this learner is told the right label"
    if summary["saved"]:
        facts["saved"] = summary["saved"]
    each = " for each label" if LEARNERS[summary["learner"]].has_groups else ""
    trees = f", {summary['n_learners']} trees{each}" if summary["n_learners"] else ""
    title = f"{summary['learner']} on {choice.name}: {summary['rounds']:,} rounds, {summary['n_labels']} labels{trees}"
    output.print_facts(title, facts)


def _how_to_go_on(save: Path | None, rounds: int) -> str:
    if save is None:
        return f"stopped after {rounds} rounds of the stream; the model was not kept (--save FILE keeps it)"
    return f"stopped after {rounds} rounds of the stream; go on with the same command and --resume {save} --skip {rounds}"
