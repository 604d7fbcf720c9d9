"""SETXCF: a target of ALTER always lies between INITSIZE and SIZE, or there is none."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document import read_object
from planner_core.plan import StructureResult, evaluate
from planner_core.xcf.setxcf import alter_command, alter_target_bytes, setxcf
from tests.core.plans import policy_documents, varied

K, M = 1024, 1024**2


def rendered(**paths: Any) -> str:  # noqa: ANN401
    return setxcf(evaluate(read_object(varied(**paths))))


def app(**paths: Any) -> StructureResult:  # noqa: ANN401
    return evaluate(read_object(varied(**paths))).structures[1]


@settings(max_examples=200)
@given(policy_documents())
def test_the_target_lies_strictly_between_initsize_and_size(document: dict[str, Any]) -> None:
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
def test_it_grows_to_the_need_or_half_way(initsize: str, size: str, target: int | None) -> None:
    structure = app(structures__0__initsize=initsize, structures__0__size=size)
    assert alter_target_bytes(structure) == (None if target is None else target * M)


@settings(max_examples=100)
@given(policy_documents())
def test_every_line_is_a_remark_or_one_whole_command(document: dict[str, Any]) -> None:
    result = evaluate(read_object(document))
    text = setxcf(result)
    assert text.endswith("\n")
    names = {structure.cfrm_name for structure in result.structures}
    rebuilt = []
    for line in text.splitlines():
        if line.startswith("*"):
            continue
        found = re.fullmatch(
            r"SETXCF START,(?:POLICY,TYPE=CFRM,POLNAME=\S+|REBUILD,STRNAME=(\S+)|ALTER,STRNAME=(\S+),SIZE=\d+)",
            line,
        )
        assert found, line
        assert {name for name in found.groups() if name} <= names
        rebuilt += [found[1]] if found[1] else []
    single = [s.cfrm_name for s in result.structures if s.placement.duplex != "ENABLED"]
    assert rebuilt == single


def test_a_duplexed_structure_is_not_rebuilt_by_a_pasted_command() -> None:
    lines = rendered(structures__0__duplex="ENABLED").splitlines()
    assert "SETXCF START,REBUILD,STRNAME=SQ03APP1" not in lines
    at = lines.index("* SETXCF START,REBUILD,STRNAME=SQ03APP1")
    assert lines[at - 1] == "* SQ03APP1 is duplexed: stop duplexing first, then"


def test_a_policy_without_a_name_is_only_a_remark() -> None:
    assert "* SETXCF START,POLICY,TYPE=CFRM,POLNAME=policy-name\n" in rendered()
    assert "\nSETXCF START,POLICY,TYPE=CFRM,POLNAME=POLICY1\n" in rendered(policy__name="POLICY1")


def test_a_structure_without_room_is_told() -> None:
    assert "* SQ03APP1: no room between INITSIZE and SIZE.\n" in rendered(size_factor=1)
