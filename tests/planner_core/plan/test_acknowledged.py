"""Acknowledged findings and their reasons."""

from __future__ import annotations

import pytest

from planner_core.errors import DocumentInvalid
from planner_core.findings import comparable_message
from planner_core.plan.evaluate import evaluate
from tests.planner_core.plans import findings_of, plan

PATH: dict[str, object] = {"structures__0__offload": {}}


def test_acknowledged_warning_is_returned_with_its_reason() -> None:
    found = findings_of(
        **PATH, acknowledged=[{"code": "DSGROUP_MISSING", "reason": "defined by the storage team"}]
    )

    assert found["DSGROUP_MISSING"].acknowledged == "defined by the storage team"
    assert found["DSGROUP_MISSING"].severity == "warning"
    assert "ACKNOWLEDGEMENT_UNUSED" not in found


def test_acknowledgment_for_one_structure_leaves_findings_on_others_open() -> None:
    accepted = {"code": "DSGROUP_MISSING", "structure": "OTHER", "reason": "x"}

    found = findings_of(**PATH, acknowledged=[accepted])

    assert found["DSGROUP_MISSING"].acknowledged is None
    assert found["ACKNOWLEDGEMENT_UNUSED"].field == "/acknowledged/0"


def test_acknowledged_message_must_match_exactly() -> None:
    two = [{"name": name, "size": size} for name, size in (("CF01", "64G"), ("CF02", "299M"))]
    given: dict[str, object] = {"structures__0__initsize": "300M", "coupling_facilities": two}
    message = findings_of(**given)["CF_TOO_SMALL"].message
    accepted = {
        "code": "CF_TOO_SMALL",
        "structure": "APP1",
        "message": message,
        "reason": "CF02 is for tests",
    }
    assert findings_of(**given, acknowledged=[accepted])["CF_TOO_SMALL"].acknowledged == "CF02 is for tests"

    given["coupling_facilities"] = [*two, {"name": "CF03", "size": "299M"}]
    given["structures__0__preflist"] = ["CF01", "CF02", "CF03"]
    found = findings_of(**given, acknowledged=[accepted])

    assert "CF03" in found["CF_TOO_SMALL"].message
    assert found["CF_TOO_SMALL"].acknowledged is None
    assert found["ACKNOWLEDGEMENT_UNUSED"].field == "/acknowledged/0"
    assert "it is open again" in found["ACKNOWLEDGEMENT_UNUSED"].message
    del accepted["message"]
    assert findings_of(**given, acknowledged=[accepted])["CF_TOO_SMALL"].acknowledged, (
        "without a message, any message is acknowledged"
    )


def test_message_of_an_earlier_release_with_separators_in_sizes_is_acknowledged() -> None:
    given: dict[str, object] = {
        "structures__0__initsize": "4G",
        "coupling_facilities": [{"name": "CF01", "size": "64G"}, {"name": "CF02", "size": "3G"}],
    }
    message = findings_of(**given)["CF_TOO_SMALL"].message
    assert "4096.0 MiB" in message
    entry = {"code": "CF_TOO_SMALL", "structure": "APP1", "reason": "CF02 is for tests"}

    earlier = {**entry, "message": message.replace("4096.0 MiB", "4,096.0 MiB")}
    found = findings_of(**given, acknowledged=[earlier])
    assert found["CF_TOO_SMALL"].acknowledged == "CF02 is for tests"
    assert "ACKNOWLEDGEMENT_UNUSED" not in found

    other = {**entry, "message": message.replace("4096.0 MiB", "4,095.0 MiB")}
    assert findings_of(**given, acknowledged=[other])["CF_TOO_SMALL"].acknowledged is None


@pytest.mark.parametrize(
    ("message", "comparable"),
    [
        ("8,378.3 MiB instead of 11.0 GiB", "8378.3 MiB instead of 11.0 GiB"),
        ("between 1,034.25 and 1,234,567.50 MiB", "between 1034.25 and 1234567.50 MiB"),
        ("PREFLIST(CF01,CF02), 1,234 of Q1,234.5", "PREFLIST(CF01,CF02), 1,234 of Q1,234.5"),
    ],
)
def test_only_separators_of_sizes_are_ignored(message: str, comparable: str) -> None:
    assert comparable_message(message) == comparable


def test_every_finding_has_a_message_that_can_be_acknowledged() -> None:
    for item in evaluate(plan(**PATH)).findings:
        given = {"code": item.code, "message": item.message, "reason": "x"}
        assert plan(acknowledged=[given]).acknowledged[0].message == item.message


@pytest.mark.parametrize("message", ["", " ", "a\nb", 5, "x" * 20_001])
def test_invalid_acknowledged_message_is_refused(message: object) -> None:
    with pytest.raises(DocumentInvalid) as caught:
        plan(acknowledged=[{"code": "DSGROUP_MISSING", "reason": "x", "message": message}])

    assert caught.value.problems[0].field == "/acknowledged/0/message"


def test_acknowledgment_of_an_error_is_refused() -> None:
    found = findings_of(
        structures__0__recover=False, acknowledged=[{"code": "PERSISTENT_NEEDS_RECOVER", "reason": "x"}]
    )

    assert found["PERSISTENT_NEEDS_RECOVER"].acknowledged is None
    assert "ACKNOWLEDGEMENT_UNUSED" in found


@pytest.mark.parametrize("reason", ["", "   ", "a\nb", "a\x00b", "x" * 501, 5, None])
def test_reason_of_an_acknowledgment_must_be_one_printable_line(reason: object) -> None:
    with pytest.raises(DocumentInvalid) as caught:
        plan(acknowledged=[{"code": "DSGROUP_MISSING", "reason": reason}])

    assert caught.value.problems[0].field == "/acknowledged/0/reason"


def test_reason_of_an_acknowledgment_is_in_no_text_output() -> None:
    from planner_core.texts.outputs import OUTPUT_KINDS, render_output

    document = plan(**PATH, acknowledged=[{"code": "DSGROUP_MISSING", "reason": ") /* SIZE(1) ZZZ"}])
    result = evaluate(document)

    for kind in OUTPUT_KINDS:
        if kind != "job":
            assert "ZZZ" not in render_output(kind, result).text
