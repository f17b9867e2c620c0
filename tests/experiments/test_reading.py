"""The list of what the text says, and of where it is silent, leaves nothing out."""

from dataclasses import fields

from banditboost.experiments import reading
from banditboost.experiments.learners import parameters_of
from banditboost.experiments.protocol import ALGORITHMS
from banditboost.experiments.task import Source, Task

PLACES = (*reading.SPOKEN, *reading.SILENT)
OF_FILES = {
    "path", "label", "sha256", "numeric", "nominal", "ignore", "dates", "words", "encoding", "separator", "decimal"
}  # fmt: skip
"""Fields of a source that belong to files of a user; the paper's streams have none."""


def settled() -> set[str]:
    return {name for place in PLACES for name in place.parameters}


def test_every_parameter_of_the_five_boosters_belongs_to_a_place() -> None:
    taken = {name for algorithm in ALGORITHMS for name in parameters_of(algorithm)}
    assert taken - settled() == set()


def test_every_field_of_a_task_belongs_to_a_place() -> None:
    of_source = {field.name for field in fields(Source)} - OF_FILES
    of_task = {field.name for field in fields(Task)} - {"source", "learner", "parameters"}
    assert (of_source | of_task) - settled() == set()


def test_no_place_settles_what_does_not_exist() -> None:
    taken = {name for algorithm in ALGORITHMS for name in parameters_of(algorithm)}
    known = taken | {field.name for field in fields(Source)} | {"seed"}
    assert settled() <= known


def test_every_place_has_its_topic_and_its_choice() -> None:
    assert len({place.topic for place in PLACES}) == len(PLACES)
    assert all(place.choice for place in PLACES)
    assert all(place.text for place in reading.SPOKEN)


def test_the_table_has_a_line_for_each_place() -> None:
    lines = reading.table().splitlines()
    assert len(lines) == 2 + len(PLACES)
    assert all(line.count("|") == 4 for line in lines), "a bar in a text breaks the table"
