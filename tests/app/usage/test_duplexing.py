"""Plans from usage have the coupling facilities and duplexing of dumps and displays, without a nightly run."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.usage import service
from app.usage.rollups import store_rollups
from spark_jobs import ingest
from spark_jobs.history.hours import roll_up
from spark_jobs.history.store import History
from spark_jobs.smf.encode import dump, rmf_record
from tests.app.usage.support import at, store, structure_hour, ten_days
from tests.app.usage.test_observed import checked, plan_from_usage, remarks, words
from tests.app.web.support import Json
from tests.planner_core.running.test_compare import FIRST, INSTANCE, SECOND
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.rows import MIDNIGHT, qest, structure_rows
from tests.spark_jobs.history.support import commit

NAME = "SQ03APPLICATION1"
STRUCTURE = {
    "xcf_structure": NAME, "structure_type": "SERIALIZED LIST", "allocated_at": MIDNIGHT, "entries_in_use": 1000,
    "entries_total": 5000, "elements_in_use": 6000, "elements_total": 30_000, "size_bytes": 2**29,
    "size_max_bytes": 2**30, "size_min_bytes": 2**28,
}  # fmt: skip
DISPLAY = """\
IXC360I  10.21.33  DISPLAY XCF 812
STRNAME: SQ03APPLICATION1
 STATUS: {status}
 TYPE: SERIALIZED LIST
 POLICY INFORMATION:
  POLICY SIZE    : 1024 M
  DUPLEX         : {duplex}
  PREFERENCE LIST: CF01     CF02

{instances}  CONNECTION NAME  ID VERSION  SYSNAME  JOBNAME  ASID STATE
  ---------------- -- -------- -------- -------- ---- ----------------
  CSQESQ03CSQ101   01 00010003 SYS1     CSQ1MSTR 0045 ACTIVE
"""
DUPLEXED = SECOND + FIRST
Records = dict[str, dict[str, object]]
"""Values of the structure in the record of each coupling facility."""


@pytest.fixture(autouse=True)
def no_other_rmf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the 74-4 records that test dumps usually contain."""
    monkeypatch.setattr(dumps, "rmf", lambda _: [])


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "history")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    made_app = create_app(Settings(data_dir=tmp_path / "data"))
    yield made_app
    made_app.state.database.close()


def bring(url: str, path: Path, *arguments: str) -> None:
    assert ingest.main(["--history", url, *dumps.GROUPS, *arguments, str(path)]) == 0


def rmf(folder: Path, url: str, *intervals: Records) -> None:
    """Ingest a dump with a record per interval and coupling facility after those of the queue managers."""
    records: list[bytes] = []
    for number, facilities in enumerate(intervals):
        records += dumps.interval(number)
        for facility, says in facilities.items():
            rows: dict[str, list[dict[str, Any]]] = {
                "r744_cf": [{"coupling_facility": facility, "sysplex": "PLEX1", "system_name": "SYSA"}],
                "r744_storage": [{"total_bytes": 2**36, "free_bytes": 2**35}],
                "r744_structure": [STRUCTURE | says],
            }
            records += rmf_record(dumps.header("SYSA", "", number), rows)
    path = folder / "dump.smf"
    path.write_bytes(dump(records))
    bring(url, path)


def show(
    folder: Path,
    url: str,
    instances: str,
    *,
    at: dt.datetime,
    duplex: str = "ENABLED",
    status: str = "ALLOCATED",
) -> None:
    """Ingest an answer to D XCF,STR,STRNAME=."""
    path = folder / f"display-{at:%H%M}.txt"
    text = DISPLAY.format(duplex=duplex, status=status, instances=instances.format(actual="512 M"))
    path.write_text(text)
    bring(url, path, "--observed-at", at.isoformat(), "--zone", "UTC")


def hours(url: str) -> dict[str, Json]:
    """Return the hours of APPLICATION1 by their start."""
    return {
        line["hour"][11:16]: line
        for line in roll_up(History.open(url))
        if line["event"] == "structure_hour" and line["structure"] == "APPLICATION1"
    }


def placed(line: Json) -> tuple[object, ...]:
    return tuple(line[name] for name in ("coupling_facilities", "is_duplexed", "policy_duplex"))


def plan(app: FastAPI, url: str) -> tuple[Json, Json]:
    """Return the first structure of a plan from usage, and the whole answer."""
    with app.state.database.session(writes=True) as session:
        store_rollups(session, json.loads(json.dumps(list(roll_up(History.open(url))))))
    found = plan_from_usage(app, period="all", coupling_facilities=["CF09"], structures=["APPLICATION1"])
    (structure,) = found["document"]["structures"]
    return structure, found


