"""The memo of a decision: all that learning from its verdict needs later, as one array of numbers.

    ROUND to LEARNERS   one number each
    from VOTES on       N votes and N learner weights (of GapBoost: the probabilities of labels, if few)
    the row             from `row_start` on, which is the same for all decisions of a model

The numbers of these places are part of stored decisions (docs/format.md): they never change.
"""

from __future__ import annotations

ROUND, SHOWN, GREEDY, CHOSEN_EXPERT, PROBABILITY, RATE, ALLOWED, POLICY, LEARNERS = range(9)
VOTES = 9
# Policies: how the label was drawn.
POLICY_UNIFORM, POLICY_INVERSE_GAPS, POLICY_BY_VOTES = 0, 1, 2
UNIFORM_SHARE = 0.2  # of exploration by votes: what goes to all labels alike
MOST_PROBABILITIES = 32  # that a memo holds: with 20 features it is then under 2 kB as JSON
LEAST_PROBABILITY = 1e-30
"""No label is shown with less: a rate below 2^-53 is never drawn, and fewer than 2^31 labels share it."""
