"""What the ablation changes: a base of AdaBandit, and one thing of it at a time.

One of the changes is recommended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from banditboost.boosting.adaptive import AdaBandit
from banditboost.experiments.learners import make
from banditboost.experiments.paper import FIRST_SEED, paper_parameters
from banditboost.experiments.protocol import PATIENT, STEADY
from banditboost.models.model import Model

COMMON: Final[Mapping[str, Any]] = {"n_learners": 40, "exploration": "divided", "tie_tolerance": 1.0}
"""The same for all streams, with the default trees."""
SEEDS: Final = range(FIRST_SEED, FIRST_SEED + 10)
"""They chose the base, and what is recommended."""
FRESH: Final = range(SEEDS.stop, SEEDS.stop + 10)
"""They did not."""
_NEVER = -1e300


@dataclass(frozen=True)
class Variant:
    """One line of the table: what is changed, and to what."""

    subject: str
    value: str
    changes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    learner: str = "AdaBandit"
    paper: bool = False
    """Changed are the paper's parameters, which differ from stream to stream, not the base."""
    step: float = 1.0
    """Factor of alpha's steps."""
    last_expert: bool = False
    """The last expert is followed, not one drawn by Hedge."""

    @property
    def name(self) -> str:
        return f"{self.learner}: {self.subject}, {self.value}"

    def parameters(self, data: str) -> dict[str, Any]:
        """As `learners.make` takes them."""
        return {**(paper_parameters(data, self.learner) if self.paper else COMMON), **self.changes}

    def make(self, stream: Any, data: str, seed: int) -> Model:
        model = make(self.learner, stream.labels, stream.schema(), self.parameters(data), seed)
        if isinstance(model, AdaBandit):
            scale_steps(model, self.step)
            if self.last_expert:
                follow_last_expert(model)
        return model


def scale_steps(model: AdaBandit, factor: float) -> None:
    """No parameter does this: eta_t is the paper's."""
    model._settings["step"] *= factor


def follow_last_expert(model: AdaBandit) -> None:
    """Hedge starts with the last expert alone; no loss of a stream brings another one back."""
    model._weights[model.n_learners : -1] = _NEVER


def _ranges(trees: Any) -> dict[str, list[float]]:
    return {name: list(values) for name, values in asdict(trees).items()}


BASE: Final = Variant("base", "divided, N = 40")
PAPER: Final = Variant("paper", "its parameters", paper=True)
EXPLORATION: Final = (
    Variant("exploration", "0.001", {"exploration": 0.001}),
    Variant("exploration", "0.01", {"exploration": 0.01}),
    Variant("exploration", "0.1", {"exploration": 0.1}),
    Variant("exploration", "theory", {"exploration": "theory"}),
    Variant("exploration", "decaying", {"exploration": "decaying"}),
    Variant("exploration", "adaptive", {"exploration": "adaptive"}),
)
HEAVIER: Final = Variant("importance", "x 3", {"importance_scale": 3})
ADAPTIVE_LEAVES: Final = Variant("leaves", "adaptive", {"leaf_prediction": "adaptive"})
RECOMMENDED: Final = ADAPTIVE_LEAVES
"""The base with this change, the same on all streams."""
OTHERS: Final = (
    Variant("importance", "x 0.3", {"importance_scale": 0.3}),
    HEAVIER,
    Variant("leaves", "naive Bayes", {"leaf_prediction": "naive_bayes"}),
    ADAPTIVE_LEAVES,
    Variant("tie tolerance", "1e-9", {"tie_tolerance": 1e-9}),
    Variant("learners", "10", {"n_learners": 10}),
    Variant("learners", "20", {"n_learners": 20}),
    Variant("learners", "80", {"n_learners": 80}),
    Variant("estimator", "(3)", {"estimator": 3}),
    Variant("expert", "the last", last_expert=True),
    Variant("alpha step", "x 0.1", step=0.1),
    Variant("alpha step", "x 10", step=10.0),
    Variant("tree ranges", "patient", _ranges(PATIENT)),
    Variant("tree ranges", "steady", _ranges(STEADY)),
    Variant("clip", "10", {"clip": 10}),
    Variant("clip", "1000", {"clip": 1000}),
)
OTHER_BOOSTERS: Final = (
    Variant("paper", "its parameters", learner="OptBandit", paper=True),
    Variant("exploration", "adaptive", {"exploration": "adaptive"}, learner="OptBandit", paper=True),
    Variant("exploration", "divided", {"exploration": "divided"}, learner="OptBandit", paper=True),
    Variant("paper", "its parameters", learner="BinBandit", paper=True),
    Variant("exploration", "adaptive", {"exploration": "adaptive"}, learner="BinBandit", paper=True),
)
PROMISING: Final = (HEAVIER, ADAPTIVE_LEAVES)
"""Better than the base on several streams with the seeds of the table; played with fresh ones, too."""
VARIANTS: Final = (BASE, PAPER, *EXPLORATION, *OTHERS, *OTHER_BOOSTERS)
