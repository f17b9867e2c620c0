"""Which log is meant, how its columns are called, and what is known of its probabilities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from banditboost.cli import options, output
from banditboost.cli.data_choice import DataChoice
from banditboost.cli.reward_choice import RewardChoice

if TYPE_CHECKING:
    from banditboost.logs import Block, Health, Log


class FormName(StrEnum):
    """How a log is written."""

    TABLE = "table"
    DSJSON = "dsjson"
    VW = "vw"


File = Annotated[
    str,
    typer.Argument(
        help="A log: a file, a folder, or a pattern of files in quotes: CSV, Parquet, Arrow, JSON lines; or "
        "a file of dsjson or of Vowpal Wabbit's text.",
        metavar="FILE",
    ),
]
Form = Annotated[
    FormName | None,
    typer.Option(
        help="table; dsjson, also as Personalizer and the RL client library write it; or vw, lines of "
        "action:cost:probability. If not given: dsjson and vw if FILE is called so, else table.",
        case_sensitive=False,
    ),
]
Best = Annotated[
    float,
    typer.Option(help="Of dsjson and vw: the reward that a cost of 0 stands for.", metavar="REWARD"),
]
Action = Annotated[str | None, typer.Option(help="Column that tells what was shown.", metavar="COLUMN")]
Reward = Annotated[
    str | None, typer.Option(help="Column that tells what came of it: 0 or 1, or a number.", metavar="COLUMN")
]
Probability = Annotated[
    str | None,
    typer.Option(help="Column that tells with what probability it was chosen.", metavar="COLUMN"),
]
AtRandom = Annotated[
    bool, typer.Option("--at-random", help="Everything that is in the log was shown at random, all alike.")
]
Estimated = Annotated[
    bool,
    typer.Option(
        "--estimate-probabilities",
        help="Take how often each action was shown for its probability. Wrong if what was shown depended on "
        "who came: then so are the values.",
    ),
]
Least = Annotated[
    float | None,
    typer.Option(
        help="The least probability that any action had in any row; if it is known, bounds are narrower.",
        metavar="P",
    ),
]
Position = Annotated[
    str | None, typer.Option(help="Column that tells where on a page it was shown.", metavar="COLUMN")
]
Time = Annotated[
    str | None,
    typer.Option(help="Column that tells when: rows are to stand in its order.", metavar="COLUMN"),
]
Id = Annotated[
    str | None,
    typer.Option("--id", help="Column that names the event: none is to come twice.", metavar="COLUMN"),
]
Context = Annotated[
    str | None,
    typer.Option(help="Columns of what was known, if not all that have no other meaning.", metavar="A,B,..."),
]
_OUTCOMES = ({"0", "1"}, {"0.0", "1.0"}, {"false", "true"}, {"no", "yes"})
_ROWS_ENOUGH = 100
_SHOWN = re.compile(
    r"(^|_|\b)(action|ad|arm|article|banner|campaign|choice|creative|decision|headline|item|message|offer|option"
    r"|recommendation|shown|treatment|variant)(s|_?id)?($|_|\b)"
)
_PROBABILITY = re.compile(r"(^|_|\b)(p|prob|probability|propensity|pscore)($|_|\b)")


def looks_like_a_log(choice: DataChoice, labels: Sequence[str], columns: Iterable[Any]) -> str | None:
    """What to say if right labels are 0 and 1 beside a column that seems to tell what was shown."""
    if {str(label).lower() for label in labels} not in _OUTCOMES:
        return None
    names = [str(name) for name in columns]
    shown = [name for name in names if _SHOWN.search(name.lower())]
    if not shown:
        return None
    words = ["banditboost", "evaluate", choice.data, "--action", shown[0], "--reward", str(choice.label)]
    drawn = [name for name in names if _PROBABILITY.search(name.lower())]
    words += ["--probability", drawn[0]] if drawn else []
    return (
        f"this run predicts {choice.label} itself. If {shown[0]} is what was shown, and {choice.label} what "
        f"came of it, then this is a log, and you want: {output.shell(words)}"
    )


def naming_rows(block: Block) -> list[str]:
    """Columns of the context that have another name in each row: nothing can be learned from them."""
    from banditboost.rows.sharing import is_text

    if len(block) < _ROWS_ENOUGH:
        return []
    first = block.rows[0].items()
    texts = [name for name, value in first if isinstance(value, str) and not is_text(value)]
    return [name for name in texts if len({row.get(name) for row in block.rows}) == len(block)]


@dataclass(frozen=True)
class LogChoice:
    """A log and its columns: options of `evaluate`."""

    file: File
    action: Action = None
    reward: Reward = None
    probability: Probability = None
    at_random: AtRandom = False
    estimate_probabilities: Estimated = False
    reward_range: options.RewardRange = None
    least: Least = None
    form: Form = None
    best: Best = 0.0
    time: Time = None
    id: Id = None
    position: Position = None
    context: Context = None
    ignore: options.Ignore = None
    encoding: options.Encoding = None
    separator: options.Separator = None
    decimal: options.Decimal = None

    @property
    def _form(self) -> FormName:
        if self.form is not None:
            return self.form
        found = re.search(r"\.(dsjson|vw)(\.gz|\.zst)?$", self.file.lower())
        return FormName(found[1]) if found else FormName.TABLE

    def _columns(self) -> dict[str, Any]:
        """What names columns of a table."""
        names = ("action", "reward", "probability", "position", "time", "id", "context", "ignore")
        return {name: getattr(self, name) for name in (*names, "encoding", "separator", "decimal")}

    def check(self) -> None:
        """Refuse what cannot be meant, before anything is read."""
        given = [f"--{name}" for name, value in self._columns().items() if value is not None]
        if self._form != FormName.TABLE and given:
            raise typer.BadParameter(f"{given[0]} is for tables; leave it out for {self._form.value}")
        if self._form == FormName.TABLE and (self.action is None or self.reward is None):
            raise typer.BadParameter(
                "a table needs --action COLUMN and --reward COLUMN; for another log say --form dsjson or "
                "--form vw"
            )
        self._check_probabilities()
        self.range()

    def _check_probabilities(self) -> None:
        ways = {
            "--probability": self.probability is not None,
            "--at-random": self.at_random,
            "--estimate-probabilities": self.estimate_probabilities,
        }
        given = [option for option, is_given in ways.items() if is_given]
        if not given and self._form == FormName.TABLE:
            raise typer.BadParameter(
                "nothing is known of the probabilities: name their column with --probability COLUMN; say "
                "--at-random if all was shown at random, all alike; or have them estimated with "
                "--estimate-probabilities"
            )
        if len(given) > 1:
            raise typer.BadParameter(f"{' and '.join(given)} exclude each other; give one of them")

    def range(self) -> tuple[float, float]:
        """The least and the largest reward."""
        return RewardChoice(reward_range=self.reward_range).bounds

    def open(self) -> Log:
        """The log, to be gone through more than once."""
        from banditboost import logs

        if self._form != FormName.TABLE:
            reader = logs.read_dsjson if self._form == FormName.DSJSON else logs.read_vw
            return reader(self.file, best=self.best)
        columns = self._columns()
        listed = {name: options.names(columns.pop(name)) for name in ("ignore", "context")}
        context = None if self.context is None else listed["context"]
        return logs.read(self.file, **columns, context=context, ignore=listed["ignore"])

    def least_of(self, log: Log) -> float | None:
        """What is known of the least probability."""
        return 1.0 / len(log.labels) if self.at_random and self.least is None else self.least

    def told(self, log: Log) -> Iterable[Block]:
        """Blocks with the probabilities that are known."""
        if not self.at_random:
            return log
        return _with(log, dict.fromkeys(log.labels, 1.0 / max(1, len(log.labels))))

    def blocks(self, log: Log, health: Health) -> Iterable[Block]:
        """Blocks with probabilities: those that are known, or estimated ones if these were asked for."""
        if not self.estimate_probabilities:
            return self.told(log)
        output.warn(
            "the probabilities are estimated from how often each action was shown; if what was shown "
            "depended on who came, all values below are wrong, and so are their bounds"
        )
        return _with(log, {action: found.share for action, found in health.actions.items()})


def _with(log: Log, probabilities: dict[Any, float]) -> Iterator[Block]:
    """Blocks in which each action has the probability that is told of it."""
    for block in log:
        told = [probabilities.get(action, math.nan) for action in block.actions.tolist()]
        yield replace(block, probabilities=np.array(told, np.float64))
