"""Text outputs: refused if they would be wrong, and the same bytes for the same document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_json, read_object
from planner_core.errors import OutputRefused, UnknownOutput
from planner_core.plan.evaluate import evaluate
from planner_core.texts.outputs import OUTPUT_KINDS, Output, render_output
from tests.planner_core.plans import HARDWARE, job_plan, policy_documents, varied
from tests.planner_core.running.policies import keywords_of, read_statements, read_structures

DATA = Path(__file__).parents[1] / "data"
BROKEN = {"structures__0__recover": False}
"""Persistent messages on RECOVER(NO)."""


def output(kind: str, document: dict[str, Any]) -> Output:
    return render_output(kind, evaluate(read_object(document)))


# ---- byte for byte -----------------------------------------------------------------------------------------

SQ03: dict[str, Any] = {
    "schema_version": 1,
    "qsg": "SQ03",
    "queue_managers": 5,
    "cfcc_level": 25,
    "system": {"shared_channels": 500, "group_ur_messages": 1000},
    "coupling_facilities": [
        {"name": "CF01", "size": "64G", "cfcc_level": 25, "site": "SITE1"},
        {"name": "CF02", "size": "64G", "cfcc_level": 25, "site": "SITE2"},
    ],
    "structures": [
        {
            "name": "APPLICATION1",
            "preflist": ["CF01", "CF02"],
            "offload": {"to": "SMDS", "dsgroup": "MQ.SMDS.*.APP1"},
            "queues": [
                {"name": "PAYMENTS.IN", "message_bytes": 1024, "backlog": 200_000, "persistent": True}
            ],
        },
        {
            "name": "MYDATA",
            "preflist": ["CF02", "CF01"],
            "offload": {"to": "SMDS", "dsgroup": "MQ.SMDS.*.MYDATA"},
            "queues": [
                {
                    "name": "ORDERS.IN",
                    "message_bytes": {"mean": 3500, "p95": 12000, "max": 60000},
                    "put_rate_per_s": 40,
                    "outage_minutes": 90,
                    "persistent": True,
                }
            ],
        },
    ],
}
"""The example of the application (app/examples/sq03.yaml), typed independently."""


def sq03(kind: str) -> dict[str, Any]:
    """Return the example; for the job and the workflow, with the name of the policy and the hardware of its coupling facilities."""
    if kind not in ("job", "workflow"):
        return SQ03
    first, second = SQ03["coupling_facilities"]
    facilities = [
        first | HARDWARE | {"dumpspace": "98M"},
        second | HARDWARE | {"sequence": "0000000A1B2D", "partition": "1E"},
    ]
    return SQ03 | {"policy": {"name": "CFRMPOL1", "job": True}, "coupling_facilities": facilities}


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_example_gives_the_stored_bytes(kind: str) -> None:
    # To change one of these files, say in the commit why the old text was wrong.
    expected = (DATA / f"sq03-{kind}.txt").read_bytes()
    assert output(kind, sq03(kind)).text.encode("ascii") == expected


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_equivalent_documents_give_the_same_bytes(kind: str) -> None:
    document = read_object(sq03(kind))
    turned = dict(reversed(sq03(kind).items()))
    for same in (read_object(turned), read_json(document.model_dump_json())):
        assert render_output(kind, evaluate(same)) == output(kind, sq03(kind))


@settings(max_examples=50)
@given(policy_documents())
def test_same_document_gives_the_same_bytes(document: dict[str, Any]) -> None:
    for kind in ("policy", "mqsc", "setxcf", "runbook", "workflow"):
        outcomes = []
        for _ in range(2):
            try:
                outcomes.append(str(output(kind, document)))
            except OutputRefused as refused:
                outcomes.append(str(refused))
        assert outcomes[0] == outcomes[1]


def test_example_reads_back_from_policy_and_job() -> None:
    policy, job = (read_structures(output(kind, sq03(kind)).text) for kind in ("policy", "job"))
    assert [keywords_of(s) for s in policy] == [keywords_of(s) for s in job]
    assert len(policy) == 4


# ---- the names of files ------------------------------------------------------------------------------------


def test_file_name_has_the_group_and_the_kind_of_output() -> None:
    kinds = {kind: output(kind, job_plan()).filename for kind in OUTPUT_KINDS}
    assert kinds == {
        "policy": "SQ03-policy.txt",
        "job": "SQ03-job.jcl",
        "mqsc": "SQ03-define.mqsc",
        "setxcf": "SQ03-setxcf.txt",
        "runbook": "SQ03-runbook.txt",
        "workflow": "SQ03-workflow.xml",
    }


def test_unsafe_characters_of_a_file_name_are_replaced() -> None:
    assert output("policy", varied(qsg="A$#")).filename == "A__-policy.txt"


# ---- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_plan_with_errors_gives_no_text(kind: str) -> None:
    with pytest.raises(OutputRefused) as refused:
        output(kind, job_plan(**BROKEN))
    assert refused.value.kind == kind
    assert [item.code for item in refused.value.findings] == ["PERSISTENT_NEEDS_RECOVER"]
    assert f"The {kind} output is not available while the plan has errors." in str(refused.value)
    assert refused.value.findings[0].message in str(refused.value)


@pytest.mark.parametrize("kind", [kind for kind in OUTPUT_KINDS if kind != "job"])
@pytest.mark.parametrize("asked", [True, False])
def test_fields_missing_for_the_job_block_only_the_job(kind: str, asked: bool) -> None:
    assert output(kind, varied(policy={"job": asked})).text


@pytest.mark.parametrize("asked", [True, False])
def test_incomplete_job_is_refused_even_if_the_plan_does_not_request_it(asked: bool) -> None:
    with pytest.raises(OutputRefused) as refused:
        output("job", varied(policy={"job": asked}))
    (item,) = refused.value.findings
    assert item.code == "JOB_INCOMPLETE"
    assert item.field == "/policy/name"
    assert str(refused.value).startswith("The job output needs values that are missing. ")
    assert "Missing: the policy name; TYPE, MFG, PLANT, SEQUENCE, PARTITION of CF01; " in item.message
    assert "/" not in item.message


def test_incomplete_job_is_refused_with_all_other_errors() -> None:
    with pytest.raises(OutputRefused) as refused:
        output("job", varied(**BROKEN))
    assert [item.code for item in refused.value.findings] == ["PERSISTENT_NEEDS_RECOVER", "JOB_INCOMPLETE"]


@pytest.mark.parametrize("key", ["type", "mfg", "plant", "sequence", "partition"])
def test_each_missing_required_hardware_field_is_reported(key: str) -> None:
    document = job_plan()
    del document["coupling_facilities"][1][key]
    with pytest.raises(OutputRefused) as refused:
        output("job", document)
    assert [item.field for item in refused.value.findings] == [f"/coupling_facilities/1/{key}"]


@pytest.mark.parametrize("key", ["cpcid", "dumpspace", "site"])
def test_missing_optional_hardware_fields_are_not_reported(key: str) -> None:
    document = job_plan()
    document["coupling_facilities"][0].pop(key, None)
    assert output("job", document).text


@pytest.mark.parametrize("at", ["admin", "system", "structures__0"])
def test_job_needs_every_coupling_facility_in_a_preflist(at: str) -> None:
    with pytest.raises(OutputRefused) as refused:
        output("job", job_plan(**{f"{at}__preflist": ["CF01", "CF09"]}))
    assert [item.field for item in refused.value.findings] == [f"/{at.replace('__', '/')}/preflist"]


def test_job_does_not_need_the_preflist_of_an_omitted_system_structure() -> None:
    left_out = {"include": False, "shared_channels": 0, "group_ur_messages": 0, "preflist": ["CF09"]}
    assert "CF09" not in output("job", job_plan(system=left_out)).text


def test_job_without_coupling_facilities_is_refused() -> None:
    with pytest.raises(OutputRefused, match="the coupling facilities"):
        output("job", job_plan(coupling_facilities=[]))


def test_warnings_do_not_block_a_text() -> None:
    assert "RECOVER(YES)" in output("mqsc", varied(structures__0__offload__to="DB2")).text


def test_unknown_output_is_refused() -> None:
    with pytest.raises(
        UnknownOutput, match=r"no output .jcl.: choose one of policy, job, mqsc, setxcf, runbook, workflow"
    ):
        output("jcl", varied())


# ---- the job -----------------------------------------------------------------------------------------------


def test_job_replaces_a_policy_only_on_request() -> None:
    for replace in (False, True):
        text = output("job", job_plan(policy__replace=replace)).text
        policy = next(s for s in read_statements(text) if s.verb == "DEFINE POLICY")
        assert policy.one("REPLACE") == ("YES" if replace else "NO")
        assert policy.one("NAME") == "POLICY1"


def test_job_has_every_planned_name_in_its_place() -> None:
    document: PlanDocument = read_object(job_plan())
    text = render_output("job", evaluate(document)).text
    facilities = [s for s in read_statements(text) if s.verb == "CF"]
    assert [cf.one("NAME") for cf in facilities] == [cf.name for cf in document.coupling_facilities]
    for written, cf in zip(facilities, document.coupling_facilities, strict=True):
        for key in ("type", "mfg", "plant", "sequence", "partition", "cpcid", "site"):
            assert written.one(key.upper()) == getattr(cf, key)
