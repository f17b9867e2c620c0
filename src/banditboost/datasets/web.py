"""Archives from UCI into the user's cache directory, by pooch.

A file is there whole and checked, or not at all.
"""

import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from banditboost.datasets import cache
from banditboost.datasets.errors import DatasetError
from banditboost.datasets.uci import LARGEST

TIMEOUT = 30.0
"""Seconds without an answer, or between two pieces of one."""


def fetch(
    name: str, urls: Sequence[str], filename: str, *, check: Callable[[Path], object], remedy: str
) -> Path:
    """Try one address after the other; keep the first file that passes `check`."""
    try:
        import pooch
    except ImportError:
        raise DatasetError(
            f"{name!r} is not here yet, and pooch, which downloads it, is not installed: "
            f'pip install "banditboost[cli]", or {remedy}'
        ) from None
    failures = []
    with _own_folder(remedy) as folder, _quiet(pooch.get_logger()):
        for url in urls:
            try:
                path = _retrieve(pooch, url, folder, filename)
                check(path)
            except DatasetError as error:
                failures.append(f"{url} {error}".replace(f"{folder / filename} ", ""))
                (folder / filename).unlink(missing_ok=True)  # or pooch would take it for the next address
            else:
                return path.replace(folder.parent / filename)
    raise DatasetError(f"{name!r} could not be downloaded: {'; '.join(failures)}; try again, or {remedy}")


@contextmanager
def _own_folder(remedy: str) -> Iterator[Path]:
    """A folder inside the cache that is gone afterwards, with what is still in it."""
    other = f"set BANDITBOOST_CACHE to a directory that can be written, or {remedy}"
    if not cache.places():
        raise DatasetError(f"there is no home directory to keep a download in: {other}")
    place = cache.directory()
    try:
        place.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=place, prefix=".download-")
    except OSError as error:
        raise DatasetError(f"cannot write to {place} ({error.strerror}): {other}") from None
    with folder:
        yield Path(folder.name)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _retrieve(pooch: Any, url: str, folder: Path, filename: str) -> Path:
    from requests import exceptions

    try:
        with _bar(filename) as bar:
            downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=TIMEOUT)
            return Path(
                pooch.retrieve(url, known_hash=None, fname=filename, path=folder, downloader=downloader)
            )
    except exceptions.HTTPError as error:
        raise DatasetError(f"answers {error.response.status_code} {error.response.reason}") from error
    except exceptions.Timeout as error:
        raise DatasetError(f"did not answer for {TIMEOUT:g} seconds") from error
    except exceptions.ChunkedEncodingError as error:
        raise DatasetError("stopped in the middle of the file") from error
    except exceptions.ConnectionError as error:
        raise DatasetError(
            f"cannot be reached (is {urlsplit(url).hostname} up, and is this machine on the network?)"
        ) from error
    except exceptions.RequestException as error:
        raise DatasetError(f"failed ({type(error).__name__}: {error})") from error
    except OSError as error:
        raise DatasetError(f"could not be written to {folder.parent} ({error.strerror})") from error
    except DatasetError:
        raise
    except ValueError as error:  # a header that is no number
        raise DatasetError(f"answers with what is no file ({error})") from error


@contextmanager
def _bar(title: str) -> Iterator[Any]:
    """A bar on the terminal, if there is one and rich is there to draw it."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield _Bar(None, title)
        return
    columns = TextColumn(title, markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield _Bar(progress, title)


class _Bar:
    """What pooch moves forward; an archive without end is given up."""

    total = 0  # set by pooch

    def __init__(self, progress: Any, title: str) -> None:
        self._progress = progress
        self._task = progress and progress.add_task(title, total=None)
        self._size = 0

    def update(self, size: int) -> None:
        self._size += size
        if self._size > LARGEST:
            raise DatasetError(f"sends more than {LARGEST >> 20} MiB, which the data has not")
        if self._progress:
            self._progress.update(self._task, advance=size, total=self.total or None)

    def reset(self) -> None:
        """The file is there; pooch fills the bar once more."""
        self._size = 0
        if self._progress:
            self._progress.reset(self._task)

    def close(self) -> None:
        """The bar is taken down by who put it up, also after a failure."""
