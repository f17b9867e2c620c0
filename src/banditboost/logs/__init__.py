"""Decision logs: what was known, what was shown, what it earned, and with what probability it was chosen.

- `log.py`: `Log`, which is gone through in blocks, and `Block`;
- `tables.py`: `read`, from frames, CSV, JSON lines, Parquet and Arrow, with columns that the user names;
- `option_rows.py`: `read_options`, from tables with a row for each option that was offered;
- `vw.py`: `read_vw` and `read_dsjson`, from Vowpal Wabbit's two forms (Personalizer writes the second);
- `obp.py`: `from_obp`, from the dict of Open Bandit Pipeline, and `to_obp`;
- `offered.py`: features of options, in cells and columns of tables;
- `writing.py`: `write`, to CSV, JSON lines and Parquet, and `to_frame`;
- `vw_writing.py`: `vw_lines` and `dsjson_lines`, Vowpal Wabbit's two forms;
- `health.py`: `check`, a report of what is wrong with a log; `counting.py` counts what it is made from.

The guide is docs/guide-logs.md.
"""

from banditboost.logs.health import Finding, Health, check
from banditboost.logs.log import Block, Log
from banditboost.logs.obp import from_obp, to_obp
from banditboost.logs.option_rows import OptionRows, read_options
from banditboost.logs.tables import read
from banditboost.logs.vw import read_dsjson, read_vw
from banditboost.logs.vw_writing import dsjson_lines, vw_lines
from banditboost.logs.writing import to_frame, write

__all__ = [
    "Block",
    "Finding",
    "Health",
    "Log",
    "OptionRows",
    "check",
    "dsjson_lines",
    "from_obp",
    "read",
    "read_dsjson",
    "read_options",
    "read_vw",
    "to_frame",
    "to_obp",
    "vw_lines",
    "write",
]
