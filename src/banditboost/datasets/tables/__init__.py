"""Tables of the user: files of any size and frames, read as streams of numbers and codes.

- `reading.py`: `read` and `open_file`, two doors;
- `table_file.py`: a table that stays in its file;
- `findings.py`: what is found of a column while its batches pass by;
- `columns.py`, `word_columns.py`: what a column is (numeric, nominal, dates, words, or refused);
- `numerals.py`, `days.py`: texts that are numbers, amounts or dates;
- `cells.py`: the form in which every source hands over a batch of a column;
- `nested.py`: objects in cells;
- `csv_files.py`, `json_files.py`, `arrow_files.py`, `frames.py`: the sources;
- `text_files.py`: text, plain or packed, in any encoding;
- `folders.py`: many files that are one table;
- `paths.py`: from a path to its source, with what is wrong with it;
- `checking.py`: `check`, the third door. What it finds is in `encodings.py`, `marks.py` (the decimal mark),
  `labels.py` and `verdicts.py` (what a column is taken for), from what `profiles.py` remembers of columns.
"""

from banditboost.datasets.tables.checking import ColumnCheck, TableCheck, check
from banditboost.datasets.tables.reading import open_file, read
from banditboost.datasets.tables.table_file import TableFile

__all__ = ["ColumnCheck", "TableCheck", "TableFile", "check", "open_file", "read"]
