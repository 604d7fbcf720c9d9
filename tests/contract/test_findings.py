"""Settings that IBM advises against are reported, and only these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.contract.support import Service, assert_findings, put, queue, sample_document

STRUCTURE = "/structures/0"


def quiet() -> dict[str, Any]:
    """Return a plan that follows IBM's advice: two structures, two failure-isolated facilities."""
    document = sample_document()
    document["system"] = {"include": True, "shared_channels": 500, "group_ur_messages": 1000}
    document["admin"] = {"headroom_percent": 25, "entsmax": 6000}
    document["headroom_percent"] = 40
    first = document["structures"][0]
    first["queues"] = [queue(f"A{at}", 50_000, 2048) for at in range(4)]
    second = put(document, f"{STRUCTURE}/name", "MYDATA")["structures"][0]
    second["offload"]["dsgroup"] = "MQ.SMDS.*.MYDATA"
    second["queues"] = [queue(f"B{at}", 50_000, 2048) for at in range(4)]
    second["preflist"] = ["CF02", "CF01"]
    document["structures"].append(second)
    return document


def findings_of(service: Service, document: dict[str, Any]) -> list[dict[str, Any]]:
    response = service.post("/api/v1/size", document)
    assert response.status_code == 200, response.text
    return assert_findings(response.json())


def many(document: dict[str, Any], changes: Mapping[str, object]) -> dict[str, Any]:
    for pointer, value in changes.items():
        document = put(document, pointer, value)
    return document


def test_plan_that_follows_ibms_advice_has_no_warning(service: Service) -> None:
    assert [f for f in findings_of(service, quiet()) if f["severity"] != "info"] == []


PERSISTENT = [queue(f"A{at}", 50_000, 2048) for at in range(4)]
CASES: dict[str, tuple[dict[str, object], set[str]]] = {
    # what is changed, and how severe the new finding may be
    "persistent-at-cflevel-2": (
        {f"{STRUCTURE}/cflevel": 2, f"{STRUCTURE}/recover": False},
        {"error", "warning"},
    ),
    "recover-at-cflevel-2": ({f"{STRUCTURE}/cflevel": 2}, {"error", "warning"}),
    "offload-rules-at-cflevel-4": ({f"{STRUCTURE}/cflevel": 4}, {"error", "warning"}),
    "large-data-at-cflevel-3": (
        {f"{STRUCTURE}/cflevel": 3, f"{STRUCTURE}/queues": [queue("A0", 100, 100_000)]},
        {"error", "warning"},
    ),
    "persistent-without-recover": ({f"{STRUCTURE}/recover": False}, {"error", "warning", "info"}),
    "initsize-below-the-backlog": (
        {f"{STRUCTURE}/initsize": "300M", f"{STRUCTURE}/size": "600M"},
        {"error", "warning"},
    ),
    "size-below-the-backlog": (
        {f"{STRUCTURE}/initsize": "300M", f"{STRUCTURE}/size": "310M"},
        {"error", "warning"},
    ),
    "initsize-below-half-of-size": (
        {f"{STRUCTURE}/initsize": "1200M", f"{STRUCTURE}/size": "2500M"},
        {"warning"},
    ),
    "initsize-below-the-base": (
        {f"{STRUCTURE}/initsize": "20M", f"{STRUCTURE}/size": "30M"},
        {"error", "warning"},
    ),
    "above-full-threshold": ({f"{STRUCTURE}/full_threshold": 50}, {"error", "warning", "info"}),
    "mixed-persistence": ({f"{STRUCTURE}/queues/0/persistent": False}, {"warning", "info"}),
    "one-queue-fills-it": ({f"{STRUCTURE}/queues/0/backlog": 2_000_000}, {"warning", "info"}),
    "larger-than-any-cf": (
        {"/coupling_facilities/0/size": "256M", "/coupling_facilities/1/size": "256M"},
        {"error", "warning"},
    ),
    "volatile": (
        {
            "/coupling_facilities/0/volatile": True,
            "/coupling_facilities/1/volatile": True,
            f"{STRUCTURE}/recover": False,
        },
        {"error", "warning"},
    ),
    "not-failure-isolated": (
        {
            "/coupling_facilities/0/failure_isolated": False,
            "/coupling_facilities/1/failure_isolated": False,
            f"{STRUCTURE}/recover": False,
        },
        {"error", "warning"},
    ),
    "offload-to-db2": ({f"{STRUCTURE}/offload/to": "DB2"}, {"warning", "info"}),
    "no-application-structure": ({"/structures": []}, {"error", "warning"}),
    "only-csq-admin": ({"/structures": [], "/system/include": False}, {"error", "warning"}),
    "csqsysappl-left-out": ({"/system/include": False}, {"error", "warning"}),
    "entsmax-too-low": ({"/admin/entsmax": 4999}, {"error", "warning"}),
    "cf-below-level-9": ({"/coupling_facilities/1/cfcc_level": 8}, {"error"}),
    "plan-below-level-9": ({"/cfcc_level": 8}, {"error"}),
    "level-without-figures": ({"/cfcc_level": 16}, {"warning", "info"}),
    "level-above-figures": ({"/cfcc_level": 26}, {"warning", "info"}),
    "no-dsgroup": ({f"{STRUCTURE}/offload/dsgroup": None}, {"error", "warning"}),
    "unknown-cf-in-preflist": ({f"{STRUCTURE}/preflist": ["CF01", "CF09"]}, {"error", "warning"}),
}


