"""Rewards that are none: not from 0 to 1, or nothing that can be compared with them."""

from decimal import Decimal

import numpy as np
import pandas as pd

ODD = [
    1.3, -1, 2, np.nan, np.inf, None, "1", b"1", 1j, [], [1], {}, np.zeros(2), np.array(1), object(), int, pd.NA,
    Decimal("sNaN"), 10**5000, np.timedelta64(1), np.datetime64("2020"),
]  # fmt: skip
RIGHT, WRONG = (
    [1, 1.0, True, np.True_, np.int8(1), np.float32(1)],
    [0, 0.0, -0.0, False, np.False_, np.uint8(0)],
)
