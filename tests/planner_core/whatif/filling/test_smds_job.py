"""The job of the shared message data sets: a data set for each queue manager and structure, and refusals."""

from __future__ import annotations

import re

import pytest

from planner_core.document.model import PlanDocument
from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.sizing.structures import smds_bytes_in_overload
from planner_core.texts.smds_job import LOADS, Load, SmdsJob, smds_job
from tests.planner_core.whatif.filling.plans import queue, structure

NAMES = ["QM01", "QM02", "QM03"]


def plan(**keys: object) -> PlanDocument:
    made: dict[str, object] = {
        "queue_managers": NAMES,
        "initsize": "1G",
        "size": "2G",
        "offload": {"dsgroup": "MQ.SMDS.*.APP1"},
        **keys,
    }
    return structure([queue(message_bytes=20_000, backlog=500_000)], **made)


def job_of_plan(**keys: object) -> SmdsJob:
    return smds_job(evaluate(plan(**keys)))


def made_for(load: Load, **keys: object) -> SmdsJob:
    return smds_job(evaluate(plan(**keys)), load=load)


def test_data_sets_start_with_space_for_500_large_messages() -> None:
    """10,000,000 bytes and the header of 512 are 2442 pages of 4096; 2 % and a block of 256 KB on top."""
    document = structure(
        [queue(message_bytes=10_000_000, backlog=500)],
        queue_managers=["QM01", "QM02"],
        offload={"dsgroup": "MQ.SMDS.*.BIG"},
        initsize="41M",
        size="62M",
    )
    space = 500 * 2442 * 4096 * 1.02 + 256 * 1024
    small, large = (smds_job(evaluate(document), load=load) for load in LOADS)
    for each in small.data_sets:
        assert space / 2**20 <= each.primary_mib <= space / 2**20 + 2
        assert each.secondary_mib * 100 >= each.when_full_mib - each.primary_mib
        assert each.secondary_mib * 10 >= each.primary_mib
    assert sum(each.primary_mib for each in small.data_sets) < 10 * 1024
    assert sum(each.primary_mib for each in large.data_sets) > 300 * 1024
    assert [each.when_full_mib for each in small.data_sets] == [each.primary_mib for each in large.data_sets]
    assert "planned" in small.text
    assert "DSEXPAND(YES)" in small.text
    assert "full at SIZE" in large.text


