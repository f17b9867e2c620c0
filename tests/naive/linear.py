"""The cost-sensitive linear learner, all rows kept: ridge regression solved anew for every question.

A row becomes z: a constant 1, the numbers standardised by mean and deviation of the values up to and
including this row, and a 1 for each nominal value. A row that was learned stays as it was standardised then.
"""

import math


class CostSensitiveLinear:
    def __init__(self, nominal=(), ridge=1.0, clip=math.inf):
        self.nominal, self.ridge, self.clip = set(nominal), ridge, clip
        self.seen = {}  # column -> its numbers so far
        self.inputs = ["constant"]  # then (column, "number") or (column, value), in the order they came
        self.lessons = []  # (z by input, target by label)
        self.k = 2

    def z(self, x):
        z = {"constant": 1.0}
        for column, value in enumerate(x):
            if math.isnan(value):
                continue
            if column in self.nominal:
                z[column, int(value)] = 1.0
            elif self.seen.get(column):
                numbers = self.seen[column]
                mean = sum(numbers) / len(numbers)
                deviation = math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))
                if len(set(numbers)) > 1:
                    z[column, "number"] = (value - mean) / deviation
        return z

    def learn_costs(self, x, costs):
        self.k = max(self.k, len(costs))
        for column, value in enumerate(x):
            if column not in self.nominal:
                self.seen.setdefault(column, [])
                if not math.isnan(value):
                    self.seen[column].append(value)
        z = self.z(x)
        for key in z:
            if key not in self.inputs:
                self.inputs.append(key)
        differences = [min(cost - min(costs), self.clip) for cost in costs]
        mean = sum(differences) / len(differences)
        self.lessons.append((z, [difference - mean for difference in differences]))

    def learn(self, x, label, weight):
        k = max(self.k, label + 1)
        self.learn_costs(x, [0.0 if other == label else weight / (k - 1) for other in range(k)])

    def weights(self, label):
        """The minimiser of sum over lessons of (target - w . z)^2 + ridge |w|^2."""
        d = len(self.inputs)
        A = [[self.ridge if i == j else 0.0 for j in range(d)] for i in range(d)]
        b = [0.0] * d
        for z, targets in self.lessons:
            row = [z.get(key, 0.0) for key in self.inputs]
            target = targets[label] if label < len(targets) else 0.0
            for i in range(d):
                b[i] += row[i] * target
                for j in range(d):
                    A[i][j] += row[i] * row[j]
        return solve(A, b)

    def expected_costs(self, x):
        z = self.z(x)
        row = [z.get(key, 0.0) for key in self.inputs]
        costs = []
        for label in range(self.k):
            w = self.weights(label)
            costs.append(sum(w[i] * row[i] for i in range(len(row))))
        return costs

    def predict(self, x):
        costs = self.expected_costs(x)
        return costs.index(min(costs))


def solve(A, b):
    """Gaussian elimination; A is positive definite."""
    A, b, d = [list(row) for row in A], list(b), len(b)
    for i in range(d):
        for j in range(i + 1, d):
            factor = A[j][i] / A[i][i]
            for m in range(i, d):
                A[j][m] -= factor * A[i][m]
            b[j] -= factor * b[i]
    x = [0.0] * d
    for i in reversed(range(d)):
        x[i] = (b[i] - sum(A[i][j] * x[j] for j in range(i + 1, d))) / A[i][i]
    return x