# ---- the roll-up -----------------------------------------------------------------------------------------------------


def test_flags_in_smf_74_4_show_duplexing_and_the_primary(tmp_path: Path, url: str) -> None:
    rmf(
        tmp_path, url,
        {"CF01": {"is_duplexed": True, "is_secondary": True}, "CF02": {"is_duplexed": True, "is_primary": True}},
    )  # fmt: skip
    (line,) = hours(url).values()
    assert placed(line) == (["CF02", "CF01"], True, None)
    assert line["placed_by"] == ["74-4 R744SREQ"]


def test_flags_set_by_the_gatherer_show_duplexing(tmp_path: Path, url: str) -> None:
    policy = {"policy_size_bytes": 2**30, "is_in_duplexing": True}
    rmf(
        tmp_path, url,
        {"CF01": {**policy, "is_new_instance": True}, "CF02": {**policy, "is_old_instance": True}},
    )  # fmt: skip
    (line,) = hours(url).values()
    assert placed(line) == (["CF02", "CF01"], True, None)
    assert line["placed_by"] == ["74-4 R744QSDS", "74-4 R744SREQ"]


def test_placement_of_an_hour_is_that_of_its_last_interval(tmp_path: Path, url: str) -> None:
    policy = {"policy_size_bytes": 2**30}
    rmf(
        tmp_path, url,
        {"CF01": {"is_duplexed": True}, "CF02": {"is_duplexed": True}},
        {"CF02": {**policy, "is_active_instance": True}},
    )  # fmt: skip
    (line,) = hours(url).values()
    assert placed(line) == (["CF02"], False, None)


def test_instance_in_hold_state_is_not_a_placement(tmp_path: Path, url: str) -> None:
    policy = {"policy_size_bytes": 2**30}
    rmf(
        tmp_path,
        url,
        {"CF01": {**policy, "is_in_hold": True}, "CF02": {**policy, "is_active_instance": True}},
    )
    (line,) = hours(url).values()
    assert placed(line) == (["CF02"], False, None)


def test_two_instances_without_flags_are_not_reported_as_duplexed(tmp_path: Path, url: str) -> None:
    rmf(tmp_path, url, {"CF01": {}, "CF02": {}})
    (line,) = hours(url).values()
    assert placed(line) == (["CF01", "CF02"], None, None)


def test_displays_show_policy_and_instances(tmp_path: Path, url: str) -> None:
    show(tmp_path, url, DUPLEXED, at=MIDNIGHT + dt.timedelta(hours=1))
    show(tmp_path, url, INSTANCE, at=MIDNIGHT + dt.timedelta(hours=2), duplex="DISABLED")
    moving = DUPLEXED.replace("DUPLEXING REBUILD", "REBUILD")
    show(tmp_path, url, moving, at=MIDNIGHT + dt.timedelta(hours=3), duplex="ALLOWED")
    found = hours(url)
    assert placed(found["01:00"]) == (["CF01", "CF02"], True, "ENABLED"), "the old instance is the primary"
    assert placed(found["02:00"]) == (["CF01"], False, "DISABLED")
    assert placed(found["03:00"]) == (["CF02", "CF01"], None, "ALLOWED"), "it moves to the new instance"
    assert {tuple(line["placed_by"]) for line in found.values()} == {("display XCF",)}


def test_structure_that_is_not_allocated_still_has_a_policy(tmp_path: Path, url: str) -> None:
    show(tmp_path, url, "", at=MIDNIGHT, status="NOT ALLOCATED")
    (line,) = hours(url).values()
    assert placed(line) == (None, None, "ENABLED")


def test_hours_without_placements_have_no_values(tmp_path: Path, url: str) -> None:
    commit(History.open(url, create=True), "a", structures=structure_rows(qest()))
    (line,) = hours(url).values()
    assert [line[name] for name in ("coupling_facilities", "is_duplexed", "policy_duplex", "placed_by")] == [
        None
    ] * 4


# ---- the plan --------------------------------------------------------------------------------------------------------


