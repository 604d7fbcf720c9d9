from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import URL
from sqlalchemy.orm import Session

from app.database.engine import Database
from app.paging import PageRequest
from app.plans import service as plans
from app.search.answers import Kind, SearchHit, SearchResults
from app.search.query import read_query
from app.search.service import search
from planner_core.findings import catalogue
from tests.app.plans.support import plan
from tests.app.search.support import measure, save, structure

FIRST_PAGE = PageRequest()


@pytest.fixture
def session(empty_url: URL) -> Iterator[Session]:
    """Return a session on SQLite and on PostgreSQL."""
    database = Database(empty_url, migrates=True)
    with database.session(writes=True) as opened:
        yield opened
    database.close()


def found(session: Session, text: str, kind: Kind, asked: PageRequest = FIRST_PAGE) -> SearchResults:
    (group,) = search(session, read_query(text), asked, kind=kind).groups
    return group


def places(group: SearchResults) -> list[tuple[str, str]]:
    return [(hit.name, hit.plan or f"measured in {hit.qsg}") for hit in group.items]


def test_queue_is_found_in_every_plan_that_uses_it_and_in_measured_usage(session: Session) -> None:
    save(session, "ONE", structure("APPL1", "PAYMENTS.IN", "OTHER"))
    save(session, "two", structure("APPL1"), structure("APPL2", "PAYMENTS.IN"), qsg="SQ04")
    save(session, "THREE", structure("APPL1", "EU.PAYMENTS.IN"))
    measure(session, "SQ03", "APPL1", "PAYMENTS.IN")
    group = found(session, "payments.in", "queues")
    assert places(group) == [
        ("PAYMENTS.IN", "ONE"), ("PAYMENTS.IN", "two"), ("PAYMENTS.IN", "measured in SQ03"), ("EU.PAYMENTS.IN", "THREE"),
    ]  # fmt: skip
    assert (group.total, group.plans) == (4, 3)
    assert [hit.url for hit in group.items[:3]] == [
        "/plans/ONE/versions/1/structures/APPL1",
        "/plans/two/versions/1/structures/APPL2",
        "/usage/SQ03/APPL1/queue?name=PAYMENTS.IN",
    ]


def test_generic_name_matches_queues_from_their_beginning(session: Session) -> None:
    save(session, "ONE", structure("APPL1", "PAY.A", "pay.b", "EU.PAY", "PA_"))
    assert [hit.name for hit in found(session, "PAY*", "queues").items] == ["PAY.A", "pay.b"]
    assert [hit.name for hit in found(session, "*.PAY", "queues").items] == ["EU.PAY"]
    assert found(session, "*", "queues").total == 4
    assert [hit.name for hit in found(session, "pa_", "queues").items] == ["PA_"]


def test_queue_without_a_structure_leads_to_the_usage_of_its_group(session: Session) -> None:
    measure(session, "SQ03", "", "LOST.IN")
    (hit,) = found(session, "LOST.IN", "queues").items
    assert (hit.url, hit.structure) == ("/usage?search=SQ03", "")


def test_only_the_latest_versions_of_current_plans_are_searched(session: Session) -> None:
    save(session, "ONE", structure("APPL1", "OLD", "BOTH"))
    save(session, "ONE", structure("APPL1", "NEW", "BOTH"), qsg="SQ09")
    assert search(session, read_query("OLD"), PageRequest(), kind="queues").total == 0
    assert [(hit.name, hit.qsg) for hit in found(session, "*", "queues").items] == [
        ("BOTH", "SQ09"),
        ("NEW", "SQ09"),
    ]
    plans.rename_plan(session, "ONE", "RENAMED")
    assert found(session, "NEW", "queues").items[0].plan == "RENAMED"
    plans.delete_plan(session, "RENAMED")
    assert [group.kind for group in search(session, read_query("NEW"), PageRequest()).groups] == [
        "findings",
        "docs",
    ]
    plans.restore_plan(session, "RENAMED")
    assert found(session, "NEW", "queues").items[0].url == "/plans/RENAMED/versions/2/structures/APPL1"


