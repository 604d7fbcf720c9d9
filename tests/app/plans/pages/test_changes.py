"""Differences in the terms of the editor, with units, and a line for each added or removed member."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given

from app.plans.changes_pages import ChangeRow, document_changes, result_changes
from app.plans.finding_groups import only_in
from planner_core.document.reading import read_object
from planner_core.findings import finding
from planner_core.plan.evaluate import evaluate
from tests.planner_core.plans import documents, varied

QUEUE = {"name": "ORDERS.IN", "message_bytes": {"mean": 3500, "p95": 12000, "max": 60000}, "persistent": True,
         "put_rate_per_s": 40, "outage_minutes": 90, "isolation": "PCI"}  # fmt: skip
MYDATA = {"name": "MYDATA", "preflist": ["CF02"], "offload": {"dsgroup": "MQ.SMDS.*.M"}, "queues": [QUEUE]}


def changes(**paths: Any) -> dict[tuple[str, str], ChangeRow]:  # noqa: ANN401
    before, after = (read_object(varied(**given)).model_dump(mode="json") for given in ({}, paths))
    return {(item.place, item.label): item for item in document_changes(before, after)}


@pytest.mark.parametrize(
    ("path", "value", "place", "label", "before", "after"),
    [
        ("cfcc_level", 24, "Group", "CFCC level", "25", "24"),
        ("headroom_percent", 12.5, "Group", "Headroom in INITSIZE", "none given", "12.5 %"),
        ("target_usage_percent", 75, "Group", "Maximum usage at the backlog", "80 %", "75 %"),
        ("growth", {"years": 2}, "Group", "Horizon", "0 years", "2 years"),
        ("queue_managers", ["QM01", "QM02"], "Group", "Queue managers", "5", "QM01 QM02"),
        ("admin__entsmax", 5000, "CSQ_ADMIN", "ENTSMAX", "none given", "5000 entries"),
        ("policy", {"job": True}, "CFRM policy", "Check what the complete job needs", "no", "yes"),
        ("coupling_facilities__0__size", "128G", "Coupling facility CF01", "Storage", "64G", "128G"),
        ("structures__0__preflist", ["CF02"], "Structure APP1", "PREFLIST", "CF01 CF02", "CF02"),
        ("structures__0__initsize", "1G", "Structure APP1", "INITSIZE", "none given", "1G"),
        ("structures__0__offload__dsbufs", 800, "Structure APP1", "DSBUFS", "100", "800"),
        ("structures__0__queues__0__backlog", 250000, "Structure APP1, queue Q1", "Backlog",
         "100 000 messages", "250 000 messages"),
        ("structures__0__queues__0__message_bytes", QUEUE["message_bytes"], "Structure APP1, queue Q1",
         "Message bytes", "1024 bytes", "mean 3500, p95 12 000, max 60 000 bytes"),
    ],
)  # fmt: skip
def test_changed_value_is_listed_with_place_label_and_unit(
    path: str, value: object, place: str, label: str, before: str, after: str
) -> None:
    found = changes(**{path: value})[place, label]
    assert [line.replace("\u202f", " ") for line in (*found.before, *found.after)] == [before, after]


def test_new_structure_is_listed_with_a_line_for_each_given_member() -> None:
    added = changes(structures__1=MYDATA)["Structure MYDATA", ""]
    assert added.before == ()
    assert [line.replace("\u202f", " ") for line in added.after] == [
        "PREFLIST: CF02",
        "DSGROUP: MQ.SMDS.*.M",
        "Queue ORDERS.IN: mean 3500, p95 12 000, max 60 000 bytes, 40 messages a second over 90 minutes, persistent, "
        "kept apart as PCI",
    ]


def test_long_list_of_new_queues_is_truncated_with_the_number_of_omitted_lines() -> None:
    queues = [{"name": f"Q.{n}", "message_bytes": n, "backlog": n} for n in range(512)]
    added = changes(structures__1={"name": "MANY", "queues": queues})["Structure MANY", ""]
    assert len(added.after) == 61
    assert added.after[-1] == "and 452 more lines"


def test_new_queue_rule_and_acknowledgment_are_listed_line_by_line() -> None:
    found = changes(
        structures__0__queues__1=QUEUE,
        structures__0__offload__rules=[{"usage_over": 70, "size_over": "8K"}],
        acknowledged=[{"code": "CF_TOO_SMALL", "structure": "APP1", "reason": "agreed"}],
    )
    assert "Put rate: 40 messages a second" in found["Structure APP1, queue ORDERS.IN", ""].after
    assert found["Structure APP1, offload rule 1", "Messages over"].after == ("8K",)
    assert found["Structure APP1, offload rule 2", ""].after == ()
    assert "Reason: agreed" in found["Acknowledged: CF_TOO_SMALL APP1", ""].after


def test_figures_of_a_result_have_units() -> None:
    before, after = (
        evaluate(read_object(varied(**given))).as_json()
        for given in ({}, {"structures__0__queues__0__backlog": 200_000, "structures__1": MYDATA})
    )
    found = {(item.place, item.label): item for item in result_changes(before, after)}
    assert found["Structure APP1", "INITSIZE"].after[0].endswith(" MiB")
    assert found["Structure APP1", "Messages"].after == ("200\u202f000 messages",)
    assert found["Total", "SIZE"].before[0].endswith(" MiB")
    assert any(
        line.startswith("Need: ") and line.endswith(" MiB") for line in found["Structure MYDATA", ""].after
    )


@given(documents(), documents())
def test_differences_are_never_shown_as_json_or_pointers(one: dict[str, Any], other: dict[str, Any]) -> None:
    plans = [read_object(document) for document in (one, other)]
    documents_, results = (
        [plan.model_dump(mode="json") for plan in plans],
        [evaluate(plan).as_json() for plan in plans],
    )
    for result in results:
        del result["findings"]
    for item in (*document_changes(*documents_), *result_changes(*results)):
        for line in (item.place, item.label, *item.before, *item.after):
            assert not re.search(r"[{}\[\]]|^/|None|_at_|null", line), json.dumps(line)
        assert item.before or item.after


def test_finding_of_an_earlier_release_is_the_same_with_separators_in_sizes() -> None:
    now, earlier, other = (
        [finding("CF_TOO_SMALL", f"CF02 is smaller than {size} MiB.", structure="APP1")]
        for size in ("4096.0", "4,096.0", "4,095.0")
    )
    assert only_in(now, earlier) == only_in(earlier, now) == ()
    assert only_in(now, other) == tuple(now)
