"""What a log says of three policies, with loops: imports nothing from the package."""

from __future__ import annotations


def evaluation(decisions, start, end):
    """Sums of each policy.

    `decisions` are dicts: at, arm, label, allowed, probability, reward (None if none was learned).
    """
    found = {}
    for policy in ("Online", "Baseline", "Random"):
        rows = shown = 0
        weights = weighted = 0.0
        for decision in decisions:
            if not start <= decision["at"] <= end or decision["reward"] is None:
                continue
            allowed, p = decision["allowed"], decision["probability"]
            chosen_by_lot = decision["arm"] == "model" or abs(p * len(allowed) - 1.0) < 1e-9
            if policy == "Online":
                if decision["arm"] != "model":
                    continue
                share = p
            elif policy == "Baseline":
                share = 1.0 if decision["label"] == allowed[0] else 0.0
            else:
                if not chosen_by_lot:
                    continue
                share = 1.0 / len(allowed)
            rows += 1
            shown += share > 0.0
            weights += share / p
            weighted += share / p * decision["reward"]
        found[policy] = {
            "rows": rows,
            "shown": shown,
            "weights": weights,
            "weighted": weighted,
            "estimate": weighted / weights if weights else None,
        }
    return found
