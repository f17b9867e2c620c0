"""`banditboost run`: one learner over one stream."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import INTERRUPTED, options, output
from banditboost.cli.data_choice import DataChoice
from banditboost.cli.learner_choice import (
    RECOMMENDED,
    Contestant,
    ParameterChoice,
    parameters_for,
    words_left_out,
)
from banditboost.cli.offer_choice import LEARNER, OfferChoice, check_labelled
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.reward_choice import RewardChoice
from banditboost.cli.serve import check_installed
from banditboost.cli.targets import check_picture, check_target
from banditboost.text import counted

if TYPE_CHECKING:
    from banditboost.cli.player import Player
    from banditboost.cli.stream import Rounds
    from banditboost.client import Client
    from banditboost.inspection.accuracy import Accuracy
    from banditboost.models.model import Model

Learner = Annotated[
    str | None,
    typer.Option(
        help="GapBoost (the default), AdaBandit, OptBandit, BinBandit, MixBandit, AdaFull, OptFull, MixFull, "
        "a baseline, "
        "or a class of your "
        "own as MODULE:CLASS.",
        metavar="NAME",
    ),
]
Save = Annotated[Path | None, typer.Option(help="Keep the model in this file.", metavar="FILE")]
Resume = Annotated[
    Path | None,
    typer.Option(
        help="Go on with the model in this file; --save keeps what it learns, there or elsewhere.",
        metavar="FILE",
    ),
]
Skip = Annotated[
    int, typer.Option(help="Rounds at the beginning of the stream to leave out.", min=0, metavar="N")
]
Plot = Annotated[
    Path | None,
    typer.Option(help="Draw the learning curve into this file: .png, .svg or .pdf.", metavar="FILE"),
]


@dataclass(frozen=True)
class ServiceChoice:
    """The running service in which `run` plays, if one is named."""

    url: Annotated[
        str | None,
        typer.Option(
            help="Play in a running `banditboost serve`: a new model there decides and learns, request by "
            "request.",
            metavar="ADDRESS",
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(help="With --url: its name there; that of the data if not given.", metavar="NAME"),
    ] = None
    key: Annotated[
        str | None,
        typer.Option(
            help="With --url: a key with the role admin, if the service has keys.",
            envvar="BANDITBOOST_KEY",
            show_envvar=True,
            metavar="KEY",
        ),
    ] = None

    def opened(self, data: DataChoice) -> AbstractContextManager[Client | None]:
        """A client of the service; None if none is named."""
        if self.url is None:
            return nullcontext()
        check_installed()
        from banditboost.client import Client

        return Client(self.url, key=self.key, model=self.model or data.name)


@takes_groups
def run(
    choice: DataChoice,
    graded: RewardChoice,
    offers: OfferChoice,
    service: ServiceChoice,
    learner: Learner = None,
    *,
    parameters: ParameterChoice,
    skip: Skip = 0,
    seed: options.Seed = options.FIRST_SEED,
    save: Save = None,
    resume: Resume = None,
    plot: Plot = None,
    as_json: options.Json = False,
) -> None:
    """Play one learner over a built-in data set or a file, and tell how well it did.

    The right label is hidden from the learner: it hears only whether the label it showed was right (AdaFull,
    OptFull and MixFull are told it). Without other options a built-in set is played as often as in the paper,
    and the paper's boosters have its settings.

    \b
    Examples:
      banditboost run car
      banditboost run clicks.csv --label clicked --save clicks.bb
      banditboost run tomorrow.csv --label clicked --resume clicks.bb --save clicks.bb
      banditboost run prices.csv --rewards 'price_*' --reward-range 0:30
      banditboost run shop.csv --decision visit --option article --rewards bought
      banditboost run car --url http://127.0.0.1:8730
    """
    graded.check(choice)
    choice.check(has_rewards=bool(graded.columns))
    offers.check(choice, graded, learner, service.url)
    contestant, given = _contestant(learner, offers), parameters.given()
    if resume is not None and (learner or given):
        named = ", ".join(given) or "--learner"
        raise typer.BadParameter(
            f"{named} cannot be changed with --resume; leave it out, or begin a new model"
        )
    check_target("--save", save)
    check_picture("--plot", plot)
    given |= contestant.parameters
    if resume is not None and service.url is not None:
        raise typer.BadParameter("--resume and --url are both given; upload the file to the service instead")
    with service.opened(choice) as client:
        if offers.is_given:
            player: Player = offers.player(choice, graded, given, resume, seed, skip)
        else:
            player = _set_up((choice, graded), client, seed, skip, resume, contestant.learner, given)
        if save is not None:
            player.check_target(save)
        if resume is not None and save is None:
            output.warn(f"what the model learns now will not be kept; --save {resume} keeps it")
        player.play()
    saved = None
    try:
        if save is not None:
            player.model.save(save)
            saved = str(save)
        if plot is not None and player.parts:
            _draw(player, choice, plot)
    finally:  # a full disk does not take the numbers away
        _tell(choice, player, saved, as_json)
    if player.interrupted:
        output.warn(_how_to_go_on(save, skip + player.rounds, service))
        raise typer.Exit(INTERRUPTED)


def _contestant(learner: str | None, offers: OfferChoice) -> Contestant:
    """Who plays: where rows are options, that is settled."""
    return Contestant(LEARNER) if offers.is_given else Contestant.parse(learner or RECOMMENDED)


def _set_up(
    choices: tuple[DataChoice, RewardChoice],
    client: Client | None,
    seed: int,
    skip: int,
    resume: Path | None,
    learner: str,
    given: dict[str, Any],
) -> Player:
    """Everything that can be refused is refused here, before the first round."""
    choice, graded = choices
    with output.waiting(output.LOADING):
        import banditboost
        from banditboost.cli.log_choice import looks_like_a_log
        from banditboost.cli.stream import open_rounds
        from banditboost.experiments.learners import learner_class, make
        from banditboost.experiments.run import warm_up

        rounds = open_rounds(choice, seed, graded.columns)
        if skip >= rounds.count:
            raise typer.BadParameter(
                f"--skip {skip} leaves nothing of a stream of {rounds.count} rounds; give less"
            )
        model: Model | None = None if resume is None else banditboost.load(resume)
        check_labelled(model, resume)
        bounds = graded.check_rewards(rounds.rewards, model)
        words = rounds.words
        if not (learner_class(learner) if model is None else model).takes_words:
            rounds.leave_words_out()
        if model is None:
            parameters = parameters_for(choice, learner, given)
            model = make(learner, rounds.labels, rounds.schema(), parameters, seed, bounds)
        player = _player(rounds, model, skip, client)
        warm_up(type(model).__name__ if resume is not None else learner)
    if choice.is_file:
        output.say(rounds.describe())
        if (remark := looks_like_a_log(choice, rounds.labels, rounds.schema().names)) is not None:
            output.warn(remark)
    if words and not rounds.words:
        output.warn(words_left_out([type(model).__name__], words))
    return player


def _player(rounds: Rounds, model: Model, skip: int, client: Client | None) -> Player:
    """Who plays: this process, or a service."""
    from banditboost.cli.player import Player

    if client is None:
        return Player(rounds, model, skip)
    from banditboost.cli.served_player import ServedPlayer

    return ServedPlayer(rounds, model, skip, client)


def _draw(player: Player, choice: DataChoice, path: Path) -> None:
    from banditboost.experiments import figures

    if player.graded:
        from banditboost import plot

        figures.save(plot.learning_curve({type(player.model).__name__: player.result()}), path)
        return
    task = {
        "source": {"name": choice.name},
        "learner": type(player.model).__name__,
        "seed": player.model.seed,
    }
    record = {
        "task": task,
        "rounds": player.rounds,
        "n_labels": len(player.model.labels),
        "curve": player.curve(),
    }
    figures.save(figures.learning_curves([record]), path)


def _tenths(player: Player) -> list[float]:
    """Accuracy, or the mean reward, in tenths of what was played."""
    result = player.result()
    told = result.earned if player.graded else result.correct
    size = max(1, len(told) // 10)
    return [
        float(told[start : start + size].mean()) for start in range(0, size * 10, size) if start < len(told)
    ]


def _tell(choice: DataChoice, player: Player, saved: str | None, as_json: bool) -> None:
    summary = {"data": choice.data, **player.summary(), "saved": saved}
    if as_json:
        output.print_json(summary)
    elif player.parts:
        _print_facts(choice, player, summary)


def _print_facts(choice: DataChoice, player: Player, summary: dict[str, Any]) -> None:
    facts = _of_rewards(player, summary) if player.graded else _of_verdicts(choice, player, summary)
    facts |= {
        "speed": f"{summary['rounds_per_second']:,.0f} rounds per second ({summary['seconds']:.1f} s)",
        "memory": f"{summary['memory_bytes'] / 2**20:.1f} MiB",
    }
    if summary["saved"]:
        facts["saved"] = summary["saved"]
    output.print_facts(_title(choice, player, summary), facts.items())


def _of_rewards(player: Player, summary: dict[str, Any]) -> dict[str, str]:
    whole, last = player.intervals()
    low, high = summary["reward_range"]
    what = "option" if "n_options" in summary else "label"
    return {
        "mean reward, last fifth": _with_interval(last),
        "mean reward, whole stream": _with_interval(whole),
        "mean reward, tenth by tenth": " ".join(f"{mean:.3g}" for mean in _tenths(player)),
        f"mean reward of greedy {what}": f"{summary['greedy_mean_reward']:.4g}",
        **_to_compare(summary),
        "cost of exploration": f"{summary['exploration_cost']:.4g}   ({summary['explored']:.2%} of rounds "
        f"tried another {what})",
        "range of rewards": f"{low:g} to {high:g}",
    }


def _to_compare(summary: dict[str, Any]) -> dict[str, str]:
    """What the stream pays to others: one label always, or options at random and the best ones."""
    if "n_options" in summary:
        return {
            "options at random": f"{summary['random_mean_reward']:.4g}",
            "best options": f"{summary['best_mean_reward']:.4g}",
            "columns of options": ", ".join(summary["option_columns"]) or "none",
            "columns of the context": ", ".join(summary["context_columns"]) or "none",
        }
    label, mean = max(summary["mean_rewards"].items(), key=lambda item: item[1])
    return {"always the same label": f"{mean:.4g}   ({label}, the best one)"}


def _with_interval(mean: Accuracy) -> str:
    return f"{mean.share:.4g}   (95 % interval {mean.low:.4g} to {mean.high:.4g})"


def _of_verdicts(choice: DataChoice, player: Player, summary: dict[str, Any]) -> dict[str, str]:
    printed = choice.printed(summary["learner"])
    last, whole = (
        (f"   (the paper: {printed.last:.2f})", f"   (the paper: {printed.total:.2f})")
        if printed
        else ("", "")
    )
    explored = (
        f"{summary['exploration_cost']:.4f}   ({summary['explored']:.2%} of rounds tried another label)"
    )
    return {
        "accuracy, last fifth": f"{summary['last_accuracy']:.3f}{last}",
        "accuracy, whole stream": f"{summary['accuracy']:.3f}{whole}",
        "accuracy, tenth by tenth": " ".join(f"{share:.2f}" for share in _tenths(player)),
        "accuracy of greedy label": f"{summary['greedy_accuracy']:.3f}",
        "cost of exploration": explored
        if player.hears_verdicts
        else "none: this learner is told the right label",
    }


def _title(choice: DataChoice, player: Player, summary: dict[str, Any]) -> str:
    each = " for each label" if getattr(player.model, "has_groups", False) and "n_labels" in summary else ""
    trees = f", {summary['n_learners']} {player.weak_learners}{each}" if summary["n_learners"] else ""
    what = f"{summary['n_options']} options" if "n_options" in summary else f"{summary['n_labels']} labels"
    labels = f"{counted(summary['rounds'], 'round')}, {what}"
    return f"{summary['learner']} on {choice.name}: {labels}{trees}"


def _how_to_go_on(save: Path | None, rounds: int, service: ServiceChoice) -> str:
    stopped = f"stopped after {rounds} round{'' if rounds == 1 else 's'} of the stream"
    if service.url is not None:
        return f"{stopped}; the model stays in the service at {service.url}"
    if save is None:
        return f"{stopped}; the model was not kept (--save FILE keeps it)"
    return f"{stopped}; go on with the same command and --resume {save} --skip {rounds}"
