"""Acknowledgements of groups of findings, and their withdrawal."""

from __future__ import annotations

import pytest

from app.database.engine import Database
from app.plans import service
from app.plans.acknowledging import acknowledge, withdraw
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
