"""The container by itself: bytes as documented, replaced at once or not at all, and clear words for every
file that is not sound.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost.errors import BanditBoostError, ModelFileError
from banditboost.io import container, upgrades
from tests.io.models import HALF, forge, raw_file, raw_header, trained

PAIR = np.dtype([("label", "i4"), ("weight", "f8")], align=True)


def some_arrays() -> dict[str, np.ndarray]:
    records = np.array([(1, 0.5), (2, -0.0)], PAIR)
    return {
        "records": records,
        "matrix": np.arange(6.0).reshape(2, 3),
        "none": np.zeros((0, 4)),
        "bits": np.array([1, 2, 255], np.uint8),
    }


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.bb"
    trained("AdaBandit").save(path)
    return path


@pytest.fixture
def saved(model_file: Path, tmp_path: Path) -> Path:
    """A copy, for tests write on it."""
    return Path(shutil.copy(model_file, tmp_path))


def refusal(path: Path) -> str:
    """How both ways of reading refuse a file."""
    with pytest.raises(ModelFileError) as error:
        banditboost.load(path)
    with pytest.raises(ModelFileError):
        banditboost.io.describe(path)
    assert str(error.value).startswith(f"{path}: ")
    assert isinstance(error.value, BanditBoostError)
    return str(error.value)


def test_arrays_come_back(tmp_path: Path) -> None:
    container.write(tmp_path / "a", {"name": "ü"}, some_arrays())
    contents = container.read(tmp_path / "a")
    assert (contents.format, contents.header) == (1, {"name": "ü"})
    assert list(contents.arrays) == list(some_arrays())
    for name, array in some_arrays().items():
        back = contents.arrays[name]
        assert (back.dtype, back.shape, back.tolist()) == (array.dtype, array.shape, array.tolist())
        assert back.flags.writeable
        assert back.flags.c_contiguous


def test_the_bytes_are_those_of_the_documentation(tmp_path: Path) -> None:
    """Read with nothing but struct, json and hashlib, as docs/format.md says."""
    container.write(tmp_path / "a", {}, some_arrays())
    data = (tmp_path / "a").read_bytes()
    magic, version, header_size, size = struct.unpack_from("<8sIIQ", data)
    assert (magic, version, size) == (b"\x89BBOOST\n", 1, len(data))
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    specs = json.loads(data[24 : 24 + header_size])["arrays"]
    assert specs[0] == {"name": "records", "shape": [2], "fields": [["label", "<i4"], ["weight", "<f8"]]}
    assert specs[1] == {"name": "matrix", "shape": [2, 3], "type": "<f8"}
    body = data[24 + header_size : -32]
    assert struct.unpack("<2i2d6d3B", body) == (1, 2, 0.5, -0.0, 0, 1, 2, 3, 4, 5, 1, 2, 255)


def test_what_lies_between_the_fields_stays_out(tmp_path: Path) -> None:
    noise = np.frombuffer(bytes(range(1, 33)), PAIR)
    quiet = np.zeros(2, PAIR)
    quiet["label"], quiet["weight"] = noise["label"], noise["weight"]
    container.write(tmp_path / "a", {}, {"x": noise})
    container.write(tmp_path / "b", {}, {"x": quiet})
    assert noise.tobytes() != quiet.tobytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_same_model_makes_the_same_file(tmp_path: Path) -> None:
    model = trained("BinBandit")
    model.save(tmp_path / "a")
    banditboost.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# Written at once or not at all


@pytest.mark.parametrize("failing", ["os.fsync", "pathlib.Path.replace", "hashlib.sha256"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    saved: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "no space left on device", "a name of our own")

    before = saved.read_bytes()
    model = banditboost.load(saved)
    model.decide({"f0": 1.0})
    with monkeypatch.context() as patch:
        patch.setattr(failing, fail)
        with pytest.raises(OSError, match="no space") as told:
            model.save(saved)
    assert told.value.filename == str(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_data_and_name_reach_the_disk_in_this_order(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    sync, replace = os.fsync, Path.replace
    monkeypatch.setattr(
        os,
        "fsync",
        lambda descriptor: (calls.append(os.path.realpath(f"/proc/self/fd/{descriptor}")), sync(descriptor)),
    )
    monkeypatch.setattr(
        Path, "replace", lambda self, target: (calls.append("replace"), replace(self, target))
    )
    banditboost.load(saved).save(saved)
    assert len(calls) == 3
    assert Path(calls[0]).parent == saved.parent
    assert Path(calls[0]).name.endswith(".tmp")
    assert calls[1:] == ["replace", str(saved.parent)]


def test_permissions_and_links_are_kept(saved: Path, tmp_path: Path) -> None:
    saved.chmod(0o640)
    (tmp_path / "link").symlink_to(saved)
    before = saved.stat().st_ino
    banditboost.load(saved).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert saved.stat().st_mode & 0o777 == 0o640
    assert saved.stat().st_ino != before


_SAVES_FOR_EVER = """
import sys, numpy as np
from banditboost.io import container
for i in range(10**9):
    container.write(sys.argv[1], {"i": i}, {"x": np.full(50_000, float(i))})
    if i == 0: print("ready", flush=True)
