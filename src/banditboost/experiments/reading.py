"""The mode "text", place by place: what the paper's text says, and what is done where it is silent.

A place may settle parameters of the boosters, of their trees or of a stream. Every parameter belongs to a
place (tests/experiments/test_reading.py), so none is left at a default that nobody chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Place:
    """One thing that has to be settled before the experiments can be played."""

    topic: str
    text: str
    """What the text says; empty if it says nothing."""
    choice: str
    """What is played."""
    parameters: tuple[str, ...] = ()
    """What it settles: names of parameters of boosters and trees, and fields of a `Source`."""


SPOKEN: Final = (
    Place(
        "Streams",
        "data sets are duplicated and shuffled; StreamCnt has the rounds",
        "as often as StreamCnt says, shuffled once as a whole",
        ("repeat", "shuffle", "rounds"),
    ),
    Place(
        "Data sets",
        "Mice: missing values are 0; Movement: sensor columns alone, without the data point that has missing "
        "values; Isolet: 50 principal components that keep 80 % of the variance",
        "so; Isolet's columns are standardised, since centred ones keep 83.5 % and standardised ones 80.4 %; "
        "Movement then has 165,632 rows, where the paper prints 165,631",
        ("name", "variant"),
    ),
    Place("N of the bandit boosters", "Table 4", "so", ("n_learners",)),
    Place("Learners of BinBandit", "10 k", "10 for each label", ("n_learners",)),
    Place("gamma", "0.1", "so", ("edge",)),
    Place("rho", "Table 4, one rate for the three bandit boosters", "so", ("exploration",)),
    Place("The estimate of the loss", "equation (4)", "so", ("estimator",)),
    Place("Weak learners", "VFDT", "Hoeffding trees with importance weights", ("weak_learner",)),
    Place(
        "Label and weight of an example",
        "l = argmin_j chat_j and w = sum_j (chat_j - chat_l); of several minima the true label in a correct "
        "round if it is one, else a random one",
        "so, for the two full-information boosters, too",
        ("lesson",),
    ),
    Place(
        "Clipping",
        "entries of cost vectors outside [-100, 100]",
        "so, before label and weight are taken; BinBandit has no cost vectors and is not clipped",
        ("clip",),
    ),
    Place(
        "Weights of the full-information boosters",
        "the same w",
        "so, unscaled",
        ("importance_scale",),
    ),
    Place("Scores", "Table 1: the last 20 % of the rounds; Table 2: all", "so"),
    Place("Curves", "moving average over 0.2 of all rounds", "so; and over all rounds so far before that"),
)
SILENT: Final = (
    Place(
        "Ranges of the trees",
        "",
        "those of the published program: each tree draws its own; OptBandit and AdaBandit have others than "
        "BinBandit, OptFull and AdaFull",
        ("grace_period", "tie_threshold", "split_confidence"),
    ),
    Place(
        "VFDT in detail",
        "",
        "docs/trees.md, rule by rule: majority leaves, grace period and bound count weight",
        ("leaf_prediction", "min_branch_fraction", "max_columns"),
    ),
    Place("Change", "the world stays as it is", "nobody looks for changes", ("restart_on_change",)),
    Place("N of the full-information boosters", "", "20, as in the published program", ("n_learners",)),
    Place(
        "Isolet's scale",
        "importance weights are scaled, no factor is given, nor for which boosters",
        "1 / (k - 1) for OptBandit and AdaBandit, as in the published program; 1 for the other three",
        ("importance_scale",),
    ),
    Place("Seeds", "20 random seeds, 10 of them for Isolet and Movement", "4 to 23, and 4 to 13", ("seed",)),
    Place("What a seed is for", "", "it shuffles the stream and is the model's", ("seed",)),
    Place("Potentials", "Monte Carlo can be used; no size", "exact"),
    Place("Ties in a potential", "", "phi_0 shares a tie for the lead uniformly"),
    Place("Ties among votes", "broken arbitrarily", "uniformly at random"),
    Place(
        "What counts as a tie in a cost vector",
        "",
        "entries within 1e-9, relative to 1 and the size of the minimum",
        ("tie_tolerance",),
    ),
    Place("A flat cost vector", "", "a weight below 1e-10 teaches nothing"),
    Place("What a weak learner predicts", "", "the majority class of the leaf; ties at random"),
    Place(
        "Steps of full information",
        "not in this paper",
        "2 sqrt(2) / ((k - 1) sqrt(t)) for AdaFull, of Jung, Goetz and Tewari (2017); Hedge with exp(-1)",
    ),
    Place("Hedge's underflow", "", "weights are kept as logarithms, so that no expert is lost for good"),
    Place(
        "BinBandit's formulas",
        "a citation of Chen, Lin and Lu (2014)",
        "smooth boosting within the shown label's group: weight min((1 - gamma)^(z/2), 1) / p, hinge steps "
        "on the simplex, Laplace's rule in the leaves",
        ("step",),
    ),
    Place(
        "BinBandit's gamma and delta",
        "",
        "gamma = 0.1; delta = rho k / (k - 1): its rates are those of (2)",
        ("edge",),
    ),
    Place("Which label is scored", "", "the label that was shown, after exploration"),
    Place(
        "Kinds of columns",
        "",
        "Balance four numbers; Car's doors and persons and Nursery's children numbers, their other columns "
        "nominal; the rest numbers",
    ),
    Place("Nursery's classes", "k = 4 in Table 1, 8 in the summary", "all five classes, all 12,960 rows"),
    Place(
        "The search of Table 4",
        "a grid search on a random stream; Count has the rounds",
        "rates 0.0003, 0.001, 0.003, ..., 0.3, five streams; one Movement row more than printed",
    ),
    Place(
        "The search for N",
        "multiples of five for each bandit algorithm and data set",
        "5 to 40 for OptBandit and AdaBandit, on the streams of Table 4 with the chosen rho, five streams",
    ),
    Place("Memory", "", "a model may take 256 MiB", ("max_memory",)),
)


def table() -> str:
    """All places as a Markdown table, those where the text is silent first.

    >>> table().splitlines()[0]
    '| | the text | what is played |'
    """
    lines = ["| | the text | what is played |", "|---|---|---|"]
    for place in (*SILENT, *SPOKEN):
        lines.append(f"| {place.topic} | {place.text or '-'} | {place.choice} |")
    return "\n".join(lines)
