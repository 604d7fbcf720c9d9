"""The runbook: a section for each structure with its own names, numbers and commands."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.texts.xcf.runbook import runbook
from planner_core.whatif.recovery import recovery
from tests.planner_core.plans import policy_documents, varied

RULE = "-" * 71


def sections(**paths: Any) -> dict[str, str]:  # noqa: ANN401
    """Return the text of each structure by its name in the policy."""
    lines = runbook(evaluate(read_object(varied(**paths)))).splitlines()
    starts = [n - 1 for n, line in enumerate(lines) if line == RULE]
    ends = [*starts[1:], len(lines)]
    return {lines[start]: "\n".join(lines[start + 2 : end]) for start, end in zip(starts, ends, strict=True)}


def test_each_structure_has_its_own_section() -> None:
    found = sections()
    names = ["SQ03CSQ_ADMIN", "SQ03APP1", "SQ03CSQSYSAPPL"]
    assert list(found) == [*names, "SEVERAL STRUCTURES LOST TOGETHER"]
    for name in names:
        text = found[name]
        assert f"D XCF,STR,STRNAME={name}" in text
        assert f"DISPLAY CFSTATUS({name.removeprefix('SQ03')}) ALL" in text
        assert "IXC585E  when entries or elements are 85 % in use" in text


def test_section_for_ixc585e_inhibits_puts_adds_getters_and_alters() -> None:
    text = sections(structures__0__initsize="300M", structures__0__size="500M")["SQ03APP1"]
    assert "INITSIZE 307200K (300.0 MiB)" in text
    assert "SIZE     512000K (500.0 MiB)" in text
    assert "Start more applications that get from it" in text
    assert "     ALTER QLOCAL(Q1) QSGDISP(SHARED) PUT(DISABLED)" in text
    assert "     SETXCF START,ALTER,STRNAME=SQ03APP1,SIZE=409600" in text
    assert "raise SIZE in the policy and rebuild it" in text


def test_reason_2192_is_explained_with_both_pools() -> None:
    text = sections()["SQ03APP1"]
    after = text[text.index("On reason 2192 (MQRC_STORAGE_MEDIUM_FULL)") :]
    assert "All entries, or all elements" in after
    assert "data set is full or being expanded" in " ".join(after.split())
    assert "need not be the one that filled the structure" in after
    assert "PUT(ENABLED)" in after


def test_csq_admin_section_has_indirect_symptoms_and_no_queue() -> None:
    text = sections()["SQ03CSQ_ADMIN"]
    assert "ENTSMAX at least 5000" in text
    assert "commands get no response" in text
    assert "fail while they process a commit" in text
    assert "CSQE022E" in text
    assert "PUT(DISABLED)" not in text


def test_csq_admin_section_lists_abend_codes_and_checks_of_both_pools() -> None:
    text = sections()["SQ03CSQ_ADMIN"]
    assert "they end with 00C51165 and 00C510AB" in text
    assert "APAR PH39578" in text
    assert "at least 10000 in D XCF,STR" in text
    assert "CSQE038E" in text
    assert "APAR PH54826" in text


@pytest.mark.parametrize(
    ("duplex", "words"), [("DISABLED", None), ("ALLOWED", "It may be"), ("ENABLED", "It is")]
)
def test_section_of_a_duplexed_csq_admin_mentions_the_connect_loop(duplex: str, words: str | None) -> None:
    text = sections(admin__duplex=duplex)["SQ03CSQ_ADMIN"]
    assert ("PH67936" in text) is (words is not None)
    assert words is None or f"{words} duplexed, DUPLEX({duplex})" in text


def test_recoverable_structure_is_backed_up_every_hour_and_recovered() -> None:
    text = sections(queue_managers=["QM01", "QM02"])["SQ03APP1"]
    assert "Back it up at least every 60 minutes, on QM01" in text
    assert "     BACKUP CFSTRUCT(APP1) CMDSCOPE(QM01)\n" in text
    assert text.index("BACKUP CFSTRUCT") < text.index("     RECOVER CFSTRUCT(APP1)\n")
    unnamed = sections(queue_managers=2)["SQ03APP1"]
    assert "every 60 minutes, on one queue manager" in unnamed
    assert "     BACKUP CFSTRUCT(APP1)\n" in unnamed


def test_unrecoverable_structure_has_no_backup() -> None:
    text = sections(structures__0__recover=False)["SQ03APP1"]
    assert "It is not backed up: it has RECOVER(NO). If the structure is" in text
    assert "BACKUP CFSTRUCT" not in text
    assert "RECOVER CFSTRUCT" not in text


def test_runbook_has_the_backup_interval_of_the_recovery_question() -> None:
    # 50 messages of 20 KB a second: 50 x (20 + 1.3) KB x 3600 are 3744 MB an hour, and 2.7 MB a second reads 9720.
    # 500 a second are ten times as much: the interval must be shorter than an hour.
    queues = [
        {
            "name": "Q1",
            "message_bytes": 20_480,
            "put_rate_per_s": 500,
            "outage_minutes": 1,
            "persistent": True,
        }
    ]
    document = read_object(varied(structures__0__queues=queues, structures__0__recover=True))
    (found,) = recovery(document).structures
    assert found.meets is False
    assert found.interval_minutes is not None
    every = math.floor(found.interval_minutes * 10) / 10
    assert 0 < every < 60
    text = " ".join(sections(structures__0__queues=queues, structures__0__recover=True)["SQ03APP1"].split())
    assert f"Back it up at least every {every:g} minutes, on one queue manager." in text


def test_backup_that_takes_too_long_to_read_is_reported() -> None:
    queues = [{"name": "Q1", "message_bytes": 60_000, "backlog": 1_000_000, "persistent": True}]
    text = " ".join(sections(structures__0__queues=queues, structures__0__recover=True)["SQ03APP1"].split())
    assert "No backup interval makes it available within 60 minutes" in text


def test_structures_lost_together_are_recovered_by_one_valid_command() -> None:
    structures = [
        {
            "name": f"APPLICATION{n}",
            "recover": n != 2,
            "queues": [{"name": f"Q{n}", "message_bytes": 100, "backlog": n}],
        }
        for n in range(1, 10)
    ]
    text = runbook(evaluate(read_object(varied(structures=structures, queue_managers=["QM01", "QM02"]))))
    last = text[text.index("SEVERAL STRUCTURES LOST TOGETHER") :].splitlines()[3:]
    assert all(len(line) <= 71 for line in last)
    assert all(line.endswith(", +") for line in last[:-1])
    command = "".join(line.strip().removesuffix("+").strip() for line in last)
    names = [*(f"APPLICATION{n}" for n in range(1, 10) if n != 2), "CSQSYSAPPL"]
    assert command == f"RECOVER CFSTRUCT({','.join(names)})"
    members = [line.split("CMDSCOPE(")[1] for line in text.splitlines() if "BACKUP CFSTRUCT" in line]
    assert members == [*["QM01)", "QM02)"] * 4, "QM01)"]


def test_csqsysappl_is_backed_up_and_recovered_and_its_definition_is_assumed() -> None:
    found = sections(queue_managers=["QM01", "QM02"])
    text = found["SQ03CSQSYSAPPL"]
    assert "RECOVER(YES) is" in text
    assert "     DISPLAY CFSTRUCT(CSQSYSAPPL) CFLEVEL RECOVER RECAUTO CFCONLOS\n" in text
    assert "     BACKUP CFSTRUCT(CSQSYSAPPL) CMDSCOPE(QM02)\n" in text
    assert "     RECOVER CFSTRUCT(CSQSYSAPPL)" in text
    assert "     RECOVER CFSTRUCT(APP1,CSQSYSAPPL)" in found["SEVERAL STRUCTURES LOST TOGETHER"]


@pytest.mark.parametrize("keys", [{"offload": {"to": "DB2"}}, {"cflevel": 4}])
def test_section_of_a_structure_without_data_sets_does_not_mention_them(keys: dict[str, Any]) -> None:
    definition = {"name": "APP1", "queues": [{"name": "Q1", "message_bytes": 100, "backlog": 9}], **keys}
    assert "data set" not in sections(structures=[definition])["SQ03APP1"]
    assert "one of its data sets" in " ".join(sections()["SQ03APP1"].split())


def test_plan_without_csqsysappl_has_no_backup_of_it() -> None:
    lines = runbook(evaluate(read_object(varied(system__include=False)))).splitlines()
    assert not [line for line in lines if "CFSTRUCT(CSQSYSAPPL)" in line]


@pytest.mark.parametrize(("offload", "is_there"), [({"to": "SMDS"}, True), ({"to": "DB2"}, False)])
def test_data_sets_of_removed_queue_managers_are_mentioned_only_with_smds(
    offload: dict[str, str], is_there: bool
) -> None:
    text = sections(structures__0__offload=offload)["SQ03APP1"]
    assert ("PH61721" in text) is is_there
    assert ("DISPLAY CFSTATUS(APP1) TYPE(SMDS)" in text) is is_there


def test_puts_to_system_queues_are_not_inhibited() -> None:
    text = sections()["SQ03CSQSYSAPPL"]
    assert "Do not inhibit puts to these." in text
    assert "PUT(DISABLED)" not in text


def test_five_largest_queues_are_listed_in_order_and_quoted() -> None:
    queues = [{"name": f"q{n}", "message_bytes": 100, "backlog": n} for n in (3, 9, 1, 7, 5, 8)]
    text = sections(structures__0__queues=queues)["SQ03APP1"]
    named = [line.strip() for line in text.splitlines() if "PUT(DISABLED)" in line]
    assert named == [f"ALTER QLOCAL('q{n}') QSGDISP(SHARED) PUT(DISABLED)" for n in (9, 8, 7, 5, 3)]


def test_structure_that_cannot_grow_in_place_is_described() -> None:
    text = sections(size_factor=1)["SQ03APP1"]
    assert "4. The structure cannot grow in place" in text
    assert "SETXCF START,ALTER" not in text


def test_runbook_without_monitoring_does_not_wait_for_ixc585e() -> None:
    text = sections(structures__0__full_threshold=0)["SQ03APP1"]
    assert "IXC585E  is never issued: FULLTHRESHOLD(0)" in text


@settings(max_examples=50)
@given(policy_documents())
def test_any_plan_has_a_runbook_in_plain_text(document: dict[str, Any]) -> None:
    text = runbook(evaluate(read_object(document)))
    assert text.isascii()
    assert all(line == line.rstrip() for line in text.splitlines())
    several = "SEVERAL STRUCTURES LOST TOGETHER" in text
    assert text.count(RULE) == len(document["structures"]) + 2 + several


def test_unit_of_size_is_stated_and_reallocate_follows_its_test() -> None:
    for sizes in ({"initsize": "300M", "size": "500M"}, {"initsize": "500M", "size": "500M"}):
        text = sections(**{f"structures__0__{key}": value for key, value in sizes.items()})["SQ03APP1"]
        assert "check the unit" not in text
        assert "     SETXCF START,REBUILD,STRNAME=SQ03APP1\n" in text
        assert text.index("     D XCF,REALLOCATE,TEST") < text.index("     SETXCF START,REALLOCATE")


@pytest.mark.parametrize("sizes", [("300M", "500M"), ("500M", "500M")])
@pytest.mark.parametrize("name", ["SQ03CSQ_ADMIN", "SQ03APP1", "SQ03CSQSYSAPPL"])
@pytest.mark.parametrize("duplex", ["ENABLED", "ALLOWED", "DISABLED"])
def test_duplexing_stops_before_a_rebuild(duplex: str, name: str, sizes: tuple[str, str]) -> None:
    paths = {"structures__0": sizes, "admin": sizes, "system": sizes}
    given = {
        f"{path}__{key}": size
        for path, both in paths.items()
        for key, size in zip(("initsize", "size"), both, strict=True)
    }
    text = sections(**given, **{f"{path}__duplex": duplex for path in paths})[name]
    commands = [
        line.strip()
        for line in text.splitlines()
        if line.strip().startswith("SETXCF ") and ",REBUILD" in line
    ]
    stop, rebuild = (
        f"SETXCF STOP,REBUILD,DUPLEX,STRNAME={name},KEEP=OLD",
        f"SETXCF START,REBUILD,STRNAME={name}",
    )
    start = f"SETXCF START,REBUILD,DUPLEX,STRNAME={name}"
    assert (
        commands
        == {"ENABLED": [stop, rebuild], "ALLOWED": [stop, rebuild, start], "DISABLED": [rebuild]}[duplex]
    )
    words = " ".join(text.split())
    assert ("first activate the new policy, but with DUPLEX(ALLOWED) for this structure" in words) is (
        duplex == "ENABLED"
    )
    if duplex == "DISABLED":
        assert "Wait until" not in words
    else:
        assert (
            words.index(stop) < words.index("Wait until D XCF,STR shows one instance.") < words.index(rebuild)
        )
        assert words.index(rebuild) < words.index("When the rebuild is complete, ")
