"""Lines 12 to 15 and 17 for OptionBoost: the one chain learns the reward of the shown option.

docs/optionboost.md is the specification.
"""

from __future__ import annotations

from typing import Any

from banditboost.boosting.gap.chain import list_row, list_stages
from banditboost.boosting.gap.options.lines import judge_lines, list_line, teach_line
from banditboost.boosting.gap.options.own import mean_missed, note_own
from banditboost.boosting.gap.options.state import CHAIN, ID, SCORE
from banditboost.boosting.gap.options.wide import teach_wide
from banditboost.boosting.gap.regression import has_columns
from banditboost.boosting.gap.teach import teach_group
from banditboost.compiled.compile import inlined, kernel
from banditboost.inspection.tally import note_reward
from banditboost.memo import GREEDY, PROBABILITY, SHOWN
from banditboost.types import Array, Record


@kernel
def teach_option(model: Any, memo: Array, reward: float, key: int) -> None:
    """The context and the shown option are a row of the chain; what its score missed is its id's."""
    x, y = memo[model.settings.row_start :], 2.0 * reward - 1.0
    list_row(model, x)
    model.learned.counts.verdicts += 1
    if model.wide_row.product.size > 0 and has_columns(model.scratch):
        list_stages(model, 2)
        teach_wide(model, y)
    teach_group(model, x, CHAIN, model.learned.counts.verdicts - 1.0, y, key)
    teach_own(model, memo[ID], memo[SCORE], y)


@inlined
def teach_own(model: Any, number: float, score: float, y: float) -> None:
    """What is special to an id learns what its score has missed."""
    list_line(model)
    judge_lines(model, number, score, mean_missed(model.learned.own, number), y)
    note_own(model.learned.own, number, y - score)
    teach_line(model, number, y - score)


@inlined
def note_option(settings: Record, tally: Array, memo: Array, told: float) -> None:  # noqa: ARG001 (graded)
    """All options count as one."""
    note_reward(tally, 0, memo[SHOWN] != memo[GREEDY], memo[PROBABILITY], told)
