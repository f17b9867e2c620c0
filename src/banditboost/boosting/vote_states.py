"""Vote counts as states: a number for every multiset of counts, and a table of bounded size that finds what
is known about it.

Which label has which votes does not matter to the potential, only how many labels have how many. So a state
is a histogram: `histogram[c]` labels have c votes. Its positive counts are a partition of the votes cast, and
partitions can be numbered without gaps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from banditboost.compiled.compile import kernel

IntArray = npt.NDArray[np.int64]

# partitions of more votes would still fit int64 (up to about 390), but tables for them would no longer be
# small
MOST_VOTES = 200
EMPTY = -1


def count_partitions(n_votes: int) -> IntArray:
    """`[m, j]`: in how many ways m votes are made of counts of at least j; `[m, 0]`: how many states have
    fewer than m votes.

    >>> counts = count_partitions(5)
    >>> [int(n) for n in counts[5]]  # 12 states before; 7 partitions of five, two without ones
    [12, 7, 2, 1, 1, 1, 0]
    """
    counts = np.zeros((n_votes + 1, n_votes + 2), dtype=np.int64)
    counts[0, 1:] = 1
    for m in range(1, n_votes + 1):
        for least in range(m, 0, -1):
            counts[m, least] = counts[m, least + 1] + counts[m - least, least]
    counts[1:, 0] = np.cumsum(counts[:-1, 1])
    return counts


@kernel
def state_key(partitions: IntArray, histogram: IntArray, n_votes: int) -> int:
    """The number of this state among all states, those with fewer votes first."""
    key: int = partitions[n_votes, 0]
    rest = n_votes
    least = 1
    count = 1
    while rest > 0:
        labels = histogram[count]
        if labels > 0:
            # In the order used here, partitions of the rest that begin with a smaller count come before.
            # Repeats of a count add nothing.
            key += partitions[rest, least] - partitions[rest, count]
            rest -= count * labels
            least = count
        count += 1
    return key


@kernel
def find_slot(keys: IntArray, key: int) -> int:
    """The slot that holds `key`, or the free one where it belongs.

    The number of slots is a power of two, and some are free.
    """
    mask = keys.size - 1
    # Small key spaces (N up to 30 or so) map one to one. Larger ones are folded: neighbours stay neighbours,
    # which suits the cache.
    slot = (key ^ (key >> 17) ^ (key >> 34)) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & mask
    return slot


@kernel
def count_class(histogram: IntArray, count: int) -> int:
    """The place of `count` among the distinct counts that occur, in ascending order."""
    place = 0
    for smaller in range(count):
        if histogram[smaller] > 0:
            place += 1
    return place