@pytest.mark.parametrize("case", CASES)
def test_settings_that_ibm_advises_against_are_reported(service: Service, case: str) -> None:
    changes, severe = CASES[case]
    before = {(f["code"], f.get("structure")) for f in findings_of(service, quiet())}
    response = service.post("/api/v1/size", many(quiet(), changes))

    if response.status_code == 422:  # refused outright: then it is an error, and says so
        assert "error" in severe, response.text
        return
    assert response.status_code == 200, response.text
    after = assert_findings(response.json())
    new = [f for f in after if (f["code"], f.get("structure")) not in before]
    assert {f["severity"] for f in new} & severe, [(f["code"], f["severity"]) for f in new]


def test_recover_yes_reduces_the_warnings_on_volatile_coupling_facilities(service: Service) -> None:
    volatile = {"/coupling_facilities/0/volatile": True, "/coupling_facilities/1/volatile": True}
    bare = many(quiet(), volatile | {f"{STRUCTURE}/recover": False, "/structures/1/recover": False})
    recovered = many(quiet(), volatile)

    def about(document: dict[str, Any]) -> int:
        return sum(
            "VOLATILE" in f["code"] for f in findings_of(service, document) if f["severity"] == "warning"
        )

    assert about(bare) > about(recovered)


def test_finding_names_its_structure(service: Service) -> None:
    findings = findings_of(service, many(quiet(), {"/structures/1/offload/to": "DB2"}))

    (finding,) = [f for f in findings if f["code"] == "OFFLOAD_DB2"]
    assert finding["structure"] == "MYDATA"
    assert finding["field"].startswith("/structures/1/offload")


def test_csqsysappl_with_ibms_sample_size_at_cfcc_25_is_reported_with_the_minimum(service: Service) -> None:
    # 20 MB failed with IXL015I: INITSIZE MUST BE AT LEAST 41 M. IBM advises 50 000 K or more.
    small = many(quiet(), {"/system/initsize": 20480, "/system/size": 30720})
    enough = many(quiet(), {"/system/initsize": 50176, "/system/size": 75776})
    mixed = many(small, {"/cfcc_level": 14, "/coupling_facilities/0/cfcc_level": 14})
    old = many(mixed, {"/coupling_facilities/1/cfcc_level": 14})

    def complaints(document: dict[str, Any]) -> list[dict[str, Any]]:
        found = findings_of(service, document)
        return [f for f in found if f["structure"] == "CSQSYSAPPL" and f["severity"] in {"error", "warning"}]

    assert any("41" in finding["message"] for finding in complaints(small))
    assert complaints(enough) == []
    assert any("41" in finding["message"] for finding in complaints(mixed))  # it may be allocated in CF02
    assert not any("41" in finding["message"] for finding in complaints(old))


@pytest.mark.parametrize(
    ("level", "initsize_kib", "enough"),
    [(14, 9727, False), (14, 9728, True), (25, 25_599, False), (25, 25_600, True)],
)
def test_csq_admin_below_the_published_minimum_is_reported(
    service: Service, level: int, initsize_kib: int, enough: bool
) -> None:
    changes = {"/admin/headroom_percent": 0, "/admin/initsize": initsize_kib, "/admin/size": 2 * initsize_kib}
    facilities = {f"/coupling_facilities/{at}/cfcc_level": level for at in (0, 1)}
    findings = findings_of(service, many(quiet(), changes | facilities | {"/cfcc_level": level}))

    serious = [f for f in findings if f["structure"] == "CSQ_ADMIN" and f["severity"] == "error"]
    assert bool(serious) is not enough


def test_initsize_below_the_minimum_of_xcf_is_reported(service: Service) -> None:
    # IXL015I at CFCC level 25: INITSIZE MUST BE AT LEAST 41 M, for a request of 20 M.
    document = many(quiet(), {f"{STRUCTURE}/initsize": "20M", f"{STRUCTURE}/size": "30M"})
    findings = findings_of(service, document)

    assert any(
        f["severity"] in {"error", "warning"} and f.get("structure") == "APPLICATION1" for f in findings
    )