"""


def test_a_killed_process_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for pause in (0.02, 0.033, 0.041):
        process = subprocess.Popen([sys.executable, "-c", _SAVES_FOR_EVER, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        contents = container.read(path)
        assert np.all(contents.arrays["x"] == contents.header["i"])


# Files that are not sound


def test_every_truncation_is_refused(saved: Path) -> None:
    data, cut = saved.read_bytes(), saved.with_suffix(".cut")
    for length in [*range(200), *range(200, len(data), 97), len(data) - 1]:
        cut.write_bytes(data[:length])
        with pytest.raises(ModelFileError, match=r"cut short|no banditboost model"):
            banditboost.load(cut)
    cut.write_bytes(data + b"\0")
    assert "damaged" in refusal(cut)


def test_ten_thousand_flipped_bits_are_refused(saved: Path) -> None:
    data, draw = saved.read_bytes(), np.random.default_rng(1)
    places = [*range(24 * 8), *draw.integers(0, len(data) * 8, 10_000 - 24 * 8).tolist()]
    refused = 0
    with saved.open("r+b", buffering=0) as file:
        for place in places:
            byte = data[place >> 3]
            os.pwrite(file.fileno(), bytes([byte ^ (1 << (place & 7))]), place >> 3)
            try:
                banditboost.load(saved)
            except ModelFileError:
                refused += 1
            os.pwrite(file.fileno(), bytes([byte]), place >> 3)
    assert refused == 10_000
    assert banditboost.load(saved).rounds == HALF


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89",
        b"{}",
        b"PK\x03\x04" + bytes(100),
        b"\x80\x04cos\nsystem\n(S'true'\ntR.",
        os.urandom(5000),
        b"\x93NUMPY" + bytes(200),
    ],
    ids=["empty", "one", "json", "zip", "pickle", "noise", "npy"],
)
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "foreign").write_bytes(content)
    assert "model.save" in refusal(tmp_path / "foreign") or content == b"\x89"


def test_missing_files_and_folders_are_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        banditboost.load(tmp_path / "nothing")
    with pytest.raises(OSError, match="directory"):
        banditboost.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        trained("OptFull").save(tmp_path / "nowhere" / "model.bb")


def test_a_newer_format_says_what_to_do(tmp_path: Path) -> None:
    assert "upgrade" in refusal(raw_file(tmp_path / "a", b"{}", version=2))
    assert "format 0" in refusal(raw_file(tmp_path / "a", b"{}", version=0))


def test_an_older_format_is_upgraded(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when format 2 has come: each old format has a function that makes the next one of it."""

    def upgrade(old: container.Contents) -> container.Contents:
        return container.Contents(2, {**old.header, "model_id": "upgraded"}, old.arrays)

    monkeypatch.setattr(container, "FORMAT", 2)
    monkeypatch.setitem(upgrades.UPGRADES, 1, upgrade)
    assert banditboost.load(saved).model_id == "upgraded"
    assert banditboost.io.describe(saved)["model_id"] == "upgraded"


TERABYTES = [
    {"name": "nodes", "shape": [2**40], "type": "<f8"},
    {"name": "nodes", "shape": [2**30, 2**30], "type": "|u1"},
    {"name": "nodes", "shape": [0, 2**31], "type": "<f8"},
    {"name": "nodes", "shape": [0, 2**30, 2**30, 2**30], "type": "<f8"},
    {"name": "nodes", "shape": [-1], "type": "<f8"},
    {"name": "nodes", "shape": [True], "type": "<f8"},
    {"name": "nodes", "shape": [1e9], "type": "<f8"},
    {"name": "nodes", "shape": [1] * 100, "type": "<f8"},
    {"name": "nodes", "shape": 5, "type": "<f8"},
    {"name": "nodes", "shape": [1], "type": "|O"},
    {"name": "nodes", "shape": [1], "type": "<U1000000000"},
    {"name": "nodes", "shape": [1], "type": ["<f8"]},
    {"name": "nodes", "shape": [2**30], "fields": []},
    {"name": "nodes", "shape": [1], "fields": [["a", "<f8"], ["a", "<f8"]]},
    {"name": "nodes", "shape": [2**29], "fields": [["", "<f8"]]},
    {"name": "nodes", "shape": [4], "fields": [["", "<f8"], ["a", "<f8"]]},
    {"name": ["nodes"], "shape": [1], "type": "<f8"},
    {"shape": [1], "type": "<f8"},
    "nodes",
]


