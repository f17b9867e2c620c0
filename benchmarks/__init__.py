"""How fast a round is: `python -m benchmarks.rounds` beside the peers, `python -m benchmarks.scaling` against
size.

Everything runs on one pinned core, and time is CPU time of the process, so that other work on the machine
matters little.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported
