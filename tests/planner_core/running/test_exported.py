"""Policies that z/OSMF exported as JSON: the text that they are read as, and everything that it lacks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner_core.errors import InputInvalid
from planner_core.running.exported import SizeUnitMissing, is_exported, read_exported
from planner_core.running.policy import policies
from planner_core.texts.cfrm.policy_json import SizeUnit
from planner_core.texts.cfrm.text import read_policy_text

CF: dict[str, Any] = {
    "name": "CF01", "type": "008561", "mfg": "IBM", "plant": "02", "sequence": "000000012345", "partition": "0E",
    "cpcid": "00", "dumpspace": "20M",
}  # fmt: skip
APPLICATION: dict[str, Any] = {
    "name": "SQ03APPLICATION1", "size": 524288, "preflist": ["CF01", "CF02"], "fullthreshold": 85, "recprty": "",
}  # fmt: skip


def exported(*structures: dict[str, Any], **members: object) -> dict[str, Any]:
    """Return a policy of the shape that IBM's presentation shows."""
    policy = {"name": "CFRM01", "cf": [CF, CF | {"name": "CF02"}], "structure": list(structures)}
    return {"policy": [policy | members]}


def codes(found: dict[str, Any], unit: SizeUnit | None = "K") -> list[str]:
    return [each.code for each in read_exported(json.dumps(found), unit).findings]


@pytest.mark.parametrize(
    ("size", "unit", "stated"),
    [
        (524288, "K", "524288"),
        ("524288", "K", "524288"),
        (512, "M", "524288"),
        (536870912, "B", "524288"),
        ("512M", None, "524288"),
    ],
)
def test_sizes_are_read_in_their_unit(size: object, unit: SizeUnit | None, stated: str) -> None:
    found = read_exported(json.dumps(exported(APPLICATION | {"size": size})), unit)
    [policy] = policies(read_policy_text(found.text))
    assert policy.name == "CFRM01"
    [structure] = policy.structures
    assert structure.one("SIZE") == stated
    assert structure.values("PREFLIST") == ("CF01", "CF02")
    assert structure.one("FULLTHRESHOLD") == "85"
    assert f"SIZE of SQ03APPLICATION1 is read as {stated}" in str([each.message for each in found.findings])


def test_text_has_no_damage_and_each_line_has_its_pointer() -> None:
    names = [f"CF{number:06}" for number in range(8)]
    found = read_exported(json.dumps(exported(APPLICATION | {"preflist": names})), "K")
    read = read_policy_text(found.text)
    assert not read.problems
    lines = found.text.splitlines()
    assert len(lines) == len(found.pointers)
    assert max(map(len, lines)) <= 71
    at = next(number for number, line in enumerate(lines) if "SIZE(524288)" in line)
    assert found.pointers[at] == "/policy/0/structure/0/size"


def test_plain_size_without_unit_is_asked_for() -> None:
    with pytest.raises(SizeUnitMissing, match="/policy/0/structure/0/size is 524288"):
        read_exported(json.dumps(exported(APPLICATION)))


def test_entry_of_the_list_alone_is_a_policy_too() -> None:
    [policy] = exported(APPLICATION)["policy"]
    assert "STRUCTURE NAME(SQ03APPLICATION1)" in read_exported(f"\ufeff\n{json.dumps(policy)}", "K").text


def test_several_policies_stay_several() -> None:
    both = exported(APPLICATION)
    both["policy"].append({"name": "CFRM02", "structure": [APPLICATION]})
    found = policies(read_policy_text(read_exported(json.dumps(both), "K").text))
    assert [each.name for each in found] == ["CFRM01", "CFRM02"]


def test_everything_left_out_is_reported_with_pointer_and_value() -> None:
    found = exported(APPLICATION | {"colour": "red", "tint": {"a": 1.5}}, defined="today")
    found["count"] = 1
    told = [
        each.message
        for each in read_exported(json.dumps(found), "K").findings
        if each.code == "POLICY_JSON_LEFT_OUT"
    ]
    assert [each.partition(":")[0] for each in told] == [
        "/count is 1",
        '/policy/0/defined is "today"',
        '/policy/0/structure/0/colour is "red"',
        '/policy/0/structure/0/tint is {"a"',
    ]


def test_keywords_that_the_interface_may_not_carry_are_named() -> None:
    [warning] = [
        each
        for each in read_exported(json.dumps(exported(APPLICATION | {"initsize": 262144})), "K").findings
        if each.code == "POLICY_JSON_NOT_CARRIED"
    ]
    assert "MINSIZE" in warning.message
    assert "DUPLEX" in warning.message
    assert "INITSIZE" not in warning.message
    assert warning.severity == "warning"


def test_true_is_read_as_yes_for_keywords_with_yes_and_no_and_reported() -> None:
    found = read_exported(json.dumps(exported(APPLICATION | {"allowautoalt": True})), "K")
    assert "ALLOWAUTOALT(YES)" in found.text
    [told] = [each.message for each in found.findings if "allowautoalt" in each.message]
    assert "/allowautoalt is true" in told
    assert "read as ALLOWAUTOALT(YES)" in told


def test_members_read_by_name_are_reported() -> None:
    found = codes(exported(APPLICATION | {"initsize": 262144}))
    assert found.count("POLICY_JSON_READ_BY_NAME") == 3  # INITSIZE, and DUMPSPACE of two coupling facilities


@pytest.mark.parametrize(
    ("text", "pointer", "message"),
    [
        ('{"policy": [', "", "JSON"),
        ('{"policy": []}', "/policy", "1 to 64"),
        ('{"policies": []}', "", "neither"),
        ('{"policy": [3]}', "/policy/0", "object"),
        ('{"policy": [{"name": "cfrm 1"}]}', "/policy/0/name", "name of a policy"),
        ('{"policy": [{"name": "A", "name": "B"}]}', "/policy/0", "name"),
        ('{"policy": [{"name": "A", "structure": {}}]}', "/policy/0/structure", "list"),
        ('{"policy": [{"name": "A", "structure": [1]}]}', "/policy/0/structure/0", "object"),
        ('{"policy": [{"name": "A", "structure": [{"size": 1}]}]}', "/policy/0/structure/0/name", "name"),
        (
            '{"policy": [{"name": "A", "structure": [{"name": "S"}, {"name": "S"}]}]}',
            "/policy/0/structure/1/name",
            "earlier",
        ),
        (
            '{"policy": [{"name": "A", "structure": [{"name": "S", "size": -1}]}]}',
            "/policy/0/structure/0/size",
            "whole K",
        ),
        (
            '{"policy": [{"name": "A", "structure": [{"name": "S", "size": true}]}]}',
            "/policy/0/structure/0/size",
            "whole K",
        ),
        (
            '{"policy": [{"name": "A", "structure": [{"name": "S", "size": 1, "SIZE": 2}]}]}',
            "/policy/0/structure/0/SIZE",
            "second time",
        ),
        (
            '{"policy": [{"name": "A", "structure": [{"name": "S", "size": 1024, "fullthreshold": true}]}]}',
            "/policy/0/structure/0/fullthreshold",
            "is true, which FULLTHRESHOLD cannot have",
        ),
        (
            '{"policy": [{"name": "A", "structure": [{"name": "S", "allowautoalt": "true"}]}]}',
            "/policy/0/structure/0/allowautoalt",
            'is "true", which ALLOWAUTOALT cannot have',
        ),
        (
            '{"policy": [{"name": "A", "cf": [{"name": "CF01", "mfg": true}]}]}',
            "/policy/0/cf/0/mfg",
            "is true, which MFG cannot have",
        ),
        ("{" + '"a":[' * 5000, "", ""),
        ('{"policy": "\udcff"}', "", "UTF-8"),
    ],
)
def test_errors_state_the_pointer(text: str, pointer: str, message: str) -> None:
    assert is_exported(text)
    with pytest.raises(InputInvalid) as raised:
        read_exported(text, "K")
    problem = raised.value.problems[0]
    assert problem.field.startswith(pointer)
    assert message in problem.message


def test_size_that_a_policy_cannot_state_is_refused() -> None:
    with pytest.raises(InputInvalid, match="in the unit B, which is not a size in whole K"):
        read_exported(json.dumps(exported(APPLICATION | {"size": 1000})), "B")