@pytest.mark.parametrize("load", LOADS)
def test_job_allocates_the_space_of_the_result(load: Load) -> None:
    offload = {"dsgroup": "MQ.SMDS.*.APP1", "rules": [{"usage_over": 0, "size_over": "4K"}]}
    structure = evaluate(plan(offload=offload)).structures[1]
    need = structure.smds
    assert need is not None
    bytes_needed = smds_bytes_in_overload(structure) if load == "backlog" else need.data_set_bytes_when_full
    assert bytes_needed > 2**20
    assert {each.primary_mib for each in made_for(load, offload=offload).data_sets} == {
        -(-bytes_needed // 2**20)
    }


def test_structure_without_offload_at_its_backlog_has_space_for_an_overload() -> None:
    """The space is that of a plan with 1.5 times the messages in a structure of the same size."""
    sizes = {
        "initsize": "1G",
        "size": "1G",
        "offload": {"dsgroup": "MQ.SMDS.*.APP1"},
        "queue_managers": NAMES,
    }
    planned, more = (
        evaluate(structure([queue(message_bytes=20_000, backlog=backlog)], **sizes))
        for backlog in (26_000, 39_000)
    )
    (before, after) = (result.structures[1].smds for result in (planned, more))
    overload = smds_bytes_in_overload(planned.structures[1])
    assert before is not None
    assert after is not None
    assert before.data_set_bytes_at_backlog == 0
    assert overload == after.data_set_bytes_at_backlog > 100 * 2**20
    (primary,) = {each.primary_mib for each in smds_job(planned).data_sets}
    assert primary == -(-after.data_set_bytes_at_backlog // 2**20)


def test_primary_space_is_between_100_mib_and_the_need_of_a_full_structure() -> None:
    large = structure(
        [queue(backlog=1)], queue_managers=NAMES, offload={"dsgroup": "MQ.*.A"}, initsize="1G", size="1G"
    )
    assert {(each.primary_mib, each.secondary_mib >= 10) for each in smds_job(evaluate(large)).data_sets} == {
        (100, True)
    }
    queues = [queue(f"Q{number}", message_bytes=100, backlog=1) for number in range(9)]
    offload = {"dsgroup": "MQ.SMDS.*.APP1", "dsblock": "1M"}
    small = smds_job(
        evaluate(structure(queues, queue_managers=NAMES, offload=offload, initsize="41M", size="41M"))
    )
    assert all(9 <= each.primary_mib == each.when_full_mib < 100 for each in small.data_sets)


def test_job_header_lists_its_placeholders() -> None:
    for job in (
        job_of_plan(initsize="40M", size="60M"),
        job_of_plan(initsize="20G", size="40G"),
        job_of_plan(offload={"to": "DB2"}),
    ):
        head, _, body = job.text.partition("EXEC PGM=")
        assert set(re.findall(r"[+]{2}[A-Z]+[+]{2}", head)) == set(re.findall(r"[+]{2}[A-Z]+[+]{2}", body))


def test_primary_space_above_one_volume_is_reported() -> None:
    assert "on one volume" in made_for("size").text
    (assumed,) = made_for("size").findings
    (primary,) = {each.primary_mib for each in made_for("size").data_sets}
    assert f"the largest here is {primary} MiB" in assumed.message


@pytest.mark.parametrize("load", LOADS)
def test_data_sets_with_dsexpand_no_have_the_space_of_a_full_structure(load: Load) -> None:
    offload = {"dsgroup": "MQ.SMDS.*.APP1", "dsexpand": False}
    job = made_for(load, offload=offload)
    assert {(each.primary_mib - each.when_full_mib, each.secondary_mib) for each in job.data_sets} == {(0, 0)}
    assert re.search(r"MEGABYTES\([0-9]+\) -", job.text)
    codes = [each.code for each in job.findings]
    assert codes == ["SMDS_DOES_NOT_GROW", "SMDS_JOB_CHOICES_ASSUMED"]
    assert job.findings[0].field == "/structures/0/offload/dsexpand"
    assert [each.code for each in job_of_plan().findings] == ["SMDS_JOB_CHOICES_ASSUMED"]


def test_plan_with_errors_gives_no_job() -> None:
    assert job_of_plan().text
    document = plan().model_dump(mode="json", exclude_defaults=True) | {"system": {"initsize": "1M"}}
    wrong = smds_job(evaluate(read_object(document)))
    assert (wrong.text, wrong.data_sets) == ("", ())
    assert [each.code for each in wrong.findings] == ["SYSTEM_STRUCTURE_BELOW_MINIMUM"]


def test_fields_missing_for_the_cfrm_job_only_do_not_block_the_smds_job() -> None:
    document = plan().model_dump(mode="json", exclude_defaults=True) | {"policy": {"job": True}}
    result = evaluate(read_object(document))
    assert "JOB_INCOMPLETE" in {each.code for each in result.findings}
    assert smds_job(result).text


def test_each_queue_manager_has_a_data_set_with_its_size_for_a_full_structure() -> None:
    job = made_for("size")
    assert [(each.queue_manager, each.name) for each in job.data_sets] == [
        (name, f"MQ.SMDS.{name}.APP1") for name in NAMES
    ]
    need = evaluate(plan()).structures[1].smds
    assert need is not None
    assert {each.primary_mib for each in job.data_sets} == {-(-need.data_set_bytes_when_full // 2**20)}
    assert len(re.findall(r"EXEC PGM=IDCAMS$", job.text, re.MULTILINE)) == 3
    assert len(re.findall(r"EXEC PGM=CSQJUFMT,", job.text)) == 3
    assert [finding.code for finding in job.findings] == ["SMDS_JOB_CHOICES_ASSUMED"]


def test_job_follows_the_columns_and_rules_of_jcl() -> None:
    for line in [
        *job_of_plan().text.splitlines(),
        *made_for("size", initsize="20G", size="40G").text.splitlines(),
    ]:
        assert len(line) <= 71
        assert line.isascii()
        assert line.startswith(("//", "  ", "/*"))
    text = job_of_plan().text
    assert text.splitlines().count("/*") == 3
    names = re.findall(r"^//([A-Z0-9]+) ", text, re.MULTILINE)
    steps = [name for name in names if name.startswith(("DEF", "FMT"))]
    assert len(set(steps)) == len(steps)
    assert all(len(name) <= 8 for name in names)


def test_only_data_sets_over_4_gb_name_a_data_class() -> None:
    large = job_of_plan(initsize="20G", size="40G")
    assert all(each.extended_addressability for each in large.data_sets)
    assert large.text.count("DATACLASS(") == 3
    small = job_of_plan(initsize="40M", size="60M")
    assert not any(each.extended_addressability for each in small.data_sets)
    assert "DATACLASS(" not in small.text


@pytest.mark.parametrize(
    ("keys", "field", "words"),
    [
        ({"queue_managers": 3}, "/queue_managers", "List the names"),
        ({"offload": {}}, "/structures/0/offload/dsgroup", "no DSGROUP"),
    ],
)
def test_missing_input_is_reported_without_a_job(keys: dict[str, object], field: str, words: str) -> None:
    job = job_of_plan(**keys)
    assert (job.text, job.data_sets) == ("", ())
    assert [(finding.severity, finding.field) for finding in job.findings] == [("error", field)]
    assert words in job.findings[0].message


def test_structures_with_the_same_dsgroup_are_refused() -> None:
    found = plan().model_dump(mode="json", exclude_defaults=True)
    other = {**found["structures"][0], "name": "APP2", "queues": [queue("Q2", message_bytes=20_000)]}
    job = smds_job(evaluate(read_object({**found, "structures": [*found["structures"], other]})))
    assert job.text == ""
    assert "APP2 has the same DSGROUP as APP1" in job.findings[0].message


@pytest.mark.parametrize("keys", [{"offload": {"to": "DB2"}}, {"cflevel": 4}])
def test_plan_without_smds_defines_no_data_set(keys: dict[str, object]) -> None:
    job = job_of_plan(**keys)
    assert job.data_sets == ()
    assert "No structure of the plan offloads to SMDS." in job.text


def test_job_has_at_most_255_steps() -> None:
    """z/OS MVS JCL Reference, EXEC statement: "A job can have a maximum of 255 job steps"."""
    names = [f"QM{number:02}" for number in range(1, 33)]
    structures = [
        {
            "name": f"A{at}",
            "offload": {"dsgroup": f"MQ.SMDS.*.A{at}"},
            "queues": [{"name": f"Q{at}", "message_bytes": 70_000, "backlog": 9}],
        }
        for at in range(8)
    ]
    document = read_object(
        {"schema_version": 1, "qsg": "SQ03", "queue_managers": names, "structures": structures}
    )
    job = smds_job(evaluate(document))
    assert len(job.data_sets) == 256
    jobs = job.text.split("//* Put another JOB statement here")
    steps = [part.count(" EXEC PGM=") for part in jobs]
    assert steps == [254, 254, 4]
    assert all(re.findall(r"EXEC PGM=(\w+)", part)[0] == "IDCAMS" for part in jobs)
    assert "Put another" not in job_of_plan().text


def test_data_set_name_over_44_characters_is_reported_without_a_job() -> None:
    longest = "AAAAAAAA.BBBBBBBB.CCCCCCCC.DDDDDDDD.*.EEE"  # 44 with QM01
    assert job_of_plan(offload={"dsgroup": longest}).text
    job = job_of_plan(offload={"dsgroup": longest + "E"})
    assert (job.text, job.data_sets) == ("", ())
    (finding,) = job.findings
    assert finding.field == "/structures/0/offload/dsgroup"
    assert "up to 45 characters, such as AAAAAAAA.BBBBBBBB.CCCCCCCC.DDDDDDDD.QM01.EEEE" in finding.message


def test_dsgroups_that_give_the_same_data_set_are_reported() -> None:
    structures = [
        {
            "name": name,
            "offload": {"dsgroup": dsgroup},
            "queues": [{"name": f"Q.{name}", "message_bytes": 70_000, "backlog": 9}],
        }
        for name, dsgroup in (("A", "MQ.*.QM02"), ("B", "MQ.QM02.*"))
    ]
    document = {"schema_version": 1, "qsg": "SQ03", "queue_managers": ["QM01"], "structures": structures}
    assert smds_job(evaluate(read_object(document))).text
    job = smds_job(evaluate(read_object({**document, "queue_managers": ["QM01", "QM02"]})))
    assert job.text == ""
    assert [(each.structure, each.message) for each in job.findings] == [
        (
            "B",
            "DSGROUP(MQ.QM02.*) of B results in the data set MQ.QM02.QM02, which is also a data set of A: "
            "each structure needs its own data sets.",
        )
    ]