def test_structures_are_found_by_their_names_with_and_without_the_group(session: Session) -> None:
    save(session, "ONE", structure("APPL1"), qsg="MQ")
    measure(session, "MQ", "APPL1")
    for text in ("appl1", "MQ@@APPL1", "MQ@@*"):
        group = found(session, text, "structures")
        assert places(group) == [("APPL1", "ONE"), ("APPL1", "measured in MQ")]
    assert [hit.url for hit in group.items] == ["/plans/ONE/versions/1/structures/APPL1", "/usage/MQ/APPL1"]


def test_plans_are_found_by_name_and_group(session: Session) -> None:
    save(session, "PAYROLL", structure("APPL1"), qsg="SQ04")
    save(session, "ORDERS", structure("APPL1"), qsg="SQ05")
    assert [hit.name for hit in found(session, "roll", "plans").items] == ["PAYROLL"]
    assert [hit.name for hit in found(session, "sq05", "plans").items] == ["ORDERS"]
    assert found(session, "pay sq04", "plans").total == 1
    assert search(session, read_query("pay sq05"), PageRequest()).total == 0


def test_findings_list_plans_in_which_they_are_open_before_other_codes(session: Session) -> None:
    save(session, "ONE", structure("APPL1", "Q"))
    accepted = [{"code": "USAGE_MEASURE_ASSUMED", "reason": "known"}]
    plans.save_plan(session, "ACCEPTED", plan(acknowledged=accepted))
    group = found(session, "assumed", "findings", PageRequest(per_page=200))
    in_plans = [hit for hit in group.items if hit.plan]
    assert ("USAGE_MEASURE_ASSUMED", "ONE") in places(group)
    assert ("USAGE_MEASURE_ASSUMED", "ACCEPTED") not in places(group)
    assert group.items[: len(in_plans)] == tuple(in_plans)
    assert all(hit.occurrences for hit in in_plans)
    unused = [hit for hit in group.items if not hit.plan]
    assert unused
    assert {hit.found_in for hit in unused} == {"catalogue"}
    assert {hit.name for hit in unused}.isdisjoint(hit.name for hit in in_plans)


def test_pages_of_findings_contain_each_result_once(session: Session) -> None:
    save(session, "ONE", structure("APPL1", "Q"))
    whole = found(session, "a", "findings", PageRequest(per_page=200))
    parts: list[SearchHit] = []
    for number in range(1, 100):
        page = search(session, read_query("a"), PageRequest(number, 7), kind="findings").groups[0]
        assert page.total == whole.total
        parts += page.items
        if number == page.pages:
            break
    assert tuple(parts[:200]) == whole.items


def test_code_of_a_finding_leads_to_its_description(session: Session) -> None:
    code = next(iter(catalogue()))
    (hit, *_) = found(session, code, "findings").items
    assert hit.name == code
    assert hit.url.startswith("/docs/reference/findings")


def test_results_of_a_kind_are_bounded_and_paged(session: Session) -> None:
    save(session, "ONE", structure("APPL1", *(f"Q{number:03}" for number in range(120))))
    group = found(session, "Q", "queues", PageRequest(3, 50))
    assert (group.total, group.pages, len(group.items)) == (120, 3, 20)
    assert group.items[0].name == "Q100"
    assert found(session, "Q", "queues", PageRequest(4, 50)).items == ()


def test_search_for_everything_lists_kinds_with_results_in_order(session: Session) -> None:
    save(session, "ORDERS", structure("ORDERS", "ORDERS.IN"))
    answer = search(session, read_query("orders"), PageRequest())
    assert [group.kind for group in answer.groups] == ["plans", "structures", "queues", "docs"]
    assert answer.total == sum(group.total for group in answer.groups)
    assert search(session, read_query(" "), PageRequest()).groups == ()


def test_saving_again_changes_only_names_that_differ(session: Session) -> None:
    save(session, "ONE", structure("APPL1", "A", "B"))
    save(session, "ONE", structure("APPL1", "B", "C"))
    assert [hit.name for hit in found(session, "*", "queues").items] == ["B", "C"]