def test_structure_duplexed_in_smf_74_4_is_duplexed_in_its_plan(
    app: FastAPI, tmp_path: Path, url: str
) -> None:
    duplexed = {"is_duplexed": True}
    rmf(tmp_path, url, {"CF02": {**duplexed, "is_primary": True}, "CF01": {**duplexed, "is_secondary": True}})
    structure, found = plan(app, url)
    assert structure["duplex"] == "ENABLED"
    assert structure["preflist"] == ["CF02", "CF01", "CF09"]
    assert found["duplexing_observed"]["APPLICATION1"] == {
        "is_duplexed": True, "observed_at": "2026-11-20T00:00:00Z", "policy_duplex": None, "policy_observed_at": None,
        "duplex": "ENABLED", "sources": ["74-4 R744SREQ"],
    }  # fmt: skip
    said = "DUPLEX is ENABLED, because it was duplexed in the hour of 2026-11-20 00:00 UTC. Read from: 74-4 R744SREQ."
    assert f"APPLICATION1: {said}" in remarks(found)
    assert "no record shows whether it moved" not in remarks(found)
    assert "left at their defaults: CFLEVEL" in remarks(found)


def test_displayed_policy_determines_duplexing(app: FastAPI, tmp_path: Path, url: str) -> None:
    active: dict[str, object] = {"policy_size_bytes": 2**30, "is_active_instance": True}
    rmf(tmp_path, url, *[{"CF01": active}] * 6)
    show(tmp_path, url, DUPLEXED, at=MIDNIGHT + dt.timedelta(minutes=40))
    structure, found = plan(app, url)
    assert structure["duplex"] == "ENABLED", "one instance is temporarily lost: the policy is unchanged"
    assert structure["preflist"] == ["CF01", "CF09"]
    assert found["duplexing_observed"]["APPLICATION1"]["is_duplexed"] is False
    assert (
        "D XCF,STR showed DUPLEX(ENABLED) in the hour of 2026-11-20 00:00 UTC and it had one instance in the hour of 2026-11-20 02:00 UTC"
        in remarks(found)
    )


def test_single_instance_does_not_show_the_policy(app: FastAPI, tmp_path: Path, url: str) -> None:
    rmf(tmp_path, url, {"CF01": {"policy_size_bytes": 2**30, "is_active_instance": True}})
    structure, found = plan(app, url)
    assert structure["duplex"] == "DISABLED", "as in any new plan"
    assert found["duplexing_observed"]["APPLICATION1"]["duplex"] is None
    assert "That does not show DUPLEX of the policy, which is left at its default" in remarks(found)
    assert "left at their defaults: DUPLEX where a remark says so" in remarks(found)


@pytest.mark.parametrize(
    ("policy", "duplexed", "wanted"),
    [("ALLOWED", True, "ALLOWED"), ("DISABLED", True, "ENABLED"), ("DISABLED", False, "DISABLED")],
)
def test_plan_follows_the_duplexing_policy(app: FastAPI, policy: str, duplexed: bool, wanted: str) -> None:
    store(app, ten_days())
    says = {
        "coupling_facilities": ["CF01", "CF02"][: 1 + duplexed],
        "is_duplexed": duplexed,
        "placed_by": ["74-4 R744SREQ"],
    }
    store(
        app,
        [
            structure_hour(238, policy_duplex=f"{policy}, SITE", placed_by=["display XCF"]),
            structure_hour(239, **says),
        ],
    )
    found = plan_from_usage(app)
    assert found["document"]["structures"][0]["duplex"] == wanted
    assert ("the plan counts one instance" in remarks(found)) == (wanted == "ALLOWED")


def test_observation_after_the_period_is_ignored(app: FastAPI) -> None:
    store(app, ten_days())
    one, two = ({"coupling_facilities": [name], "is_duplexed": False} for name in ("CF01", "CF02"))
    store(app, [structure_hour(200, **one), structure_hour(210, **two)])
    assert plan_from_usage(app)["coupling_facilities_observed"]["APPLICATION1"] == ["CF02"]
    with app.state.database.session(writes=False) as session:
        (before,) = service.placements(session, "SQ03", at(210))["APPLICATION1"]
        assert before.coupling_facility == "CF01"
        assert service.duplexing(session, "SQ03", at(210))["APPLICATION1"].observed_at == at(200)


# ---- what would shrink -----------------------------------------------------------------------------------------------


def test_size_below_the_current_one_is_reported(app: FastAPI) -> None:
    store(app, ten_days())
    (told,) = plan_from_usage(app, queues=["PAYMENTS.IN"])["findings"]
    assert (told["code"], told["severity"], told["structure"]) == (
        "STRUCTURE_SHRINKS",
        "warning",
        "APPLICATION1",
    )
    assert told["field"] == "/structures/0/initsize"
    assert "is smaller than the 524288 K allocated on 2026-11-25 23:00 UTC" in told["message"]
    assert plan_from_usage(app, backlog="rate", outage_minutes=600)["findings"] == []
    shown = checked(app, "/usage/SQ03/plan", structure="APPLICATION1")
    assert "STRUCTURE_SHRINKS" in words(shown)
