"""Values of policies from logs, by definition: a loop for every sum, an integral for every mixture.

rows are (reward in [0, 1], logged probability, the policy's probability of the logged action); with a model,
also (q of the logged action, mean of q under the policy).
"""

import math


def ips(rows):
    total = 0.0
    for u, p, pi in rows:
        total += pi / p * u
    return total / len(rows)


def snips(rows):
    total = weights = 0.0
    for u, p, pi in rows:
        total += pi / p * u
        weights += pi / p
    return total / weights


def clipped(rows, most):
    total = 0.0
    for u, p, pi in rows:
        total += min(pi / p, most) * u
    return total / len(rows)


def doubly_robust(rows, switch=math.inf):
    """With a switch: above it the model is believed (Wang, Agarwal and Dudik 2017)."""
    total = 0.0
    for u, p, pi, q, mean in rows:
        total += mean
        if pi / p <= switch:
            total += pi / p * (u - q)
    return total / len(rows)


def cut_score(u, p, pi, action, q, others, k):
    """phi of arXiv 2210.10768, section 2.2: `others` are (pi(b), h(b)) of all labels b."""
    w = pi / p
    score = w * (u - (min(q[action], k / w) if w > 0 else q[action]))
    for b in range(len(q)):
        pi_b, h_b = others[b]
        if pi_b > 0:
            score += pi_b * min(q[b], k * h_b / pi_b)
    return score


# Confidence sequences


def psi(rate):
    return -math.log(1 - rate) - rate


def guesses(scores, cap):
    """Of each score from those before it."""
    made, total = [], 0.0
    for t in range(len(scores)):
        made.append(min((total + 0.5) / (t + 1), cap))
        total += scores[t]
    return made


def wealth(s, v, steps=2_000):
    """The mixture with rho = 1: exp(rate s - psi(rate) v) with the density exp(rate) / (e - 1) on [0, 1)."""
    total = 0.0
    for i in range(steps + 1):
        rate = i / steps
        if rate == 1.0:
            value = math.exp(s + v + 1.0) if v == 0.0 else 0.0
        else:
            value = math.exp(rate * s - psi(rate) * v + rate)
        total += value * (1 if i in (0, steps) else 4 if i % 2 else 2)
    return total / (3 * steps) / (math.e - 1)


def log_g(a, x):
    """log of the sum of x^n / (a (a + 1) ... (a + n)), term by term."""
    term = 1.0 / a
    terms, n = [term], 0
    while term > 1e-20 * terms[0] or x > a + n:
        n += 1
        term *= x / (a + n)
        terms.append(term)
    return math.log(math.fsum(terms))


def lower_bound(scores, cap, alpha):
    """The least mean that the wealth does not speak against, by bisection."""
    v = 0.0
    for score, guess in zip(scores, guesses(scores, cap), strict=True):
        v += (score - guess) ** 2
    total, low, high = sum(scores), -3.0, sum(scores) / len(scores)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if wealth(total - len(scores) * middle, v) > 1 / alpha else (low, middle)
    return low


def planned_bound(scores, cap, alpha, rows):
    """Predictable plug-in empirical Bernstein for a number of rows (arXiv 2010.09686, theorem 2)."""
    rated = rates = price = 0.0
    squares = 0.25
    for t, (score, guess) in enumerate(zip(scores, guesses(scores, cap), strict=True)):
        rate = min(math.sqrt(2 * math.log(2 / 0.05) / (squares / (t + 1) * rows)), 0.5)
        rated += rate * score
        rates += rate
        price += psi(rate) * (score - guess) ** 2
        squares += (score - guess) ** 2
    return (rated - price - math.log(1 / alpha)) / rates


# Empirical likelihood, with one row of the weight `unseen`


def tilted(rows, unseen, kappa):
    """The q that minimise sum (N q_i - 1)^2 / (2 N) + kappa sum q_i w_i u_i while sum q = sum q w = 1; the unseen
    row's reward is 0.
    """
    ws = [pi / p for _, p, pi in rows] + [unseen]
    wus = [pi / p * u for u, p, pi in rows] + [0.0]
    n = len(ws)
    # N q_i = 1 + a + b w_i - kappa w_i u_i: two equations for a and b.
    m1, m2 = sum(ws) / n, sum(w * w for w in ws) / n
    g1, g2 = sum(wus) / n, sum(w * wu for w, wu in zip(ws, wus, strict=True)) / n
    right1, right2 = kappa * g1, 1 - m1 + kappa * g2
    b = (right2 - m1 * right1) / (m2 - m1 * m1)
    a = right1 - b * m1
    return [(1 + a + b * w - kappa * wu) / n for w, wu in zip(ws, wus, strict=True)], ws, wus


def divergence(q):
    return sum((len(q) * share - 1) ** 2 for share in q)


def likelihood_value(rows, unseen):
    q, ws, wus = tilted(rows, unseen, 0.0)
    seen = sum(share * w for share, w in zip(q[:-1], ws[:-1], strict=True))
    mean = sum(u for u, _, _ in rows) / len(rows)
    return sum(share * wu for share, wu in zip(q, wus, strict=True)) + max(0.0, 1 - seen) * mean


def likelihood_lowest(rows, unseen, limit):
    """The least sum q w u with at most this divergence."""
    low, high = 0.0, 1.0
    while divergence(tilted(rows, unseen, high)[0]) < limit:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(tilted(rows, unseen, middle)[0]) < limit else (low, middle)
    q, _, wus = tilted(rows, unseen, low)
    return sum(share * wu for share, wu in zip(q, wus, strict=True))
