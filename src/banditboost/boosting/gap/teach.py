"""Lines 12 to 15 and 17 for GapBoost: the shown label's chain and regressions learn its reward.

docs/gapboost.md is the specification.
"""

from __future__ import annotations

from typing import Any

from banditboost.boosting.change import has_fallen, has_risen, note_change
from banditboost.boosting.gap.chain import (
    keep_norm,
    list_row,
    list_stages,
    note_norm,
    note_values,
    score_group,
    score_shared_of,
    step_stage,
)
from banditboost.boosting.gap.choose import ask_chains, leave_words_out
from banditboost.boosting.gap.experts import (
    clip,
    count_prefixes,
    draw_rest,
    judge,
    least_loss,
    weigh_experts,
    wide_rests,
)
from banditboost.boosting.gap.late import learn_late
from banditboost.boosting.gap.regression import (
    counts_narrow,
    counts_wide,
    forget_lessons,
    narrow,
    ridge_answer,
    step_ridge,
    wide,
)
from banditboost.boosting.gap.state import LANES, STAGES
from banditboost.boosting.gap.words import note_claims, note_shared
from banditboost.boosting.round import teach_trees
from banditboost.compiled.compile import inlined, kernel
from banditboost.inspection.changes import ANEW
from banditboost.inspection.tally import times_learned
from banditboost.memo import GREEDY, SHOWN
from banditboost.types import Array

LEAST_LESSON = 1e-3  # a tree that is asked for less is left alone
LITTLE = 1.0  # most of a sum of squared gradients after a change: of a lesson or so
RISES_AFTER = 5_000  # verdicts without a change: before, the model is learning, and exploring more
MOST_EAGER = 512  # labels; of more, each has a chain from its first reward above 0 on, not from its first one


@inlined
def first_learner(model: Any, memo: Array, reward: float) -> int:
    """Of the shown label's chain; -1 if that is yet to be made.

    Of many labels, one without a chain and a reward teaches nobody: the first chain is named, with an empty
    lesson.
    """
    group = model.learned.groups[int(memo[SHOWN])]
    if group < 0 and reward == 0.0 and model.settings.n_labels > MOST_EAGER:
        return 0
    return max(-1, group * model.settings.n_learners)


@inlined
def is_beyond(answer: float, y: float) -> bool:
    """Whether an answer is at or beyond the end of [-1, 1] that y is at: there is nothing to learn then."""
    return answer >= 1.0 if y >= 1.0 else y <= -1.0 and answer <= -1.0


@inlined
def teach_narrow(model: Any, group: int, y: float) -> float:
    """Judge the narrow regression, which then learns. Returns its part in the score."""
    losses = model.learned.losses
    if not counts_narrow(model.scratch):
        return 0.0
    answer = score_shared_of(model, group) + ridge_answer(narrow(model), group)
    judge(losses, losses.size - 2, answer, y)
    step_ridge(narrow(model), group, y - answer)
    part: float = model.scratch.trust[losses.size - 2] * clip(answer)
    return part


@inlined
def wide_learns(model: Any, draw: float) -> bool:
    """Whether there is a wide regression that is not at rest."""
    losses, scratch = model.learned.losses, model.scratch
    if not counts_wide(scratch):
        return False
    return not wide_rests(losses[losses.size - 1] - least_loss(losses, counts_narrow(scratch), True), draw)


@inlined
def teach_wide(model: Any, group: int, n_verdicts: float, y: float) -> float:
    """Judge the wide regression before it learns; like the stages, it learns only what it has not foreseen.
    The label had so many verdicts before this one. Returns its part in the score.
    """
    losses, shared = model.learned.losses, score_shared_of(model, group)
    answer = shared + ridge_answer(wide(model), group)
    judge(losses, losses.size - 1, answer, y)
    if not is_beyond(answer, y):
        learn_late(model, wide(model), group, n_verdicts, y - shared)
    part: float = model.scratch.trust[losses.size - 1] * clip(answer)
    return part


@inlined
def note_row(model: Any, x: Array) -> None:
    """What the row adds to the statistics of columns and shared places."""
    note_values(model.features, model.layout.real, model.learned.statistics, x)
    note_shared(model.features, model.learned.places, x)


@inlined
def teach_nobody(model: Any, x: Array) -> None:
    """A label without a chain and a reward, one of many: the row is noted, and nobody learns."""
    labels, importance = model.scratch.labels, model.scratch.importance
    list_stages(model, STAGES)
    for stage in range(STAGES):
        note_norm(model, stage)
    for i in range(labels.size):
        labels[i], importance[i] = 0, 0.0
    note_row(model, x)


@inlined
def teach_chains(model: Any, first: int, x: Array, taught: int) -> int:
    """Line 16: the trees of the shown label's chain learn, from a row without words."""
    if model.scratch.columns.size > 0:
        leave_words_out(model, x)
        return teach_trees(model, first, model.scratch.columns, taught)
    return teach_trees(model, first, x, taught)


