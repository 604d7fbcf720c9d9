"""Every finding on placement and losses: raised with its field and structure, and not raised just beyond its limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from planner_core.findings import Finding, catalogue
from planner_core.whatif.loss import losses_of
from tests.planner_core.whatif.placement.scenes import MACHINE, Json, cf, result, structure

TWO = [cf("CF01"), cf("CF02")]
SCM = {"max_size": "8G", "augmented": "1G"}


@dataclass(frozen=True)
class Case:
    """Coupling facilities and structures with the finding, and the nearest case without it."""

    raised: tuple[Sequence[Json], Sequence[Json]]
    calm: tuple[Sequence[Json], Sequence[Json]]
    says: str
    at: str | None = "/structures/0/preflist"
    structure: str | None = "A"
    raised_with: Json = field(default_factory=dict)
    """Other keys of the plan with the finding, such as CFCONLOS of the queue managers; calm_with: those of the plan without it."""
    calm_with: Json = field(default_factory=dict)


def a(size: str = "4G", **more: object) -> Json:
    return structure("A", size, **more)


NOT_PERSISTENT = [{"name": "Q", "message_bytes": 100, "backlog": 7}]
CASES = {
    "STRUCTURE_NOT_PLACED": Case(([cf("CF01", "4G")], [a()]), ([cf("CF01", "5G")], [a()]), r"3072\.0 MiB free, but 4096\.0 MiB is"),
    "LOSS_STRUCTURE_NOT_PLACED": Case(
        ([cf("CF01"), cf("CF02", "4G")], [a()]), ([cf("CF01"), cf("CF02", "5G")], [a()]), r"Without CF01, SQ03A \(4096\.0 MiB\)"
    ),
    "LOSS_MESSAGES_GONE": Case(
        (TWO, [a() | {"queues": NOT_PERSISTENT}]),
        (TWO, [a(duplex="ENABLED") | {"queues": NOT_PERSISTENT}]),
        r"7 messages of the planned backlog",
        at="/structures/0/duplex",
    ),
    "LOSS_ENDS_QUEUE_MANAGERS": Case(
        (TWO, [a(preflist=["CF02"], cfconlos="TERMINATE")]),
        (TWO, [a(preflist=["CF02"], cfconlos="TOLERATE")]),
        r"^Without CF02: All 2 queue managers of SQ03 end on losing SQ03A\. With TOLERATE they continue",
        at=None,
        structure=None,
    ),
    "QMGR_CFCONLOS_NOT_STATED": Case(
        (TWO, [a()]),
        (TWO, [a()]),
        r"does not state CFCONLOS of the queue managers of SQ03: TERMINATE, MQ's default, is assumed",
        at="/cfconlos",
        structure=None,
        calm_with={"cfconlos": "TERMINATE"},
    ),
    "EXCLUSION_NOT_KEPT": Case(
        (TWO, [a(), structure("B", exclist=["SQ03A"], enforce_order=True)]),
        (TWO, [a(), structure("B", exclist=["SQ03A"])]),
        r"together with SQ03A, .* With ENFORCEORDER\(YES\), XCF ignores",
        at="/structures/1/exclist",
        structure="B",
    ),
    "SECOND_COPY_NOT_PLACED": Case(
        ([cf("CF01"), cf("CF02", "3G")], [a(duplex="ENABLED")]),
        ([cf("CF01"), cf("CF02", "4G")], [a(duplex="ENABLED")]),
        r"DUPLEX\(ENABLED\), but its second copy cannot be placed",
    ),
    "COPIES_FAIL_TOGETHER": Case(
        ([cf("CF01", **MACHINE), cf("CF02", **MACHINE)], [a(duplex="ENABLED")]),
        ([cf("CF01", **MACHINE), cf("CF02")], [a(duplex="ENABLED")]),
        r"\(CF01 and CF02\) are in the same machine",
    ),
    "ONE_COUPLING_FACILITY": Case(([cf("CF01")], []), (TWO, []), r"CF01 is the only", at=None, structure=None),
    "CF_OVERCOMMITTED_AT_SIZE": Case(
        ([cf("CF01", "6G"), cf("CF02")], [a() | {"size": "8G"}]),
        ([cf("CF01", "9G"), cf("CF02")], [a() | {"size": "8G"}]),
        r"may grow to 9216\.0 MiB together, but only 6144\.0 MiB is available",
        at=None,
        structure=None,
    ),
    "STRUCTURE_NOT_PLACED_AT_SIZE": Case(
        ([cf("CF01", "6G")], [a() | {"size": "5.5G"}]),
        ([cf("CF01", "6.5G")], [a() | {"size": "5.5G"}]),
        r"grown to SIZE, SQ03A \(SIZE 5632\.0 MiB\) cannot be placed\. CF01: it has 5120\.0 MiB free, but 5632\.0 MiB is needed",
    ),
    "CF_STORAGE_NOT_STATED": Case(
        ([{"name": "CF01"}, cf("CF02")], []), (TWO, []), r"The storage of CF01 is not stated", at=None, structure=None
    ),
    "PLACEMENT_ORDER_MATTERS": Case(
        ([cf("CF01", "5G")], [a(), structure("B")]), ([cf("CF01", "9G")], [a(), structure("B")]), r"allocated in a different order", at=None, structure=None
    ),
    "SCM_LEVEL_TOO_LOW": Case(
        ([cf("CF01", cfcc_level=18, scm="16G")], [a(scm=SCM)]),
        ([cf("CF01", cfcc_level=19, scm="16G")], [a(scm=SCM)]),
        r"CFCC level 18: level 19 or higher is needed",
        at="/structures/0/scm/max_size",
    ),
    "SCM_LESS_THAN_ASKED": Case(
        ([cf("CF01", scm="4G")], [a(scm=SCM)]),
        ([cf("CF01", scm="8G")], [a(scm=SCM)]),
        r"requests 8192\.0 MiB .* can use 4096\.0 MiB",
        at="/structures/0/scm/max_size",
    ),
    "SCM_OVERCOMMITTED": Case(
        ([cf("CF01", scm="8G")], [a(scm=SCM), structure("B", scm=SCM)]),
        ([cf("CF01", scm="16G")], [a(scm=SCM), structure("B", scm=SCM)]),
        r"16\.0 GiB of storage-class memory together, but it has only 8192\.0 MiB",
        at=None,
        structure=None,
    ),
    "SCM_AUGMENTED_NOT_STATED": Case(
        ([cf("CF01", scm="8G")], [a(scm={"max_size": "8G"})]),
        ([cf("CF01", scm="8G")], [a(scm=SCM)]),
        r"counted as zero",
        at="/structures/0/scm/augmented",
    ),
    "SCM_USED_FROM_THRESHOLD": Case(
        ([cf("CF01", scm="8G")], [a(scm=SCM)]),
        ([cf("CF01", scm="8G")], [a()]),
        r"once 90 % of the structure is in use",
        at="/structures/0/scm/max_size",
    ),
    "SCM_OF_CF_NOT_STATED": Case(
        ([cf("CF01", scm="8G"), cf("CF02")], [a(scm=SCM)]),
        ([cf("CF01", scm="8G"), cf("CF02")], [a(scm=SCM, preflist=["CF01"])]),
        r"of CF02 is not stated, and SQ03A may be placed there",
        at=None,
        structure=None,
    ),
    "DUPLEX_SITE_NOT_STATED": Case(
        (TWO, [a(duplex="ENABLED", duplex_site="SAMESITEONLY")]),
        ([cf("CF01", site="SITE1"), cf("CF02", site="SITE1")], [a(duplex="ENABLED", duplex_site="SAMESITEONLY")]),
        r"DUPLEX\(ENABLED,SAMESITEONLY\), but SITE of CF01, CF02 is not stated: they are assumed to be at the same site, so that no placement is ruled out",
        at="/structures/0/duplex_site",
    ),
}  # fmt: skip
CODES = {*CASES, "CF_STATED_DIFFERENTLY"}


def found(scene: tuple[Sequence[Json], Sequence[Json]], more: Json | None = None) -> list[Finding]:
    facilities, structures = scene
    return list(losses_of([("SQ03", result(list(facilities), list(structures), **(more or {})))]).findings)


@pytest.mark.parametrize("code", CASES)
def test_finding_is_raised_with_its_field_message_and_source(code: str) -> None:
    case = CASES[code]
    items = [item for item in found(case.raised, case.raised_with) if item.code == code]
    assert items
    item = items[0]
    assert (item.field, item.structure, item.severity) == (
        case.at,
        case.structure,
        catalogue()[code].severity,
    )
    assert re.search(case.says, item.message), item.message
    assert item.message.endswith(".")


@pytest.mark.parametrize("code", CASES)
def test_finding_is_not_raised_just_beyond_its_limit(code: str) -> None:
    assert code not in {item.code for item in found(CASES[code].calm, CASES[code].calm_with)}


@pytest.mark.parametrize(
    ("duplex", "site", "expected"),
    [
        ("ALLOWED", "SAMESITEONLY", True),
        ("ALLOWED", "SAMESITE", True),
        ("ENABLED", "CROSSSITE", True),
        ("ENABLED", "ANYSITE", False),
        ("ENABLED", None, False),
        ("DISABLED", "SAMESITEONLY", False),
    ],
)
def test_missing_sites_are_reported_if_duplex_names_one(
    duplex: str, site: str | None, *, expected: bool
) -> None:
    scene = [cf("CF01", site="SITE1"), cf("CF02")], [a(duplex=duplex, duplex_site=site)]
    told = [item.message for item in found(scene) if item.code == "DUPLEX_SITE_NOT_STATED"]
    assert bool(told) == expected
    assert all("SITE of CF02 is not stated: it is" in message for message in told)
    of_plan = [
        item.message for item in result(*map(list, scene)).findings if item.code == "DUPLEX_SITE_NOT_STATED"
    ]
    assert of_plan == told  # the plan says it, whatever is asked


def test_only_plans_that_differ_on_a_coupling_facility_are_reported() -> None:
    one, same = result([cf("CF01")], []), result([cf("CF01")], [], qsg="QSG2")
    other = result([cf("CF01", "50G")], [], qsg="QSG2")
    code = "CF_STATED_DIFFERENTLY"
    assert code in {item.code for item in losses_of([("ONE", one), ("TWO", other)]).findings}
    assert code not in {item.code for item in losses_of([("ONE", one), ("TWO", same)]).findings}
