"""What a user can get wrong: one line with the remedy, the right exit code, and nothing written."""

import pytest

BAD_FILES = {
    "empty.csv": b"",
    "header.csv": b"a,b\n",
    "one.csv": b"a,b\n" + b"1,x\n" * 9,
    "binary.csv": bytes(range(256)),
    "mixed.csv": b"a,b\n" + b"1,x\nz,y\n" * 9,
    "good.csv": b"a,b\n" + b"1,x\n2,y\n" * 9,
}
COMMANDS = [
    ("run carr", 2, "neither a data set (balance, car"),
    ("run good.csv", 2, "--label COLUMN"),
    ("run .", 2, "--label COLUMN"),
    ("run . --label a", 1, "."),
    ("run good.csv --label c", 1, "its columns are a, b"),
    ("run empty.csv --label b", 1, "is empty"),
    ("run header.csv --label b", 1, "no rows"),
    ("run one.csv --label b", 1, "only the label 'x'"),
    ("run binary.csv --label b", 1, "is not text"),
    ("run good.csv --label b --numeric b", 1, "b"),
    ("run good.csv --label b --numeric a --nominal a", 1, "a"),
    ("run car --exploration 2", 2, "--exploration"),
    ("run car --n-learners many", 2, "--n-learners"),
    ("run car --learner Foo", 2, "OptBandit, AdaBandit"),
    ("run car --set foo", 2, "NAME=VALUE"),
    ("run car --set foo=1", 1, "it has n_learners"),
    ("run car --set max_memory=1", 1, "max_memory is 1"),
    ("run car --label b", 2, "leave it out"),
    ("run car --in-order", 2, "always shuffled"),
    ("run car --rounds 100000000", 1, "rounds is 100000000; give a whole number from 1 to 10368"),
    ("run car --skip 10368", 2, "give less"),
    ("run car --save no/where.bb", 2, "make it first"),
    ("run car --save .", 2, "is a directory"),
    ("run mixed.csv --label b", 1, "say --nominal 'a' to take all its values as names, or --numeric 'a'"),
    ("run car --plot curve.gif", 2, ".png, .svg, .pdf"),
    ("run car --resume good.csv", 1, "no banditboost model"),
    ("run car --resume good.csv --n-learners 3", 2, "n_learners cannot be changed"),
    ("run car --resume good.csv --learner AdaFull", 2, "--learner cannot be changed"),
    ("run mice --data nowhere", 1, "nowhere"),
    ("compare carr", 2, "neither a data set"),
    ("compare one.csv --label b", 1, "only the label 'x'"),
    ("compare car --learners Foo", 2, "OptBandit, AdaBandit"),
    ("compare car --seeds 0", 2, "--seeds"),
    ("compare car --set foo=1", 1, "it has "),
    ("compare car --out good.csv", 2, "give a directory"),
    ("compare car --engine dask", 2, "--scheduler"),
    ("compare car --address auto", 2, "--engine ray"),
    ("tune car --try grace_period", 2, "NAME=A,B,..."),
    ("tune car --learner AdaFull", 2, "--n-learners 10,20"),
    ("tune car --learner OptFull", 2, "--n-learners 10,20"),
    ("tune car --learner nowhere:Mine", 1, "there is no module 'nowhere'"),
    ("compare car --learners nowhere:Mine", 1, "there is no module 'nowhere'"),
    ("compare car --learners AdaBandit --set weak_learner=nowhere:Mine", 1, "there is no module 'nowhere'"),
    ("compare car --learners AdaBandit+Mine", 2, "MODULE:CLASS"),
    ("compare car --learners AdaBandit --against AdaFull", 2, "add it to --learners"),
    ("run car --learner math:pi", 1, "which is no booster"),
    ("tune car --learner AdaBandit --exploration 0.1,often", 1, "exploration is 'often'"),
    ("tune car --exploration 0.1", 2, "such as --learner AdaBandit"),
    ("reproduce table9", 2, "table1"),
    ("reproduce table1 --datasets foo", 2, "balance, car"),
    ("reproduce table1 --algorithms foo", 2, "OptBandit, AdaBandit"),
    ("reproduce figure1 --datasets balance", 2, "shows none of these"),
    ("reproduce table1 --seed 9", 2, "--seeds"),
    ("reproduce table1 --datasets mice --data nowhere", 1, "nowhere"),
    ("model show good.csv", 1, "no banditboost model"),
    ("model show nothing.bb", 1, "nothing.bb"),
    ("frobnicate", 2, "banditboost --help"),
    ("data", 2, "banditboost data --help"),
    ("run", 2, "DATA"),
    ("run car --frobnicate", 2, "--frobnicate"),
]


@pytest.mark.parametrize(("command", "code", "remedy"), COMMANDS, ids=[command for command, *_ in COMMANDS])
def test_one_line_with_the_remedy_and_nothing_written(bb, home, command, code, remedy):
    for name, content in BAD_FILES.items():
        (home / name).write_bytes(content)
    result = bb(*command.split())
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1
    assert remedy in result.stderr
    assert {path.name for path in home.iterdir()} == set(BAD_FILES)


def test_a_file_that_may_not_be_read(bb, home):
    path = home / "secret.csv"
    path.write_bytes(BAD_FILES["good.csv"])
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        result = bb("run", path, "--label", "b")
        assert result.exit_code == 1
        assert result.stderr.startswith("error: ")
        assert len(result.stderr.splitlines()) == 1
    else:
        pytest.skip("this user may read every file")


def test_without_a_word_it_helps(bb):
    result = bb()
    assert result.exit_code == 0
    assert "banditboost run car" in result.stdout


def test_it_tells_its_version(bb):
    from banditboost import __version__

    assert bb("--version").stdout.strip() == f"banditboost {__version__}"
