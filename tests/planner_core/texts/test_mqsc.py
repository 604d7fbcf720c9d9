"""MQSC: one command for each structure and queue, quoted, continued and within its columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.document.reading import read_object
from planner_core.plan.evaluate import evaluate
from planner_core.texts.mqsc.render import mqsc
from tests.planner_core.plans import varied

LAST_COLUMN = 72


def rendered(**paths: Any) -> str:  # noqa: ANN401
    return mqsc(evaluate(read_object(varied(**paths))))


def commands(text: str) -> Iterator[str]:
    """Return the commands as MQ reads them: without comments, and with + continued at the first nonblank of the next line."""
    command = ""
    for line in text.splitlines():
        if line.startswith("*") and not command:
            continue
        if line.endswith("+"):
            command += line[:-1].lstrip() if command else line[:-1]
        else:
            yield command + (line.lstrip() if command else line)
            command = ""
    assert not command, "the last command is incomplete"


def parameters(command: str) -> dict[str, str]:
    """Return keywords and values of one command; a quoted value may contain any text. SHARE and NOSHARE have no value."""
    words = re.findall(r" ((?:NO)?SHARE)(?= |$)", command)
    command = re.sub(r" (?:NO)?SHARE(?= |$)", "", command)
    found = re.findall(r"([A-Z0-9]+)\(('(?:[^']|'')*'|[^()']*)\)", command)
    assert "".join(f"{key}({value})" for key, value in found) == command.replace("DEFINE ", "").replace(
        " ", ""
    )
    return dict(found) | dict.fromkeys(words, "")


def test_base_plan_gives_the_expected_commands() -> None:
    structure, queue = commands(rendered())
    assert structure.startswith("DEFINE CFSTRUCT(APP1) ")
    assert parameters(structure) == {
        "CFSTRUCT": "APP1",
        "CFLEVEL": "5",
        "RECOVER": "YES",
        "CFCONLOS": "ASQMGR",
        "RECAUTO": "YES",
        "OFFLOAD": "SMDS",
        "OFFLD1TH": "70",
        "OFFLD1SZ": "32K",
        "OFFLD2TH": "80",
        "OFFLD2SZ": "4K",
        "OFFLD3TH": "90",
        "OFFLD3SZ": "0K",
        "DSGROUP": "'MQ.SMDS.*.APP1'",
        "DSBLOCK": "256K",
        "DSBUFS": "100",
        "DSEXPAND": "YES",
    }
    assert queue.startswith("DEFINE QLOCAL(Q1) ")
    assert parameters(queue) == {
        "QLOCAL": "Q1",
        "QSGDISP": "SHARED",
        "CFSTRUCT": "APP1",
        "DEFPSIST": "YES",
        "SHARE": "",
        "DEFSOPT": "SHARED",
    }


@pytest.mark.parametrize(
    ("share", "option", "words"),
    [
        (True, None, "SHARE DEFSOPT(SHARED)"),
        (True, "EXCL", "SHARE DEFSOPT(EXCL)"),
        (False, None, "NOSHARE DEFSOPT(EXCL)"),
        (False, "SHARED", "NOSHARE DEFSOPT(SHARED)"),
    ],
)
def test_queues_are_defined_with_share_by_default(share: bool, option: str | None, words: str) -> None:
    changes: dict[str, Any] = {"structures__0__queues__0__share": share}
    if option:
        changes["structures__0__queues__0__default_share_option"] = option
    _, queue = commands(rendered(**changes))
    assert f" {words}" in queue


def test_queue_usage_attributes_are_defined_as_planned() -> None:
    at = "structures__0__queues__0__"
    changes = {"index_type": "CORRELID", "max_message_length": 65536, "backout_threshold": 3}
    _, queue = commands(
        rendered(**{at + key: value for key, value in changes.items()}, **{at + "backout_queue": "q.Backout"})
    )
    found = parameters(queue)
    assert (found["INDXTYPE"], found["MAXMSGL"], found["BOTHRESH"]) == ("CORRELID", "65536", "3")
    assert found["BOQNAME"] == "'q.Backout'"
    assert "HARDENBO" not in queue  # the backout count of a shared queue survives restarts


def test_cfconlos_recauto_and_dsexpand_are_stated_as_planned() -> None:
    structure, _ = commands(
        rendered(
            structures__0__cfconlos="TOLERATE",
            structures__0__recauto=False,
            structures__0__offload__dsexpand=False,
        )
    )
    assert " CFCONLOS(TOLERATE) RECAUTO(NO) " in structure
    assert structure.endswith("DSEXPAND(NO)")


def test_cfconlos_of_queue_managers_is_written_as_a_command_only_if_stated() -> None:
    assert "ALTER QMGR CFCONLOS(TOLERATE) CMDSCOPE(*)" in rendered(cfconlos="TOLERATE").splitlines()
    silent = rendered().splitlines()
    assert "*   ALTER QMGR CFCONLOS(TOLERATE)" in silent
    assert not [line for line in silent if line.startswith("ALTER")]


def test_cfstruct_has_no_group_prefix() -> None:
    assert "SQ03APP1" not in rendered()
    assert "CFSTRUCT(CSQ_ADMIN)" not in rendered()
    assert "CFSTRUCT(CSQSYSAPPL)" not in rendered()


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_omitted_rules_are_turned_off_with_64k(count: int) -> None:
    rules = [{"usage_over": 10 * n, "size_over": f"{n}K"} for n in range(1, count + 1)]
    found = parameters(next(commands(rendered(structures__0__offload__rules=rules))))
    sizes = [found[f"OFFLD{n}SZ"] for n in (1, 2, 3)]
    thresholds = [found[f"OFFLD{n}TH"] for n in (1, 2, 3)]
    assert sizes == [f"{n}K" for n in range(1, count + 1)] + ["64K"] * (3 - count)
    assert thresholds[:count] == [str(10 * n) for n in range(1, count + 1)]
    assert thresholds[count:] == ["70", "80", "90"][count:]


def test_rule_that_the_plan_turns_off_is_written_unchanged() -> None:
    rules = [{"usage_over": 0, "size_over": "64K"}, {"usage_over": 100, "size_over": "63K"}]
    found = parameters(next(commands(rendered(structures__0__offload__rules=rules))))
    assert (found["OFFLD1TH"], found["OFFLD1SZ"]) == ("0", "64K")
    assert (found["OFFLD2TH"], found["OFFLD2SZ"]) == ("100", "63K")


@pytest.mark.parametrize("level", [3, 4])
def test_definition_below_cflevel_5_has_no_offload(level: int) -> None:
    found = parameters(next(commands(rendered(structures__0__cflevel=level))))
    assert found == {"CFSTRUCT": "APP1", "CFLEVEL": str(level), "RECOVER": "YES"}


def test_offload_to_db2_has_rules_but_no_data_sets() -> None:
    found = parameters(next(commands(rendered(structures__0__offload__to="DB2"))))
    assert found["OFFLOAD"] == "DB2"
    assert "OFFLD3SZ" in found
    assert not {"DSGROUP", "DSBLOCK", "DSBUFS"} & set(found)


def test_missing_dsgroup_is_replaced_by_a_comment() -> None:
    text = rendered(structures__0__offload={})
    assert [line for line in text.splitlines() if "DSGROUP" in line] == [
        "* APP1: DSGROUP is not planned. Add it before you run this."
    ]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("PAYMENTS.IN", "PAYMENTS.IN"),
        ("myqueue", "'myqueue'"),
        ("Orders/2026%", "'Orders/2026%'"),
        ("A_B", "A_B"),
    ],
)
def test_names_that_mqsc_would_change_are_quoted(name: str, written: str) -> None:
    assert f"DEFINE QLOCAL({written}) +\n" in rendered(structures__0__queues__0__name=name)


@pytest.mark.parametrize(
    ("message_bytes", "written"),
    [
        (4_194_304, None),
        (4_194_305, "4194305"),
        (104_857_600, "104857600"),
        ({"mean": 3500, "p95": 12000, "max": 5_000_000}, "5000000"),
        ({"mean": 3500, "p95": 12000, "max": 60_000}, None),
    ],
)
def test_maxmsgl_is_stated_only_above_its_default(message_bytes: object, written: str | None) -> None:
    _, queue = commands(rendered(structures__0__queues__0__message_bytes=message_bytes))
    assert parameters(queue).get("MAXMSGL") == written


queue_names = st.from_regex(r"[A-Za-z0-9./_%]{1,48}", fullmatch=True)
dsgroups = st.sampled_from(
    [None, "*.X", "MQ.SMDS.*.APP1", ".".join(["A2345678"] * 4) + ".*.ABCDEF", "MQ-1.$*.Y"]
)


@settings(max_examples=200)
@given(st.lists(queue_names, min_size=1, max_size=4, unique=True), dsgroups, st.booleans(), st.integers(3, 5))
def test_lines_stay_within_their_columns_and_never_become_comments(
    names: list[str], dsgroup: str | None, persistent: bool, level: int
) -> None:
    queues = [
        {"name": name, "message_bytes": 5_000_000, "backlog": 1, "persistent": persistent} for name in names
    ]
    text = rendered(
        structures__0__queues=queues,
        structures__0__cflevel=level,
        structures__0__offload={"dsgroup": dsgroup},
    )
    assert text.isascii()
    assert text.endswith("\n")
    lines = text.splitlines()
    assert all(len(line) <= LAST_COLUMN for line in lines)
    assert all(line == line.rstrip() for line in lines)
    continued = [bool(n and lines[n - 1].endswith("+")) for n in range(len(lines))]
    for line, is_continued in zip(lines, continued, strict=True):
        assert line.startswith("       ") if is_continued else line.startswith(("*", "DEFINE "))
        assert not line.startswith("*") or not line.endswith(("+", "-"))
    read = [parameters(command) for command in commands(text)]
    assert len(read) == 1 + len(names)
    for name, queue in zip(names, read[1:], strict=True):
        written = queue["QLOCAL"]
        as_mq_reads_it = written[1:-1] if written.startswith("'") else written.upper()
        assert as_mq_reads_it == name
        assert queue["DEFPSIST"] == ("YES" if persistent else "NO")


def test_plan_without_application_structures_defines_nothing() -> None:
    assert list(commands(rendered(structures=[]))) == []


DEPTHS = {
    "name": "Q1",
    "message_bytes": 1024,
    "backlog": 1000,
    "maxdepth": 1000,
    "qdepthhi": 80,
    "qdepthlo": 20,
    "qdphiev": "ENABLED",
    "qdploev": "DISABLED",
    "qdpmaxev": "DISABLED",
    "qsvciev": "NONE",
    "curdepth": 7,
}


def test_depth_events_are_defined_as_planned() -> None:
    _, queue = commands(rendered(structures__0__queues=[DEPTHS]))
    assert parameters(queue) == {
        "QLOCAL": "Q1",
        "QSGDISP": "SHARED",
        "CFSTRUCT": "APP1",
        "DEFPSIST": "NO",
        "SHARE": "",
        "DEFSOPT": "SHARED",
        "MAXDEPTH": "1000",
        "QDEPTHHI": "80",
        "QDEPTHLO": "20",
        "QDPHIEV": "ENABLED",
        "QDPLOEV": "DISABLED",
        "QDPMAXEV": "DISABLED",
        "QSVCIEV": "NONE",
    }
    assert "suggested" not in rendered(structures__0__queues=[DEPTHS])


def test_unstated_thresholds_are_suggested_as_comments() -> None:
    other = {"name": "Q2", "message_bytes": 1024, "backlog": 1000}
    text = rendered(structures__0__queues=[{**DEPTHS, "qdepthlo": None}, other])
    assert "* Q1:\n*   suggested: QDEPTHLO(20)\n" in text
    suggested = (
        r"\* Q2:\n\*   suggested: MAXDEPTH\(\d+\) QDEPTHHI\(80\) QDEPTHLO\(20\)\n\* +QDPHIEV\(ENABLED\)\n"
    )
    assert re.search(suggested, text)
    read = {parameters(command)["QLOCAL"]: parameters(command) for command in list(commands(text))[1:]}
    assert "QDEPTHLO" not in read["Q1"]
    assert "MAXDEPTH" not in read["Q2"]


def test_suggested_maxdepth_below_the_backlog_has_a_comment() -> None:
    def of(size: str) -> str:
        queue = {"name": "Q1", "message_bytes": 2048, "backlog": 300_000, "qdphiev": "ENABLED"}
        return rendered(structures__0__queues=[queue], structures__0__initsize=size, structures__0__size=size)

    assert (
        "*   This MAXDEPTH is below the planned backlog of 300000 messages:\n"
        "*   the structure cannot hold more. Enlarge it, and plan again.\n"
    ) in of("512M")
    assert "suggested: MAXDEPTH" in of("2G")
    assert "below the planned backlog" not in of("2G")


def test_plan_without_depth_events_has_no_depth_attributes() -> None:
    text = rendered()
    assert not re.search("suggested|PERFMEV|MAXDEPTH|QDEPTH", text)


def test_perfmev_is_written_as_a_comment() -> None:
    text = rendered(perfmev={"QM01": "ENABLED", "QM02": "DISABLED"})
    assert "*   ALTER QMGR PERFMEV(ENABLED) on QM01\n*   ALTER QMGR PERFMEV(DISABLED) on QM02\n" in text
    assert "on every queue manager\n" in rendered(perfmev="ENABLED")
    assert all(command.startswith("DEFINE ") for command in commands(text))


@settings(max_examples=100)
@given(queue_names, st.sampled_from([None, 0, 1, 999_999_999]), st.sampled_from([None, 0, 80, 100]))
def test_lines_with_depth_events_are_within_their_columns(
    name: str, maxdepth: int | None, qdepthhi: int | None
) -> None:
    one = {"name": name, "message_bytes": 1, "backlog": 10**9, "maxdepth": maxdepth, "qdepthhi": qdepthhi}
    text = rendered(structures__0__queues=[one], structures__0__initsize="1G", perfmev="ENABLED")
    for line in text.splitlines():
        assert len(line) <= LAST_COLUMN
        assert not line.startswith("*") or not line.endswith(("+", "-"))
