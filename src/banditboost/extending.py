"""What a compiled booster of one's own is made of. docs/guide-booster.md shows one.

A booster says in two kernels how it chooses and how it teaches, and puts them into a `Round`. With it
`decide`, `learn` and `play` run at compiled speed, as with the built-in boosters.
"""

from __future__ import annotations

from banditboost.boosting.booster import BanditBooster as BanditBooster
from banditboost.boosting.booster import Scratch as Scratch
from banditboost.boosting.experts import largest_label as largest_label
from banditboost.boosting.exploration import allowed_labels as allowed_labels
from banditboost.boosting.exploration import count_verdict as count_verdict
from banditboost.boosting.exploration import place_of as place_of
from banditboost.boosting.exploration import show as show
from banditboost.boosting.rated import Rated as Rated
from banditboost.boosting.round import Round as Round
from banditboost.compiled.compile import allocating as allocating
from banditboost.compiled.compile import inlined as inlined
from banditboost.compiled.compile import kernel as kernel
from banditboost.compiled.rng import LABEL_TIE as LABEL_TIE
from banditboost.compiled.rng import uniform as uniform
from banditboost.memo import GREEDY as GREEDY
from banditboost.memo import PROBABILITY as PROBABILITY
from banditboost.memo import SHOWN as SHOWN
from banditboost.memo import VOTES as VOTES
from banditboost.trees.forest import score_forest as score_forest
from banditboost.trees.forest import vote_forest as vote_forest

__all__ = [
    "GREEDY",
    "LABEL_TIE",
    "PROBABILITY",
    "SHOWN",
    "VOTES",
    "BanditBooster",
    "Rated",
    "Round",
    "Scratch",
    "allocating",
    "allowed_labels",
    "count_verdict",
    "inlined",
    "kernel",
    "largest_label",
    "place_of",
    "score_forest",
    "show",
    "uniform",
    "vote_forest",
]