@pytest.mark.parametrize("spec", TERABYTES, ids=str)
def test_impossible_arrays_are_refused(tmp_path: Path, spec: Any) -> None:
    header = json.dumps({"arrays": [spec]}).encode()
    assert "damaged" in refusal(raw_file(tmp_path / "a", header, bytes(64)))


def test_impossible_lengths_are_refused(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    for offset, kind, value in [
        (12, "<I", 2**32 - 1),
        (16, "<Q", 2**63),
        (16, "<Q", 0),
        (16, "<Q", 2**64 - 1),
    ]:
        damaged = bytearray(data)
        struct.pack_into(kind, damaged, offset, value)
        path = saved.with_suffix(".lengths")
        path.write_bytes(damaged)
        assert "bytes" in refusal(path)


JUNK = {
    "nested lists": b"[" * 200_000 + b"]" * 200_000,
    "nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "unclosed": b"[" * 1_000_000,
    "number": b"1",
    "nan": b'{"arrays": [], "rounds": NaN}',
    "digits": b'{"arrays": [], "rounds": ' + b"9" * 100_000 + b"}",
    "not utf-8": b'{"\xff": 1}',
    "nothing": b"",
    "no arrays": b"{}",
    "arrays are no list": b'{"arrays": {}}',
    "empty": b'{"arrays": []}',
}


@pytest.mark.parametrize("header", JUNK.values(), ids=JUNK.keys())
def test_junk_headers_are_refused(tmp_path: Path, header: bytes) -> None:
    refusal(raw_file(tmp_path / "a", header))


def test_memory_is_bounded_by_the_size_of_the_file(tmp_path: Path) -> None:
    """The costliest JSON there is, an address space of 1 GiB: a header of 8 MB must do."""
    path = raw_file(tmp_path / "a", b'{"arrays":[' + b"{}," * 2_700_000 + b"{}]}")
    code = (
        "import banditboost, sys\ntry: banditboost.io.describe(sys.argv[1])\n"
        "except banditboost.errors.ModelFileError: print('ok')"
    )
    limited = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
        check=False,
    )
    assert limited.stdout.strip() == "ok", limited.stderr


def test_bytes_that_belong_to_no_array_are_refused(saved: Path) -> None:
    header = json.dumps({"arrays": []}).encode()
    assert "belong to no array" in refusal(raw_file(saved, header, b"more"))


TOLD_ONLY = ("versions", "model_id", "learners")  # what nothing is computed from, in a model of trees
KEYS = ["class", "rounds", "verdicts", "memory", "labels", "parameters", "schema", *TOLD_ONLY]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "value",
    [None, -1, 1.5, [], {}, "", 2**70, [[1]], {"$tuple": [1]}, {"$float": "nan"}, [{"$dict": []}]],
    ids=str,
)
def test_wrong_headers_are_refused_or_harmless(saved: Path, key: str, value: Any) -> None:
    forged = forge(saved, lambda header, _: header.update({key: value}))
    assert raw_header(forged)[key] == value
    if key in TOLD_ONLY:
        with contextlib.suppress(ModelFileError):
            model = banditboost.load(forged)
            model.learn(model.decide({"f0": 1.0}), True)
    else:
        with pytest.raises(ModelFileError, match=re.escape(str(forged))):
            banditboost.load(forged)


BAD_PARAMETERS: list[tuple[str, Any]] = [
    ("clip", {"$float": "nan"}),
    ("clip", {"$float": "inf"}),
    ("exploration", {"$float": "nan"}),
    ("exploration", 1.0),
    ("exploration", None),
    ("tie_tolerance", {"$float": "nan"}),
    ("importance_scale", -1.0),
    ("n_learners", 5),
    ("n_learners", 10**9),
    ("n_learners", 4.0),
    ("max_memory", -1),
    ("seed", 1e300),
    ("estimator", 7),
    ("unheard_of", 1),
    ("labels", ["a"]),
    ("schema", None),
    ("weak_learner", None),
    ("weak_learner", {"class": "HoeffdingTree", "grace_period": {"$float": "nan"}}),
    ("weak_learner", {"class": "HoeffdingTree", "depth": 5}),
    ("weak_learner", {"class": "os.system", "module": "os"}),
]


@pytest.mark.parametrize(("name", "value"), BAD_PARAMETERS, ids=str)
def test_impossible_parameters_are_refused(saved: Path, name: str, value: Any) -> None:
    forged = forge(saved, lambda header, _: header["parameters"].update({name: value}))
    with pytest.raises(ModelFileError, match=re.escape(str(forged))):
        banditboost.load(forged)


def test_a_deeply_nested_label_is_refused(saved: Path) -> None:
    label: Any = 1
    for _ in range(300):
        label = {"$tuple": [label]}
    assert "deep" in refusal(forge(saved, lambda header, _: header.update(labels=[label, 2, 3])))
