"""Tables of the user: files of any size and frames, read as streams of numbers and codes.

- `reading.py`: `read` and `open_file`, the two doors;
- `columns.py`: what a column is (numeric, nominal, or refused), found while its batches pass by;
- `cells.py`: the form in which every source hands over a batch of a column;
- `csv_files.py`, `json_files.py`, `arrow_files.py`, `frames.py`: the sources;
- `paths.py`: from a path to its source, with what is wrong with it.
"""

from banditboost.datasets.tables.reading import TableFile, open_file, read

__all__ = ["TableFile", "open_file", "read"]
