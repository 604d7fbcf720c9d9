"""Acknowledgments of groups of findings, and their withdrawal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.database.engine import Database
from app.plans import service
from app.plans.acknowledging import acknowledge, acknowledged, withdraw, withdrawn
from app.plans.errors import NothingToWithdraw
from app.plans.stored import StoredVersion
from bench.plans import bank
from planner_core.document.reading import read_object
from planner_core.wire import JsonObject

CODE = "DSGROUP_MISSING"


def save(database: Database, **members: object) -> StoredVersion:
    with database.session(writes=True) as session:
        return service.save_plan(session, "BANK", read_object({**bank(), **members})).version


def entries(version: StoredVersion) -> list[JsonObject]:
    return list(version.document_object["acknowledged"])


def accepted(version: StoredVersion) -> list[str | None]:
    return [each.structure for each in version.findings if each.code == CODE and each.acknowledged]


def test_withdrawal_removes_only_the_entry_of_the_structure(database: Database) -> None:
    save(database)
    acknowledge(database, "BANK", code=CODE, reason="agreed")
    left = withdraw(database, "BANK", code=CODE, structure="SEPA").version
    assert len(accepted(left)) == len(entries(left)) == 5
    assert "SEPA" not in accepted(left)


def test_withdrawal_from_a_general_entry_keeps_the_other_findings_acknowledged(database: Database) -> None:
    version = save(database, acknowledged=[{"code": CODE, "reason": "all of them"}])
    assert len(accepted(version)) == 6
    left = withdraw(database, "BANK", code=CODE, structure="SEPA").version
    assert len(accepted(left)) == 5
    assert {each["reason"] for each in entries(left)} == {"all of them"}
    assert not [each for each in left.findings if each.code == "ACKNOWLEDGEMENT_UNUSED"]


def with_a_note(version: StoredVersion) -> StoredVersion:
    """Return a version in which the finding of SEPA has the severity `info`; the other five are warnings."""
    result = version.result
    for finding in result["findings"]:
        if finding["code"] == CODE and finding["structure"] == "SEPA":
            finding["severity"] = "info"
    return replace(version, result_json=json.dumps(result))


def test_acknowledgment_of_a_severity_keeps_other_severities_of_the_code_open(database: Database) -> None:
    version = with_a_note(save(database))
    every = acknowledged(version, code=CODE, reason="agreed").acknowledged
    warnings = acknowledged(version, code=CODE, severity="warning", reason="agreed").acknowledged
    assert (len(every), len(warnings)) == (6, 5)
    assert {each.structure for each in every} - {each.structure for each in warnings} == {"SEPA"}


def test_withdrawal_of_a_severity_keeps_other_severities_acknowledged(database: Database) -> None:
    save(database)
    version = with_a_note(acknowledge(database, "BANK", code=CODE, reason="agreed").version)
    left = withdrawn(version, code=CODE, severity="warning").acknowledged
    assert [each.structure for each in left] == ["SEPA"]


def test_number_of_acknowledged_and_reopened_findings_is_returned(database: Database) -> None:
    save(database)
    assert acknowledge(database, "BANK", code=CODE, severity="warning", reason="agreed").findings == 6
    assert withdraw(database, "BANK", code=CODE, structure="SEPA").findings == 1


def test_withdrawal_keeps_entries_of_other_codes(database: Database) -> None:
    save(database)
    acknowledge(database, "BANK", code=CODE, reason="agreed")
    acknowledge(database, "BANK", code="INITSIZE_BELOW_NEED", reason="known")
    left = withdraw(database, "BANK", code=CODE).version
    assert {each["code"] for each in entries(left)} == {"INITSIZE_BELOW_NEED"}


def test_withdrawal_without_an_acknowledgment_is_refused(database: Database) -> None:
    save(database)
    with pytest.raises(NothingToWithdraw, match="has no acknowledged finding DSGROUP_MISSING of SEPA"):
        withdraw(database, "BANK", code=CODE, structure="SEPA")
