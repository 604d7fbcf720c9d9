"""YAML of plan documents: the types of YAML 1.2, refusals, and bounded work for any text."""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from app.texts.documents import CLUSTERED, EXAMPLE, example_text, parse_yaml
from app.texts.places import in_the_text
from app.texts.yaml_reader import MOST_COLLECTIONS, MOST_ITEMS, NotYaml, lines_of, read_yaml
from planner_core.errors import DocumentInvalid, FieldProblem
from tests.cpu import at_most_cpu_seconds

VALUES = (
    "a", "1", "010", "0o17", "0x1F", "0b11", "1.5", "1e3", ".5", "-3", "+4", "1_000", "1.", "00", "0.1.2", "-", "+", "_",
    "true", "False", "no", "on", "null", "~", "", "512M", "12abc", "1:30", "-.inf", "'s'", '"1"', '"\\u00e9"', "[1, 2]",
    "{a: 1}", '{"a":1}', '"a":1', "[a,b]", "!!str 1", '!!int "3"', "!!bool true", "!x 1", "&a 1", "# remark", "- 1",
    "|\n   x\n   y", ">\n   x\n   y",
)  # fmt: skip


def as_other_tools_read(text: str) -> object:
    try:
        return YAML(typ="safe", pure=True).load(text)
    except Exception:  # noqa: BLE001 - whatever it raises: it refuses the text
        return NotYaml


def as_cfplan_reads(text: str) -> object:
    try:
        return read_yaml(text)
    except NotYaml:
        return NotYaml


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("pattern", ["k: %s\n", "k:\n  - %s\nl: 2\n", "- k: %s\n  l: 2\n"])
def test_values_have_the_types_of_yaml_1_2(pattern: str, value: str) -> None:
    text = pattern % value
    assert repr(as_cfplan_reads(text)) == repr(as_other_tools_read(text))


@pytest.mark.parametrize("name", [EXAMPLE, CLUSTERED])
def test_examples_are_read_as_other_tools_read_them(name: str) -> None:
    assert read_yaml(example_text(name)) == as_other_tools_read(example_text(name))


def test_date_is_read_as_text_as_in_the_yaml_core_schema() -> None:
    assert read_yaml("k: 2026-11-22\n") == {"k": "2026-11-22"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &a 1\nb: *a\n", "aliases are not allowed in a plan document (line 2, column 4)"),
        ("a: 1\na: 2\n", "the key 'a' occurs twice (line 2, column 1)"),
        ("a: !python/name 1\n", "the tag '!python/name' is not allowed (line 1, column 4)"),
        ("a: 1\n---\nb: 2\n", "there is more than one document (line 2, column 1)"),
        ("[a]: 1\n", "a key must be a word (line 1, column 1)"),
        ("a: " + "9" * 5_000, "a number is too long (line 1, column 4)"),
        ("a: 0x_\n", "is not of the type given by its tag (line 1, column 4)"),
        ("- " * 70 + "1", "lists and objects are nested too deeply (line 1, column 121)"),
        ("- 1\n" * (MOST_ITEMS + 1), f"the list has more than {MOST_ITEMS} items (line {MOST_ITEMS + 1}"),
        ("[" + "[[],[]]," * 70_000 + "]", f"there are more than {MOST_COLLECTIONS} lists and objects (line 1"),
        ("%TAG !a! !\n" * 100 + "--- a", "there are too many %TAG directives"),
    ],
)  # fmt: skip
def test_refused_yaml_is_reported_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DocumentInvalid) as refused:
        parse_yaml(text.encode())
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "unit", ["a%07d: &a%07d 1\n", "- !!str 1%d%d\n", "- &a%d [%d]\n", "k%07d: %d # remark\n"]
)
def test_one_megabyte_of_yaml_is_read_or_refused_in_bounded_cpu_time(unit: str) -> None:
    text = "".join(unit % (number, number) for number in range(1_000_000 // len(unit % (1, 1))))
    with at_most_cpu_seconds(2):
        as_cfplan_reads(text)


PLACES = """\
qsg: SQ03
# a remark
queues:
  - name: Q1
    depth:
      1
  - {name: Q2, "a/b": [1,
      2, {deep: 3}]}
"""
AS_JSON = """{
\t"qsg": "SQ03",

\t"queues": [
\t\t{"name": "Q1",
\t\t "depth": 1},
\t\t{"name": "Q2", "a/b": [1,
\t\t\t2, {"deep": 3}]}
\t]
}
"""


@pytest.mark.parametrize(
    ("pointer", "line", "in_json"),
    [
        ("/qsg", 1, 2),
        ("/queues", 3, 4),
        ("/queues/0", 4, 5),
        ("/queues/0/name", 4, 5),
        ("/queues/0/depth", 5, 6),
        ("/queues/0/missing", 4, 5),
        ("/queues/0/missing/deeper", 4, 5),
        ("/queues/1", 7, 7),
        ("/queues/1/a~1b/1", 8, 8),
        ("/queues/1/a~1b/2/deep", 8, 8),
        ("/queues/9", 3, 4),
    ],
)
def test_line_of_a_value_is_that_of_its_key(pointer: str, line: int, in_json: int) -> None:
    assert lines_of(PLACES, [pointer]) == {pointer: line}
    assert lines_of(AS_JSON, [pointer]) == {pointer: in_json}


@pytest.mark.parametrize("pointer", ["/missing", "/missing/0", ""])
def test_value_that_only_the_whole_text_could_contain_has_no_line(pointer: str) -> None:
    assert lines_of(PLACES, [pointer]) == {}


def test_lines_before_an_error_in_the_text_are_found() -> None:
    assert lines_of("a: 1\nb: [1, 2}\nc: 3\n", ["/a", "/c"]) == {"/a": 1}


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, '{"' + "k" * 200_000 + '": [' + "1," * 200_000, "{" * 200_000, "? [a]\n: 1\n" * 1000],
    ids=["deep", "long key", "objects", "keys of lists"],
)
def test_looking_up_lines_in_a_hostile_text_is_bounded(text: str) -> None:
    with at_most_cpu_seconds(5):
        lines_of(text, ["/a/0/1", f"/{'k' * 200_000}/199999/x"])


@pytest.mark.parametrize(
    ("pointer", "words"),
    [
        ("", ""),
        ("/queues/0/depth", "Line 5, depth"),
        ("/queues/1/a~1b/1", "Line 8, a/b"),
        ("/queues/1", "Line 7, queues"),
        ("/missing", "missing"),
        ("/missing/0/key", "missing 1, key"),
        ("/²/٣", "² ٣"),
        ("members", "members"),
    ],
)
def test_problem_names_the_line_and_the_key(pointer: str, words: str) -> None:
    assert in_the_text([FieldProblem(pointer, "is wrong")], PLACES) == (FieldProblem(words, "is wrong"),)


def test_problem_with_a_text_that_is_not_shown_names_the_keys() -> None:
    (found,) = in_the_text([FieldProblem("/structures/1/queues/0/backlog", "is wrong")], "")
    assert found.field == "structures 2, queues 1, backlog"
