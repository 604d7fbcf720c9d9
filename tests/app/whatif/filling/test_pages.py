"""The pages of backup and recovery and of the SMDS job: stored and submitted plans, and errors at their fields."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.texts.smds_job import LOADS, smds_job
from planner_core.whatif.recovery import recovery
from tests.app.web.pages.html import Element, read
from tests.app.web.support import Answer, post_json, send_json
from tests.app.whatif.placement.test_pages import page, sent, words
from tests.planner_core.whatif.filling.plans import queue

PLAN: dict[str, Any] = {
    "qsg": "SQ03",
    "queue_managers": ["QM01", "QM02"],
    "structures": [
        {
            "name": "FAST",
            "offload": {"dsgroup": "MQ.SMDS.*.FAST"},
            "queues": [queue(message_bytes=20_000, put_rate_per_s=10, persistent=True)],
        },
        {"name": "NOBACK", "recover": False, "offload": {"to": "DB2"}, "queues": [queue("N", backlog=9)]},
    ],
}


@pytest.fixture(scope="module", autouse=True)
def _plans(app: FastAPI) -> None:
    nameless = {**PLAN, "queue_managers": 2}
    double = json.loads(json.dumps(PLAN))
    double["structures"][1] |= {"offload": {"dsgroup": "MQ.SMDS.*.FAST"}}
    for name, plan in (("ready", PLAN), ("nameless", nameless), ("double", double)):
        assert send_json(app, "PUT", f"/api/v1/plans/{name}", plan).status == 201


def row(answer: Answer, name: str) -> list[str]:
    (found,) = [
        each for each in read(answer.text).all("tr") if each.all("th") and each.all("th")[0].text == name
    ]
    return [" ".join(cell.text.split()) for cell in found.all("td")]


def box(answer: Answer, name: str) -> Element:
    return read(answer.text).one("input", id=f"stored-{name}")


def test_recovery_page_has_the_figures_of_the_core(app: FastAPI) -> None:
    answer = page(app, "/whatif/recovery?plan=ready&log_read_mb_per_s=50")
    assert answer.status == 200
    found = recovery(read_object(PLAN)).structures[0]
    mib = 2**20
    assert row(answer, "SQ03FAST")[1:4] == [
        f"{found.backup_bytes / mib:.1f}",
        f"{found.log_bytes_per_hour / mib:.1f}",
        f"{found.log_bytes_between / mib:.1f}",
    ]
    assert row(answer, "Logs are read at") == ["50", "MB per second", "given", "entered below"]
    assert row(answer, "A structure must be back within")[:3] == ["60", "minutes", "assumed"]


def test_log_data_of_queues_without_rates_is_not_known(app: FastAPI) -> None:
    plan = json.loads(json.dumps(PLAN))
    plan["structures"][0]["queues"] = [queue(message_bytes=20_000, backlog=1000, persistent=True)]
    answer = sent(app, "/whatif/recovery", text=json.dumps(plan))
    (log,) = [each for each in read(answer.text).all("div") if each.text.startswith("Log data per hour")]
    assert log.text.endswith("no queue has a rate")
    assert "Log data per hour" in words(page(app, "/whatif/recovery?plan=ready"))
    assert "no queue has a rate" not in words(page(app, "/whatif/recovery?plan=ready"))


def test_structure_without_a_backup_shows_the_reason_instead_of_times(app: FastAPI) -> None:
    assert row(page(app, "/whatif/recovery?plan=ready"), "SQ03NOBACK") == [
        "It is not backed up: it has RECOVER(NO)."
    ]


def test_invalid_input_is_reported_at_its_field(app: FastAPI) -> None:
    answer = page(app, "/whatif/recovery?plan=ready&interval_minutes=often&recovery_minutes=30")
    assert answer.status == 422
    wrong, right = box(answer, "interval_minutes"), box(answer, "recovery_minutes")
    assert wrong.attributes["aria-invalid"] == "true"
    assert read(answer.text).one("p", id="stored-interval_minutes-error").text == "Must be a number."
    assert (right.attributes["value"], "aria-invalid" in right.attributes) == ("30", False)


@pytest.mark.parametrize("question", ["recovery", "smds"])
def test_pages_accept_submitted_plans_and_refuse_unknown_ones(app: FastAPI, question: str) -> None:
    assert page(app, f"/whatif/{question}?plan=nobody").status == 404
    answer = sent(app, f"/whatif/{question}", text=json.dumps(PLAN))
    assert answer.status == 200
    assert "the plan that you sent" in words(answer)
    damaged = sent(app, f"/whatif/{question}", text='{"qsg": "SQ03"}')
    assert damaged.status == 422
    assert " queue_managers: is required" in words(damaged)
    assert "the example plan" in words(page(app, f"/whatif/{question}?plan=.example"))


def test_smds_job_is_shown_and_downloaded_for_each_queue_manager(app: FastAPI) -> None:
    answer = page(app, "/whatif/smds?plan=ready")
    job = smds_job(evaluate(read_object(PLAN)))
    texts = [each.text for each in read(answer.text).all("pre")]
    assert texts == [" ".join(job.of(name).split()) for name in ("QM01", "QM02")]
    assert "MQ.SMDS.QM01.FAST" in texts[0]
    assert "QM02" not in texts[0]
    links = [each.attributes["href"] for each in read(answer.text).all("a", class_="button")]
    whole, *members = [page(app, link) for link in links if "as=" in link]
    assert whole.text == job.text
    assert [each.text for each in members] == [job.of("QM01"), job.of("QM02")]
    assert whole.headers["content-disposition"] == 'attachment; filename="SQ03-smds.jcl"'
    assert members[0].headers["content-disposition"] == 'attachment; filename="SQ03-QM01-smds.jcl"'


def test_smds_job_of_a_submitted_plan_can_be_downloaded(app: FastAPI) -> None:
    answer = sent(app, "/whatif/smds", **{"text": json.dumps(PLAN), "as": "QM02"})
    assert answer.text == smds_job(evaluate(read_object(PLAN))).of("QM02")


def test_chosen_space_for_a_full_structure_applies_to_downloads(app: FastAPI) -> None:
    result = evaluate(read_object(PLAN))
    answer = page(app, "/whatif/smds?plan=ready&for=size")
    chosen = {
        each.attributes["value"]
        for each in read(answer.text).all("option")
        if "selected" in each.attributes and each.attributes["value"] in LOADS
    }
    assert chosen == {"size"}
    links = [each.attributes["href"] for each in read(answer.text).all("a", class_="button")]
    whole, *_ = [page(app, link) for link in links if "as=" in link]
    assert whole.text == smds_job(result, load="size").text != smds_job(result).text
    assert page(app, "/whatif/smds?plan=ready&for=nothing").status == 200


def test_plan_with_errors_shows_them_instead_of_a_job(app: FastAPI) -> None:
    answer = sent(app, "/whatif/smds", text=json.dumps({**PLAN, "system": {"initsize": "1M"}}))
    assert "No job: the plan has errors. Correct them first." in words(answer)
    assert "SYSTEM_STRUCTURE_BELOW_MINIMUM" in words(answer)
    assert "The job" not in [each.text for each in read(answer.text).all("h2")]


def test_names_missing_from_the_plan_can_be_entered_on_the_page(app: FastAPI) -> None:
    answer = page(app, "/whatif/smds?plan=nameless")
    assert answer.status == 200
    assert "No job yet. The plan states the number of queue managers, 2, but not their names" in words(answer)
    assert (
        "aria-invalid" not in box(answer, "queue_managers").attributes
    )  # nothing was typed that could be wrong
    assert "The job" not in [each.text for each in read(answer.text).all("h2")]
    named = page(app, "/whatif/smds?plan=nameless&of=nameless&queue_managers=qm08,+qm09")
    assert "MQ.SMDS.QM08.FAST" in words(named)
    other = page(app, "/whatif/smds?plan=ready&of=nameless&queue_managers=QM08+QM09")
    assert "QM08" not in words(other)
    assert "The plan has 2 queue managers, and 1 is named." in words(
        page(app, "/whatif/smds?plan=nameless&queue_managers=QM08")
    )


def test_thresholds_page_shows_where_the_first_of_its_rules_begins(app: FastAPI) -> None:
    advice = post_json(app, "/api/v1/whatif/thresholds?structure=FAST", PLAN).json()
    steps = advice["compared"][0]["offload_steps"]
    first = min(step["threshold"] for step in steps)
    # The lowest threshold that any rule may have is below the first rule of this structure.
    assert advice["lowest_threshold"] < first
    answer = page(app, "/plans/ready/versions/1/structures/FAST/thresholds")
    assert f"the first of these rules begins at {first} %" in words(answer)


def test_names_are_not_requested_without_offload_to_smds(app: FastAPI) -> None:
    answer = sent(app, "/whatif/smds", text=json.dumps({"qsg": "SQ03", "queue_managers": 2}))
    assert "No structure of the plan offloads to SMDS" in words(answer)
    assert "No job yet" not in words(answer)


def test_error_summary_links_to_the_fields_with_errors(app: FastAPI) -> None:
    answer = page(app, "/whatif/recovery?plan=ready&recovery_minutes=soon")
    told = read(answer.text).one("div", role="alert")
    assert told.one("a")["href"] == "#stored-recovery_minutes"
    assert box(answer, "recovery_minutes").attributes["aria-invalid"] == "true"


@pytest.mark.parametrize(
    ("names", "said"),
    [("QM08 QM08", "occurs twice"), ("LONGNAME", "1 to 4"), (" ".join(f"Q{n:03}" for n in range(33)), "32")],
)
def test_invalid_names_are_reported_at_their_field(app: FastAPI, names: str, said: str) -> None:
    answer = page(app, f"/whatif/smds?plan=nameless&queue_managers={quote(names)}")
    assert answer.status == 422
    assert said in read(answer.text).one("p", id="stored-queue_managers-error").text


def test_dsgroup_used_by_two_structures_is_reported_and_can_be_corrected_at_its_field(app: FastAPI) -> None:
    answer = page(app, "/whatif/smds?plan=double")
    assert (
        read(answer.text).one("p", id="stored-dsgroup-NOBACK-error").text
        == "NOBACK has the same DSGROUP as FAST: each structure needs its own data sets."
    )
    mended = page(app, "/whatif/smds?plan=double&dsgroup-NOBACK=mq.smds.*.other")
    assert "MQ.SMDS.QM01.OTHER" in words(mended)
    wrong = page(app, "/whatif/smds?plan=double&dsgroup-NOBACK=MQ.SMDS")
    assert wrong.status == 422
    assert "asterisk" in read(wrong.text).one("p", id="stored-dsgroup-NOBACK-error").text


@pytest.mark.parametrize("question", ["filling", "survival", "thresholds"])
@pytest.mark.parametrize(
    ("query", "leads_to"),
    [
        ("plan=ready", "/plans/ready/versions/1/structures/FAST/"),
        ("plan=ready&structure=NOBACK", "/plans/ready/versions/1/structures/NOBACK/"),
        ("plan=ready&structure=OTHER", "/plans/ready/versions/1/structures/FAST/"),
    ],
)
def test_structure_is_found_by_its_name(app: FastAPI, question: str, query: str, leads_to: str) -> None:
    answer = page(app, f"/whatif/{question}?{query}")
    assert (answer.status, answer.headers["location"]) == (303, leads_to + question)


@pytest.mark.parametrize("query", ["", "plan=nobody"])
def test_structure_question_without_a_plan_redirects_to_the_list(app: FastAPI, query: str) -> None:
    answer = page(app, f"/whatif/filling?{query}")
    assert answer.headers["location"] == f"/whatif?{query or 'plan='}"


def test_structure_without_queues_reports_the_missing_input(app: FastAPI) -> None:
    plan = {"qsg": "SQ03", "queue_managers": 3, "structures": [{"name": "BARE"}]}
    assert send_json(app, "PUT", "/api/v1/plans/bare", plan).status == 201
    answer = page(app, "/plans/bare/versions/1/structures/BARE/filling")
    assert "Nothing arrives on SQ03BARE: it has no queues in the plan." in words(answer)


def test_list_of_questions_and_plan_pages_link_to_both_questions(app: FastAPI) -> None:
    hub = page(app, "/whatif?plan=ready").text
    assert 'href="/whatif/recovery?plan=ready"' in hub
    assert 'href="/whatif/smds?plan=ready"' in hub
    assert 'href="/whatif/smds?plan=ready"' in page(app, "/plans/ready?tab=policy").text
    assert 'href="/whatif/recovery?plan=ready"' in page(app, "/plans/ready/versions/1/structures/FAST").text