@inlined
def teach_prefixes(model: Any, x: Array, group: int, n_taught: int, prefix: float, y: float) -> float:
    """Write down what each of the first trees is to learn: what the prefix before it gets wrong. Returns what
    prefixes with these trees add to the score.
    """
    learned, scratch, score = model.learned, model.scratch, 0.0
    labels, importance = scratch.labels, scratch.importance
    ask_chains(model, group * labels.size, labels.size, n_taught, x, importance[:n_taught])
    for i in range(n_taught):
        weight, answer = 0.0 if is_beyond(prefix, y) else abs(y - prefix), importance[i]
        labels[i] = 1 if y > prefix else 0
        importance[i] = weight if weight > LEAST_LESSON else 0.0
        prefix += answer
        score += scratch.trust[STAGES + i] * clip(prefix)
        judge(learned.losses, STAGES + i, prefix, y)
    return score


@kernel
def teach_group(model: Any, x: Array, group: int, n_verdicts: float, y: float, key: int) -> float:
    """Teach a chain of so many verdicts, and its regressions, a row whose list is there, and write down what
    its trees are to learn. Prefixes far behind rest, in most rounds.

    Returns the score from before the lesson, by the experts that learn.
    """
    learned, scratch = model.learned, model.scratch
    labels, importance = scratch.labels, scratch.importance
    draw = draw_rest(learned.counts.verdicts, key)
    n_prefixes, with_wide = count_prefixes(learned.losses, draw), wide_learns(model, draw)
    n_stages = min(n_prefixes, STAGES)
    weigh_experts(learned.losses, counts_narrow(scratch), with_wide, scratch.trust)
    list_stages(model, model.layout.reads[0])
    score = teach_narrow(model, group, y)
    if with_wide:
        list_stages(model, model.layout.reads[1])
        score += teach_wide(model, group, n_verdicts, y)
    note_claims(model, group, 0.5 * (1.0 + y))
    list_stages(model, n_stages)
    prefix = 0.0
    for stage in range(n_stages):
        prefix += score_group(model, stage, group)
        score += scratch.trust[stage] * clip(prefix)
        judge(learned.losses, stage, prefix, y)
        if not is_beyond(prefix, y) and scratch.bounds[stage] < scratch.bounds[stage + 1]:
            step_stage(model, stage, group, y - prefix)
        else:
            note_norm(model, stage)
    for stage in range(n_stages, STAGES):
        keep_norm(model, stage)
    for i in range(labels.size):
        labels[i], importance[i] = 0, 0.0
    if n_prefixes > STAGES:
        score += teach_prefixes(model, x, group, n_prefixes - STAGES, prefix, y)
    note_row(model, x)
    return score


@kernel
def learn_anew(model: Any, label: int, group: int) -> None:
    """What a label's chain and regressions have learned stays; they learn on nearly as at the beginning."""
    weights, shared, block, lane = model.learned.weights, model.learned.shared, group // LANES, group % LANES
    model.watch.beliefs[label, ANEW] = 1.0
    forget_lessons(model.learned.narrow, group)
    forget_lessons(model.learned.wide, group)
    for slot in range(weights.shape[2]):
        weights[1, block, slot, lane] = min(weights[1, block, slot, lane], LITTLE)
    for place in range(shared.shape[2]):
        shared[1, block, place, lane] = min(shared[1, block, place, lane], LITTLE)


@kernel
def look_for_change(model: Any, memo: Array, reward: float, foreseen: float) -> None:
    """If the shown label's rewards have fallen below what was foreseen, nothing is certain any more; if those
    of a label that was only tried have risen, that label is not.
    """
    shown, counts = int(memo[SHOWN]), model.learned.counts
    if memo[SHOWN] != memo[GREEDY] and has_risen(
        model.watch.beliefs, shown, reward, foreseen, counts.verdicts - counts.began > RISES_AFTER
    ):
        learn_anew(model, shown, model.learned.groups[shown])
    if has_fallen(model.watch.beliefs, shown, reward, foreseen):
        note_change(model, float(shown))
        for label in range(model.learned.groups.size):
            if model.learned.groups[label] >= 0:
                learn_anew(model, label, model.learned.groups[label])


@kernel
def teach(model: Any, memo: Array, reward: float, key: int) -> None:
    """The chain of the shown label learns its reward, if it has one."""
    x = memo[model.settings.row_start :]
    shown, learned = int(memo[SHOWN]), model.learned
    group, n_verdicts = learned.groups[shown], times_learned(learned.tally, shown)
    list_row(model, x)
    learned.counts.verdicts += 1
    if group < 0:
        teach_nobody(model, x)
    else:
        score = teach_group(model, x, group, n_verdicts, 2.0 * reward - 1.0, key)
        look_for_change(model, memo, reward, 0.5 * (1.0 + score))
