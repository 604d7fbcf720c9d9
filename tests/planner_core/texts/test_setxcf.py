"""SETXCF: the target of ALTER is between INITSIZE and SIZE, or there is none."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.structure_result import StructureResult
from planner_core.texts.xcf.setxcf import alter_command, alter_target_bytes, setxcf
from tests.planner_core.plans import policy_documents, varied

K, M = 1024, 1024**2


def rendered(**paths: Any) -> str:  # noqa: ANN401
    return setxcf(evaluate(read_object(varied(**paths))))


def app(**paths: Any) -> StructureResult:  # noqa: ANN401
    return evaluate(read_object(varied(**paths))).structures[1]


@settings(max_examples=200)
@given(policy_documents())
def test_target_is_between_initsize_and_size(document: dict[str, Any]) -> None:
    for structure in evaluate(read_object(document)).structures:
        sizes, target = structure.sizes, alter_target_bytes(structure)
        if target is None:
            between = (sizes.size_bytes - 1) // sizes.increment_bytes * sizes.increment_bytes
            assert between <= sizes.initsize_bytes
            assert alter_command(structure) is None
        else:
            assert sizes.initsize_bytes < target < sizes.size_bytes
            assert target % sizes.increment_bytes == 0
            assert alter_command(structure) == (
                f"SETXCF START,ALTER,STRNAME={structure.cfrm_name},SIZE={target // K}"
            )


@pytest.mark.parametrize(
    ("initsize", "size", "target"),
    [
        ("300M", "500M", 400),  # half way
        ("100M", "500M", 300),  # half way: the need is 231.5
        ("100M", "300M", 232),  # the need, rounded up
        ("100M", "200M", 199),  # the need is above SIZE
        ("300M", "302M", 301),
        ("300M", "301M", None),
        ("300M", "300M", None),
    ],
)
def test_alter_target_is_the_need_or_halfway_to_size(initsize: str, size: str, target: int | None) -> None:
    structure = app(structures__0__initsize=initsize, structures__0__size=size)
    assert alter_target_bytes(structure) == (None if target is None else target * M)


REMARK = re.compile(r" /\* (?P<text>.+?) *\*/")
DISPLAY = re.compile(r"D XCF,(?:POLICY,TYPE=CFRM|STR,STRNAME=(?P<name>\S+)|REALLOCATE,TEST)")
COMMAND = re.compile(
    r"SETXCF START,(?:POLICY,TYPE=CFRM,POLNAME=\S+|REBUILD,STRNAME=(?P<rebuilt>\S+)|ALTER,STRNAME=(?P<altered>\S+),SIZE=\d+"
    r"|REALLOCATE|REBUILD,DUPLEX,STRNAME=\S+)|SETXCF STOP,REBUILD,DUPLEX,STRNAME=\S+,KEEP=OLD"
)


def commands_in_remarks(text: str) -> list[str]:
    """Return the commands in comments."""
    found = [REMARK.fullmatch(line) for line in text.splitlines()]
    return [
        each["text"] for each in found if each and each["text"].startswith(("SETXCF START,", "SETXCF STOP,"))
    ]


@settings(max_examples=100)
@given(policy_documents())
def test_every_line_is_a_complete_comment_or_a_display(document: dict[str, Any]) -> None:
    result = evaluate(read_object(document))
    text = setxcf(result)
    assert text.endswith("\n")
    names = [structure.cfrm_name for structure in result.structures]
    displayed = []
    for line in filter(None, text.splitlines()):
        assert not line.startswith("/*")  # it would end the data of a job
        assert len(line) <= 71
        if remark := REMARK.fullmatch(line):
            assert not {"/*", "*/"} & {remark["text"][at : at + 2] for at in range(len(remark["text"]))}
            continue
        display = DISPLAY.fullmatch(line)
        assert display, line
        displayed += [display["name"]] if display["name"] else []
    assert displayed == names
    commands = [COMMAND.fullmatch(command) for command in commands_in_remarks(text)]
    assert all(commands)
    assert [found["rebuilt"] for found in commands if found and found["rebuilt"]] == names
    grows = [s.cfrm_name for s in result.structures if alter_command(s)]
    assert [found["altered"] for found in commands if found and found["altered"]] == grows


def test_each_structure_has_a_display_and_a_purpose_for_each_command() -> None:
    blocks = rendered(structures__0__initsize="300M", structures__0__size="500M").split("\n\n")
    (block,) = [block for block in blocks if "D XCF,STR,STRNAME=SQ03APP1" in block.splitlines()]
    remarks = [found["text"] for line in block.splitlines() if (found := REMARK.fullmatch(line))]
    assert remarks == [
        "SQ03APP1, application structure",
        "INITSIZE 300M, SIZE 500M",
        "Rebuild, when D XCF,STR shows a pending policy change:",
        "SETXCF START,REBUILD,STRNAME=SQ03APP1",
        "Alter to 400M, when it fills up (IXC585E):",
        "SETXCF START,ALTER,STRNAME=SQ03APP1,SIZE=409600",
    ]


def test_structure_that_may_be_duplexed_is_rebuilt_after_duplexing_stops() -> None:
    first = "A duplexed structure is not rebuilt: stop duplexing first."
    texts = [rendered(structures__0__duplex=each) for each in ("ENABLED", "ALLOWED", "DISABLED")]
    assert [first in text for text in texts] == [True, True, False]
    of_app1 = [
        [each for each in commands_in_remarks(text) if "REBUILD" in each and "APP1" in each] for text in texts
    ]
    stop, rebuild, start = (
        "SETXCF STOP,REBUILD,DUPLEX,STRNAME=SQ03APP1,KEEP=OLD",
        "SETXCF START,REBUILD,STRNAME=SQ03APP1",
        "SETXCF START,REBUILD,DUPLEX,STRNAME=SQ03APP1",
    )
    # With ENABLED, the system starts duplexing when the policy is activated again.
    assert of_app1 == [[stop, rebuild], [stop, rebuild, start], [rebuild]]
    assert ["DUPLEX(ALLOWED)" in text for text in texts] == [True, False, False]
    assert ["Wait until D XCF,STR shows one instance." in text for text in texts] == [True, True, False]


def test_text_states_the_unit_of_size() -> None:
    text = rendered()
    assert "SIZE= is in K." in text
    assert "check the unit" not in text


def test_reallocate_is_preceded_by_its_test() -> None:
    lines = rendered().splitlines()
    assert lines[-2:] == ["D XCF,REALLOCATE,TEST", " /* SETXCF START,REALLOCATE */"]


def test_policy_without_a_name_has_a_placeholder() -> None:
    assert "SETXCF START,POLICY,TYPE=CFRM,POLNAME=policy-name" in commands_in_remarks(rendered())
    assert "SETXCF START,POLICY,TYPE=CFRM,POLNAME=POLICY1" in commands_in_remarks(
        rendered(policy__name="POLICY1")
    )


def test_structure_without_room_has_no_alter_command() -> None:
    text = rendered(size_factor=1)
    assert "Alter: there is no room between INITSIZE and SIZE." in text
    assert not [command for command in commands_in_remarks(text) if "ALTER,STRNAME=SQ03APP1" in command]
