"""What a log says of three policies, with loops: imports nothing from the package."""

from __future__ import annotations


def evaluation(decisions, start, end):
    """Sums of each policy, and the self-normalised estimate where the rows tell it.

    `decisions` are dicts: at, arm, label, allowed, probability, ranking (pairs), reward (None if none was
    learned).
    """
    found = {}
    for policy in ("Online", "Baseline", "Random"):
        rows = shown = 0
        weights = weighted = 0.0
        told = True
        for decision in decisions:
            if not start <= decision["at"] <= end or decision["reward"] is None:
                continue
            allowed, p, label = decision["allowed"], decision["probability"], decision["label"]
            share = None
            if policy == "Baseline":
                share = 1.0 if label == allowed[0] else 0.0
            elif policy == "Random":
                share = 1.0 / len(allowed)
            elif decision["arm"] == "model":
                share = p
            else:
                for place, q in decision["ranking"]:
                    if place == label:
                        share = q
            if share is None:
                continue
            chosen_by_lot = decision["arm"] == "model" or abs(p * len(allowed) - 1.0) < 1e-9
            if not chosen_by_lot and share < 1.0:
                told = False
            rows += 1
            shown += share > 0.0
            weights += share / p
            weighted += share / p * decision["reward"]
        found[policy] = {
            "rows": rows,
            "shown": shown,
            "weights": weights,
            "weighted": weighted,
            "estimate": weighted / weights if weights and told else None,
        }
    return found
