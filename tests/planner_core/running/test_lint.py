"""Each kind of damage has its finding and line; texts that IBM publishes have no false findings."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core.findings import catalogue
from planner_core.plan.evaluate import evaluate
from planner_core.running.lint import lint
from planner_core.texts.mqsc.render import mqsc
from tests.planner_core.plans import plan
from tests.planner_core.running.policies import JUMBLE
from tests.planner_core.running.policies import policies as any_policies

# IBM MQ, Planning your coupling facility and offload storage environment, as printed.
TEMPLATE = """\
STRUCTURE NAME(structure-name)
INITSIZE(value from graph in KB, that is, multiplied by 1024)
SIZE(something larger)
FULLTHRESHOLD(85)
"""
EXAMPLE = """\
STRUCTURE NAME(QSG1APPLICATION1)
INITSIZE(262144) /* 256 MB */
SIZE(524288)     /* 512 MB */
FULLTHRESHOLD(85)
"""
# The same page, for CSQSYSAPPL.
SYSTEM = """\
STRUCTURE NAME(qsg-nameCSQSYSAPPL)
INITSIZE(20480)        /* 20 MB */
SIZE(30720)            /* 30 MB */
FULLTHRESHOLD(85)
"""
# The same page, for an application structure and a queue on it.
DEFINITIONS = """\
DEFINE CFSTRUCT(APPLICATION1)

DEFINE QLOCAL(myqueue) QSGDISP(SHARED) CFSTRUCT(APPLICATION1)
"""
SHARING = DEFINITIONS.rstrip("\n") + " SHARE DEFSOPT(SHARED)\n"
# z/OS MVS Setting Up a Sysplex, IXCCFRMP of SYS1.SAMPLIB, down to the structures.
SAMPLE = """\
//STEP20   EXEC PGM=IXCMIAPU
//SYSPRINT DD   SYSOUT=A
//SYSABEND DD   SYSOUT=A
//SYSIN    DD   *

     DATA TYPE(CFRM) REPORT(YES)

     DEFINE POLICY NAME(POLICY1) REPLACE(YES)

        CF NAME(FACIL01)
               TYPE(123456)
               MFG(IBM)
               PLANT(PK)
               SEQUENCE(123456789012)
               PARTITION(01)
               DUMPSPACE(98M)

        CF NAME(FACIL02)
               TYPE(123456)
               MFG(IBM)
               PLANT(PK)
               SEQUENCE(123456789012)
               PARTITION(2)
               DUMPSPACE(78M)
"""
# z/OS 3.1, CFRM parameters for administrative data utility: every keyword in its order.
COMPLETE = """\
DATA TYPE(CFRM)
DEFINE POLICY NAME(POLNAME) REPLACE(YES)
CF NAME(CFNAME1)
   TYPE(003931)
   MFG(IBM)
   PLANT(02)
   SEQUENCE(0000000A1B2C)
   PARTITION(0F)
  SIDE(0)
  CPCID(00)
  DUMPSPACE(4M)
  SITE(SITE1)
CF NAME(CFNAME2) TYPE(003931) MFG(IBM) PLANT(02)
   SEQUENCE(0000000A1B2D) PARTITION(0F)
STRUCTURE NAME(STRNAME)
   SIZE(2G)
  INITSIZE(1G)
  MINSIZE(768M)
  SCMMAXSIZE(4G)
  SCMALGORITHM(KEYPRIORITY1)
  ALLOWAUTOALT(NO)
  FULLTHRESHOLD(80)
   PREFLIST(CFNAME1,CFNAME2)
  EXCLLIST(OTHER)
  REBUILDPERCENT(1)
  DUPLEX(DISABLED)
  RECPRTY(3)
  SUBNOTIFYDELAY(5000)
  LISTNOTIFYDELAY(5000)
  KEYRNOTIFYDELAY(5000)
  ENFORCEORDER(NO)
  ALLOWREALLOCATE(YES)
  ENCRYPT(NO)
"""
MQ = """\
DATA TYPE(CFRM) REPORT(YES)
DEFINE POLICY NAME(PROD01) REPLACE(YES)
CF NAME(CF01) TYPE(003931) MFG(IBM) PLANT(02)
   SEQUENCE(0000000A1B2C) PARTITION(0F) CPCID(00)
CF NAME(CF02) TYPE(003931) MFG(IBM) PLANT(02)
   SEQUENCE(0000000A1B2D) PARTITION(0F) CPCID(00)
STRUCTURE NAME(SQ03CSQ_ADMIN)
   SIZE(49152)
   INITSIZE(32768)
   PREFLIST(CF01,CF02)
STRUCTURE NAME(SQ03CSQSYSAPPL)
   SIZE(98304)
   INITSIZE(65536)
   PREFLIST(CF02,CF01)
STRUCTURE NAME(SQ03APP1)
   SIZE(524288)
   INITSIZE(262144)
   FULLTHRESHOLD(85)
   PREFLIST(CF01,CF02)
"""


def codes(
    text: str, *, cfcc_level: int | None = None, queue_managers: int | None = None
) -> list[tuple[str, int | None]]:
    found = lint(text, cfcc_level=cfcc_level, queue_managers=queue_managers).findings
    return [(each.code, each.line) for each in found]


# ---- what IBM publishes --------------------------------------------------------------------------------------


def test_placeholders_in_ibms_template_are_reported_as_invalid_values() -> None:
    found = codes(TEMPLATE)
    assert ("POLICY_VALUE_INVALID", 1) in found
    assert ("POLICY_VALUE_INVALID", 2) in found
    assert ("POLICY_VALUE_INVALID", 3) in found
    assert {line for code, line in found if code == "POLICY_KEYWORD_MISSING"} == {1}  # PREFLIST
    assert not [code for code, line in found if line == 4]


def test_only_finding_on_ibms_example_is_its_missing_preflist() -> None:
    (found,) = lint(EXAMPLE).findings
    assert (found.code, found.line) == ("POLICY_KEYWORD_MISSING", 1)
    assert "needs PREFLIST" in found.message
    assert found.structure == "QSG1APPLICATION1"


def test_ibms_csqsysappl_is_reported_below_the_minimum_at_level_25() -> None:
    named = SYSTEM.replace("qsg-name", "SQ03")
    assert codes(named) == [("POLICY_KEYWORD_MISSING", 1)]
    assert codes(named, cfcc_level=25) == [
        ("POLICY_KEYWORD_MISSING", 1),
        ("SYSTEM_STRUCTURE_BELOW_MINIMUM", 2),
    ]


def test_ibms_definitions_are_reported_only_for_noshare() -> None:
    # IBM's own example leaves SHARE out: NOSHARE is the default.
    found = lint(DEFINITIONS)
    assert found.kinds == ("mqsc",)
    assert [(each.code, each.line) for each in found.findings] == [("SHARED_QUEUE_NOSHARE", 3)]


def test_ibms_sample_job_has_no_finding() -> None:
    assert codes(SAMPLE) == []


def test_every_keyword_of_the_syntax_is_known() -> None:
    assert codes(COMPLETE) == []


def test_policy_for_mq_has_no_finding() -> None:
    assert codes(MQ) == []
    assert codes(MQ, cfcc_level=25, queue_managers=5) == []


# ---- damage ---------------------------------------------------------------------------------------------------

DAMAGE = [
    ("   INITSIZE(262144)\n", "   INITSIZE(262144\n", "POLICY_PARENTHESIS_MISSING", 17),
    ("SIZE(524288)", "SIZE 524288", "POLICY_VALUE_MISSING", 16),
    ("SIZE(524288)", "SIZE()", "POLICY_VALUE_MISSING", 16),
    ("STRUCTURE NAME(SQ03APP1)", "STRUCTUR NAME(SQ03APP1)", "POLICY_STATEMENT_UNKNOWN", 15),
    ("FULLTHRESHOLD(85)", "FULLTRESHOLD(85)", "POLICY_KEYWORD_UNKNOWN", 18),
    ("FULLTHRESHOLD(85)", "FULLTHRESHOLD(850)", "POLICY_VALUE_INVALID", 18),
    ("FULLTHRESHOLD(85)", "FULLTHRESHOLD(85%)", "POLICY_VALUE_INVALID", 18),
    ("FULLTHRESHOLD(85)", "FULLTHRESHOLD(0)", "FULLTHRESHOLD_ZERO", 18),
    ("FULLTHRESHOLD(85)", "SIZE(524288)", "POLICY_KEYWORD_TWICE", 18),
    ("FULLTHRESHOLD(85)", "ALLOWAUTOALT(ON)", "POLICY_VALUE_INVALID", 18),
    ("FULLTHRESHOLD(85)", "ALLOWAUTOALT(YES)", "AUTO_ALTER_MAY_SHRINK", 18),
    ("FULLTHRESHOLD(85)", "DUPLEX(YES)", "POLICY_VALUE_INVALID", 18),
    ("FULLTHRESHOLD(85)", "DUPLEX(ENABLED,BOTHSITES)", "POLICY_VALUE_UNUSUAL", 18),
    ("FULLTHRESHOLD(85)", "DUPLEX(DISABLED,CROSSSITE)", "POLICY_VALUE_INVALID", 18),
    ("FULLTHRESHOLD(85)", "RECPRTY(5)", "POLICY_VALUE_UNUSUAL", 18),
    ("FULLTHRESHOLD(85)", "SCMMAXSIZE(4G)", "POLICY_SCM_INCOMPLETE", 18),
    ("FULLTHRESHOLD(85)", "MINSIZE(300M)", "MINSIZE_ABOVE_INITSIZE", 18),
    ("FULLTHRESHOLD(85)", "EXCLLIST(SQ03APP1)", "POLICY_EXCLUDES_ITSELF", 18),
    ("FULLTHRESHOLD(85)", "EXCLLIST(A,B,C,D,E,F,G,H,I)", "POLICY_TOO_MANY_NAMES", 18),
    ("FULLTHRESHOLD(85)", "/* NOT CLOSED", "POLICY_REMARK_NOT_CLOSED", 18),
    ("INITSIZE(262144)", "/* 256 MB\n   INITSIZE(262144) /* */", "POLICY_REMARK_SWALLOWS", 17),
    ("INITSIZE(262144)", "INITSIZE(262144)\n/* REMARK */", "POLICY_COLUMN_ONE_REMARK", 18),
    ("INITSIZE(262144)", "INITSIZE(200000)", "SIZE_OVER_TWICE_INITSIZE", 16),
    ("INITSIZE(262144)", "INITSIZE(524289)", "INITSIZE_ABOVE_SIZE", 17),
    ("SIZE(524288)", "SIZE(524288KB2)", "POLICY_VALUE_INVALID", 16),
    ("SIZE(524288)", "SIZE(0.5G)", "POLICY_VALUE_INVALID", 16),
    ("SIZE(524288)", "SIZE(512MB)", "POLICY_VALUE_INVALID", 16),
    ("SIZE(524288)", "SIZE(0000524288)", "POLICY_VALUE_INVALID", 16),
    ("SIZE(524288)", "SIZE(2T)", "SIZE_ABOVE_MAXIMUM", 16),
    (
        "   PREFLIST(CF01,CF02)\nSTRUCTURE NAME(SQ03CSQS",
        "STRUCTURE NAME(SQ03CSQS",
        "POLICY_KEYWORD_MISSING",
        7,
    ),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(CF02)", "PREFLIST_SINGLE_CF", 14),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(CF02,CF02)", "POLICY_NAME_LISTED_TWICE", 14),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(CF02,CFO1)", "POLICY_CF_UNDEFINED", 14),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(CF02,1CF)", "POLICY_VALUE_INVALID", 14),
    ("   PREFLIST(CF02,CF01)", " " * 60 + "PREFLIST(CF02,CF01)", "POLICY_BEYOND_COLUMN_71", 14),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(CF01,,CF02)", "POLICY_VALUE_MISSING", 14),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(CF01,CF02,)", "POLICY_VALUE_MISSING", 14),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(,CF01,CF02)", "POLICY_VALUE_MISSING", 14),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST(CF01, /* ? */\n   ,CF02)", "POLICY_VALUE_MISSING", 15),
    ("   PREFLIST(CF02,CF01)", "   PREFLIST('CF02',CF01)", "POLICY_VALUE_QUOTED", 14),
    ("NAME(SQ03APP1)", 'NAME("SQ03APP1")', "POLICY_VALUE_QUOTED", 15),
    ("NAME(SQ03APP1)", "NAME(' SQ03APP1 ')", "POLICY_VALUE_QUOTED", 15),
    ("NAME(SQ03APP1)", "NAME('SQ03APP1)", "POLICY_VALUE_INVALID", 15),
    ("NAME(SQ03APP1)", "NAME('SQ03CSQ_ADMIN')", "POLICY_NAME_TWICE", 15),
    ("FULLTHRESHOLD(85)", "DUPLEX(ENABLED,ASYNC)", "DUPLEX_ASYNC_NOT_LOCK", 18),
    ("FULLTHRESHOLD(85)", "DUPLEX(ALLOWED,CROSSSITE,ASYNCONLY)", "DUPLEX_ASYNC_NOT_LOCK", 18),
    ("NAME(SQ03APP1)", "NAME(SQ03CSQ_ADMIN)", "POLICY_NAME_TWICE", 15),
    ("NAME(SQ03APP1)", "NAME(SQ03APPLICATION001)", "POLICY_VALUE_INVALID", 15),
    ("NAME(SQ03APP1)", "NAME(SQ03APP1) MINE(X)", "POLICY_KEYWORD_UNKNOWN", 15),
    ("STRUCTURE NAME(SQ03APP1)", "structure name(sq03app1)", "POLICY_LOWER_CASE", 15),
    ("CF NAME(CF02)", "CF NAME(CF01)", "POLICY_NAME_TWICE", 5),
    ("0000000A1B2D", "0000000A1B2C", "SAME_CF_TWICE", 5),
    ("SEQUENCE(0000000A1B2D) ", "", "POLICY_KEYWORD_MISSING", 5),
    (
        "TYPE(003931) MFG(IBM) PLANT(02)\n   SEQUENCE(0000000A1B2D)",
        "TYPE(3931) MFG(IBM) PLANT(02)\n   SEQUENCE(0000000A1B2D)",
        "POLICY_VALUE_INVALID",
        5,
    ),
    ("DATA TYPE(CFRM) REPORT(YES)\n", "\n", "POLICY_DATA_MISSING", 2),
    ("REPLACE(YES)", "REPLACE(YES) ' ", "POLICY_TEXT_NOT_UNDERSTOOD", 2),
    ("REPLACE(YES)", "REPLACE(YES)\nMORE WORDS", "POLICY_TEXT_NOT_UNDERSTOOD", 3),
    ("NAME(SQ03CSQ_ADMIN)", "NAME(SQ04CSQ_ADMIN)", "ADMIN_STRUCTURE_MISSING", 11),
    ("   SIZE(49152)\n   INITSIZE(32768)", "   SIZE(4096)", "ADMIN_BELOW_MINIMUM", 8),
]


FOLLOWS = {
    "SIZE 524288": [("POLICY_KEYWORD_MISSING", 15)],
    "SIZE(2T)": [("SIZE_OVER_TWICE_INITSIZE", 16)],
    "   PREFLIST(CF02,1CF)": [("POLICY_CF_UNDEFINED", 14)],
    "NAME('SQ03CSQ_ADMIN')": [("POLICY_VALUE_QUOTED", 15)],
    "CF NAME(CF01)": [("POLICY_CF_UNDEFINED", line) for line in (10, 14, 19)],
    "NAME(SQ04CSQ_ADMIN)": [("TOO_FEW_STRUCTURES", 7)],
}
"""Further findings that the damage causes."""


@pytest.mark.parametrize(("good", "bad", "code", "line"), DAMAGE)
def test_damage_is_reported_with_its_line(good: str, bad: str, code: str, line: int) -> None:
    assert MQ.count(good) >= 1
    before, _, after = MQ.rpartition(good)
    found = lint(before + bad + after)
    said = [(each.code, each.line) for each in found.findings]
    assert sorted(said) == sorted([(code, line), *FOLLOWS.get(bad, [])])
    told = next(each for each in found.findings if (each.code, each.line) == (code, line))
    assert told.message.endswith(".") or told.message.endswith("?")
    assert len(told.message) < 400


# IBM's published fragments, damaged: the whole answer to each.
PUBLISHED_DAMAGE = [
    (SAMPLE, "DATA TYPE(CFRM) REPORT(YES)", "", [("POLICY_DATA_MISSING", 8)]),
    (SAMPLE, "DATA TYPE(CFRM)", "DATA TYPE(CFRM", [("POLICY_PARENTHESIS_MISSING", 6)]),
    (SAMPLE, "DEFINE POLICY NAME(POLICY1)", "DEFINE POLICY NAME(POLICY001)", [("POLICY_VALUE_INVALID", 8)]),
    (SAMPLE, "NAME(POLICY1) REPLACE", "REPLACE", [("POLICY_KEYWORD_MISSING", 8)]),
    (SAMPLE, "REPLACE(YES)", "REPLACE YES", [("POLICY_VALUE_MISSING", 8)]),
    (SAMPLE, "NAME(FACIL01)", "NAME(FACIL0001)", [("POLICY_VALUE_INVALID", 10)]),
    (SAMPLE, "NAME(FACIL02)", "NAME(FACIL01)", [("POLICY_NAME_TWICE", 18)]),
    (SAMPLE, "PARTITION(2)", "PARTITION(1)", [("SAME_CF_TWICE", 18)]),
    (SAMPLE, "PARTITION(01)", "PARTITION(0G)", [("POLICY_VALUE_INVALID", 15)]),
    (SAMPLE, "TYPE(123456)\n               MFG(IBM)\n               PLANT(PK)\n               SEQUENCE(123456789012)\n               PARTITION(01)", "TYPE(12345)\n               MFG(IBM)\n               PLANT(PK)\n               SEQUENCE(123456789012)\n               PARTITION(01)", [("POLICY_VALUE_INVALID", 11)]),
    (SAMPLE, "DUMPSPACE(98M)", "DUMPSPACE(98MB)", [("POLICY_VALUE_INVALID", 16)]),
    (SAMPLE, "DUMPSPACE(98M)", "DUMPSPACE()", [("POLICY_VALUE_MISSING", 16)]),
    (SAMPLE, "DUMPSPACE(98M)", "DUMPSPACES(98M)", [("POLICY_KEYWORD_UNKNOWN", 16)]),
    (SAMPLE, "        CF NAME(FACIL02)", "/* REMARK */\n        CF NAME(FACIL02)", [("POLICY_COLUMN_ONE_REMARK", 18)]),
    (SAMPLE, "        CF NAME(FACIL02)", "        CFS NAME(FACIL02)", [("POLICY_STATEMENT_UNKNOWN", 18)]),
    (EXAMPLE, "INITSIZE(262144) /* 256 MB */", "INITSIZE(262144) /* 256 MB", [("POLICY_KEYWORD_MISSING", 1), ("POLICY_REMARK_SWALLOWS", 2)]),
    (EXAMPLE, "/* 512 MB */", "/* 512 MB", [("POLICY_KEYWORD_MISSING", 1), ("POLICY_REMARK_NOT_CLOSED", 3)]),
    (EXAMPLE, "INITSIZE(262144)", "INITSIZE(524289)", [("POLICY_KEYWORD_MISSING", 1), ("INITSIZE_ABOVE_SIZE", 2)]),
    (EXAMPLE, "SIZE(524288) ", "SIZE(524289) ", [("POLICY_KEYWORD_MISSING", 1), ("SIZE_OVER_TWICE_INITSIZE", 3)]),
    (EXAMPLE, "SIZE(524288) ", "SIZE(512 M B) ", [("POLICY_KEYWORD_MISSING", 1), ("POLICY_VALUE_INVALID", 3)]),
    (EXAMPLE, "FULLTHRESHOLD(85)", "FULLTHRESHOLD(185)", [("POLICY_KEYWORD_MISSING", 1), ("POLICY_VALUE_INVALID", 4)]),
    (EXAMPLE, "FULLTHRESHOLD(85)", "FULLTHRESHOLD(85) SIZE(1G)", [("POLICY_KEYWORD_MISSING", 1), ("POLICY_KEYWORD_TWICE", 4)]),
    (EXAMPLE, "QSG1APPLICATION1", "QSG1APPLICATION12", [("POLICY_KEYWORD_MISSING", 1), ("POLICY_VALUE_INVALID", 1)]),
    (EXAMPLE, "QSG1APPLICATION1", "'QSG1APPLICATION1'", [("POLICY_KEYWORD_MISSING", 1), ("POLICY_VALUE_QUOTED", 1)]),
    (SHARING, "CFSTRUCT(APPLICATION1)\n\n", "CFSTRUCT(QSG1APPLICATION1)\n\n", [("MQSC_VALUE_INVALID", 1), ("CFSTRUCT_NOT_DEFINED_HERE", 3)]),
    (SHARING, " CFSTRUCT(APPLICATION1)\n\n", " CFSTRUCT(CSQ_ADMIN)\n\n", [("MQSC_VALUE_INVALID", 1), ("CFSTRUCT_NOT_DEFINED_HERE", 3)]),
    (SHARING, "QSGDISP(SHARED) CFSTRUCT(APPLICATION1)", "QSGDISP(SHARED)", [("SHARED_QUEUE_WITHOUT_CFSTRUCT", 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("fragment", "good", "bad", "wanted"), PUBLISHED_DAMAGE)
def test_damaged_fragment_has_only_the_findings_of_its_damage(
    fragment: str, good: str, bad: str, wanted: list[tuple[str, int]]
) -> None:
    assert fragment.count(good) >= 1
    damaged = fragment.replace(good, bad, 1)
    assert codes(damaged) == wanted


def test_console_time_stamps_are_reported_once_and_skipped() -> None:
    pasted = "".join(
        f" 10.21.33 STC01234  {line}\n" for line in MQ.replace("(CF02,CF01)", "(CF02,\n  CF01)").splitlines()
    )
    assert codes(pasted, cfcc_level=25, queue_managers=5) == [("POLICY_TEXT_NOT_UNDERSTOOD", 1)]


def test_similar_keyword_is_suggested() -> None:
    (found,) = lint(MQ.replace("FULLTHRESHOLD", "FULLTRESHOLD")).findings
    assert "Did you mean FULLTHRESHOLD?" in found.message
    found, *_ = lint(MQ.replace("STRUCTURE NAME(SQ03APP1)", "STRUCTUR NAME(SQ03APP1)")).findings
    assert "Did you mean STRUCTURE?" in found.message


def test_quoted_name_is_read_without_quotes() -> None:
    quoted = MQ.replace("PREFLIST(CF02,CF01)", "PREFLIST('CF02',\u2018CF01\u2019)")
    quoted = quoted.replace("NAME(CF02)", 'NAME("CF02")').replace(
        "NAME(SQ03CSQ_ADMIN)", "NAME('SQ03CSQ_ADMIN')"
    )
    assert {code for code, _ in codes(quoted, cfcc_level=25, queue_managers=5)} == {"POLICY_VALUE_QUOTED"}
    (found,) = lint(MQ.replace("NAME(SQ03APP1)", "NAME('SQ03APP1')")).findings
    assert "reads it as SQ03APP1" in found.message


@pytest.mark.parametrize(
    ("name", "duplex", "says"),
    [
        (
            "SQ03APP1",
            "ENABLED,ASYNC",
            "It is an MQ list structure: with ASYNC it is duplexed synchronously",
        ),
        ("SQ03APP1", "ENABLED,ASYNCONLY", "with ASYNCONLY it is not duplexed at all"),
        ("SQ03APP1", "ENABLED,SYNCONLY", None),
        ("SQ03APP1", "ENABLED", None),
        ("DSNDB0P_LOCK1", "ENABLED,ASYNC", None),
        ("DSNDB0P_SCA", "ALLOWED,ASYNC", "Unless it is one"),
    ],
)
def test_asynchronous_duplexing_of_list_structures_is_reported(
    name: str, duplex: str, says: str | None
) -> None:
    before, _, after = MQ.replace("NAME(SQ03APP1)", f"NAME({name})").rpartition("FULLTHRESHOLD(85)")
    found = lint(f"{before}DUPLEX({duplex}){after}").findings
    assert [each.code for each in found] == (["DUPLEX_ASYNC_NOT_LOCK"] if says else [])
    assert all(says in each.message for each in found if says)


def test_csq_admin_is_checked_against_level_and_queue_managers() -> None:
    assert ("ADMIN_BELOW_MINIMUM", 9) in codes(MQ, cfcc_level=25, queue_managers=32)
    assert codes(MQ, cfcc_level=25, queue_managers=11) == []
    grown = MQ.replace("   INITSIZE(32768)", "   INITSIZE(32768) ALLOWAUTOALT(YES) MINSIZE(24M)")
    assert codes(grown, cfcc_level=25, queue_managers=20) == []


def test_policy_with_only_csq_admin_of_a_group_is_reported() -> None:
    text = MQ[: MQ.index("STRUCTURE NAME(SQ03CSQSYSAPPL)")]
    assert codes(text) == [("TOO_FEW_STRUCTURES", 7)]


def test_more_than_64_structures_of_a_group_are_reported() -> None:
    more = "".join(f"STRUCTURE NAME(SQ03X{n}) SIZE(65536) PREFLIST(CF01,CF02)\n" for n in range(62))
    assert ("TOO_MANY_STRUCTURES", 7) in codes(MQ + more)
    fewer = more[: more.rindex("STRUCTURE")]
    assert codes(MQ + fewer) == []


# ---- MQSC -----------------------------------------------------------------------------------------------------

MQSC = """\
* A remark
DEFINE CFSTRUCT(APP1) +
       CFLEVEL(5) +
       RECOVER(YES) +
       OFFLOAD(SMDS) +
       OFFLD1TH(70) OFFLD1SZ(32K) +
       OFFLD2TH(80) OFFLD2SZ(4K) +
       OFFLD3TH(90) OFFLD3SZ(0K) +
       DSGROUP('MQ.SMDS.*.APP1') +
       DSBLOCK(256K) +
       DSBUFS(100)
DEFINE QLOCAL(Q1) +
       QSGDISP(SHARED) +
       CFSTRUCT(APP1) +
       DEFPSIST(YES) SHARE DEFSOPT(SHARED)
"""
MQSC_DAMAGE = [
    ("CFLEVEL(5) +", "CFLEVEL(5)", "MQSC_NOT_UNDERSTOOD", 4),
    ("CFLEVEL(5)", "CFLEVEL(6)", "MQSC_VALUE_INVALID", 3),
    ("CFLEVEL(5)", "CFLEVEL(4)", "OFFLOAD_NEEDS_CFLEVEL_5", 5),
    ("       CFLEVEL(5) +\n", "", "RECOVER_NEEDS_CFLEVEL_3", None),
    ("RECOVER(YES)", "RECOVER(NO)", "PERSISTENT_NEEDS_RECOVER", 15),
    ("RECOVER(YES)", "RECOVER(JA)", "MQSC_VALUE_INVALID", 4),
    ("RECOVER(YES)", "RECOVRE(YES)", "MQSC_ATTRIBUTE_UNKNOWN", 4),
    ("RECOVER(YES)", "CFLEVEL(5)", "MQSC_ATTRIBUTE_TWICE", 4),
    ("OFFLOAD(SMDS)", "OFFLOAD(DB2)", "OFFLOAD_DB2", 5),
    ("OFFLD1TH(70)", "OFFLD1TH(170)", "MQSC_VALUE_INVALID", 6),
    ("OFFLD1SZ(32K)", "OFFLD1SZ(128K)", "MQSC_VALUE_INVALID", 6),
    ("OFFLD2TH(80)", "OFFLD2TH(95)", "OFFLOAD_RULE_WITHOUT_EFFECT", 7),
    ("       DSGROUP('MQ.SMDS.*.APP1') +\n", "", "DSGROUP_MISSING", 2),
    ("MQ.SMDS.*.APP1", "MQ.SMDS.APP1", "MQSC_VALUE_INVALID", 9),
    ("'MQ.SMDS.*.APP1'", "'MQ.SMDS.*.APP1", "MQSC_NOT_UNDERSTOOD", 9),
    ("DSBLOCK(256K)", "DSBLOCK(100K)", "MQSC_VALUE_INVALID", 10),
    ("DSBUFS(100)", "DSBUFS(0)", "MQSC_VALUE_INVALID", 11),
    ("CFSTRUCT(APP1) +\n       DEFPSIST", "DEFPSIST", "SHARED_QUEUE_WITHOUT_CFSTRUCT", 13),
    (
        "CFSTRUCT(APP1) +\n       DEFPSIST",
        "CFSTRUCT(APP2) +\n       DEFPSIST",
        "CFSTRUCT_NOT_DEFINED_HERE",
        14,
    ),
    ("DEFINE CFSTRUCT(APP1)", "DEFINE CFSTRUCT(SQ03APPLICATION1)", "MQSC_VALUE_INVALID", 2),
    ("DEFINE CFSTRUCT(APP1)", "DEFINE CFSTRUCT(CSQ_ADMIN)", "MQSC_VALUE_INVALID", 2),
    ("QLOCAL(Q1)", "QLOCAL('Q 1')", "MQSC_VALUE_INVALID", 12),
    ("DEFPSIST(YES)", "DEFPSIST(YES) MAXMSGL(104857601)", "MQSC_VALUE_INVALID", 15),
    ("DEFPSIST(YES)", "DEFPSIST(YES) MAXDEPTH(1000000000)", "MQSC_VALUE_INVALID", 15),
    ("DEFPSIST(YES)", "DEFPSIST(YES) QDEPTHHI(101)", "MQSC_VALUE_INVALID", 15),
    ("DEFPSIST(YES)", "DEFPSIST(YES) BOTHRESH(-1)", "MQSC_VALUE_INVALID", 15),
]


def test_valid_definitions_have_no_finding() -> None:
    assert codes(MQSC) == []
    assert codes(MQSC.replace("\n", "\r\n")) == []


@pytest.mark.parametrize(("good", "bad", "code", "line"), MQSC_DAMAGE)
def test_damage_in_mqsc_is_reported_with_its_line(good: str, bad: str, code: str, line: int | None) -> None:
    assert MQSC.count(good) == 1
    found = codes(MQSC.replace(good, bad))
    assert (code, line) in found if line else code not in [each for each, _ in found]


def test_shared_dsgroup_and_too_many_queues_are_reported() -> None:
    twice = MQSC + MQSC.replace("APP1)", "APP2)").replace("QLOCAL(Q1)", "QLOCAL(Q2)")
    assert ("DSGROUP_TWICE", 24) in codes(twice)
    many = MQSC + "".join(
        f"DEFINE QLOCAL(Q.{n}) QSGDISP(SHARED) CFSTRUCT(APP1) SHARE DEFSOPT(SHARED)\n" for n in range(512)
    )
    assert ("TOO_MANY_QUEUES", 14) in codes(many)
    assert codes(many[: many.rindex("DEFINE")]) == []


QUEUE = "DEFINE QLOCAL(Q1) QSGDISP(SHARED) CFSTRUCT(APP1) +\n  {attributes}\n"


@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ("SHARE DEFSOPT(SHARED)", []),
        ("NOSHARE", [("SHARED_QUEUE_NOSHARE", 2)]),
        ("NOSHARE DEFSOPT(SHARED)", [("SHARED_QUEUE_NOSHARE", 2)]),
        ("DEFSOPT(SHARED)", [("SHARED_QUEUE_NOSHARE", 1)]),
        ("SHARE DEFSOPT(EXCL)", [("SHARED_QUEUE_DEFSOPT_EXCL", 2)]),
        ("SHARE", [("SHARED_QUEUE_DEFSOPT_EXCL", 1)]),
        ("LIKE(Q0)", []),
        ("LIKE(Q0) NOSHARE", [("SHARED_QUEUE_NOSHARE", 2)]),
        ("USAGE(XMITQ)", []),
    ],
)
def test_shared_queue_with_noshare_is_reported(attributes: str, wanted: list[tuple[str, int]]) -> None:
    text = QUEUE.format(attributes=attributes)
    assert codes(text) == wanted
    assert not [
        code for code, _ in codes(text.replace("SHARED) CF", "QMGR) CF")) if code.startswith("SHARED_")
    ]


def test_definitions_from_a_plan_have_no_share_findings() -> None:
    assert lint(mqsc(evaluate(plan())), qsg="SQ03").findings == ()


@pytest.mark.parametrize(
    ("attributes", "wanted"), [("NOSHARE", ["SHARED_QUEUE_NOSHARE"]), ("MAXDEPTH(5)", [])]
)
def test_alter_qlocal_without_share_is_not_reported(attributes: str, wanted: list[str]) -> None:
    text = f"ALTER QLOCAL(Q1) QSGDISP(SHARED) {attributes}\n"
    assert [code for code, _ in codes(text)] == wanted


@pytest.mark.parametrize(
    ("disposition", "is_lost"),
    [("", True), ("QSGDISP(QMGR)", True), ("QSGDISP(GROUP)", True), ("QSGDISP(SHARED)", False)],
)
def test_cfstruct_of_a_queue_that_is_not_shared_is_reported(disposition: str, is_lost: bool) -> None:
    text = f"DEFINE QLOCAL(Q1) SHARE DEFSOPT(SHARED) {disposition} +\n  CFSTRUCT(APP1)\n"
    assert codes(text) == ([("CFSTRUCT_WITHOUT_SHARED", 2)] if is_lost else [])
    assert codes(text.replace("CFSTRUCT(APP1)", "CFSTRUCT(' ')").replace("QSGDISP(SHARED)", "")) == []


GROUP_POLICY = "STRUCTURE NAME(SQ03CSQ_ADMIN) SIZE(60M) INITSIZE(40M)\n  PREFLIST(CF01,CF02)\n"


@pytest.mark.parametrize(
    ("policy", "name", "wanted"),
    [
        (GROUP_POLICY, "SQ03APP1", [("CFSTRUCT_HAS_GROUP_PREFIX", 3)]),
        (GROUP_POLICY, "APP1", []),
        # Another group, and the group's name alone.
        (GROUP_POLICY, "SQ04APP1", []),
        (GROUP_POLICY, "SQ03", []),
        # The policy has the structure under the very name of the object.
        (
            "STRUCTURE NAME(SQ03APP1) SIZE(60M) INITSIZE(40M)\n  PREFLIST(CF01,CF02)\n",
            "SQ03APP1",
            [("CFSTRUCT_HAS_GROUP_PREFIX", 3)],
        ),
        # A display names the group.
        (
            "IXC360I  10.21.33  DISPLAY XCF 812\nSTRNAME: SQ03CSQ_ADMIN\n",
            "SQ03APP1",
            [("CFSTRUCT_HAS_GROUP_PREFIX", 3)],
        ),
        ("\n\n", "SQ03APP1", []),
    ],
)
def test_cfstruct_with_the_group_name_as_prefix_is_reported(
    policy: str, name: str, wanted: list[tuple[str, int]]
) -> None:
    text = f"{policy}DEFINE CFSTRUCT({name}) CFLEVEL(3)\n"
    assert [each for each in codes(text) if each[0].startswith("CFSTRUCT_")] == wanted


def test_group_prefix_of_cfstruct_in_a_queue_is_found_if_the_group_is_given() -> None:
    text = "DEFINE QLOCAL(Q1) QSGDISP(SHARED) SHARE DEFSOPT(SHARED) CFSTRUCT(PRODUCT7)\n"
    assert codes(text) == []
    found = lint(text, qsg="PROD").findings
    assert [(each.code, each.line) for each in found] == [("CFSTRUCT_HAS_GROUP_PREFIX", 1)]
    assert "would be PRODPRODUCT7. Name it UCT7." in found[0].message
    # CFRM has the structure as MQ makes its name: the name only begins like the group.
    policy = "STRUCTURE NAME(PRODPRODUCT7) SIZE(60M) INITSIZE(40M)\n  PREFLIST(CF01,CF02)\n"
    assert not [each for each in lint(text + policy, qsg="PROD").findings if "PREFIX" in each.code]


@pytest.mark.parametrize(
    ("name", "wanted"), [("SQ03SQ03APP1", [("CFSTRUCT_HAS_GROUP_PREFIX", 3)]), ("SQ03APP1", [])]
)
def test_structure_with_the_group_name_twice_is_reported(name: str, wanted: list[tuple[str, int]]) -> None:
    text = f"{GROUP_POLICY}STRUCTURE NAME({name}) SIZE(60M) INITSIZE(40M)\n  PREFLIST(CF01,CF02)\n"
    assert codes(text) == wanted


@pytest.mark.parametrize(("level", "wanted"), [(26, [("SCM_REMOVED", 3)]), (25, []), (None, [])])
def test_storage_class_memory_is_reported_from_cfcc_26(
    level: int | None, wanted: list[tuple[str, int]]
) -> None:
    text = (
        "STRUCTURE NAME(SQ03APP1) SIZE(60M) INITSIZE(40M)\n  PREFLIST(CF01,CF02)\n"
        "  SCMMAXSIZE(4G) SCMALGORITHM(KEYPRIORITY1)\n"
    )
    assert codes(text, cfcc_level=level) == wanted
    shown = DISPLAY.replace("  FULLTHRESHOLD  : 0\n", "  FULLTHRESHOLD  : 80\n  SCMMAXSIZE     : 4 G\n")
    found = [code for code, _ in codes(shown, cfcc_level=level)]
    assert ("SCM_REMOVED" in found) is bool(wanted)


@pytest.mark.parametrize(
    ("duplex", "wanted"),
    [("DUPLEX(ENABLED)", [("ADMIN_DUPLEXED", 3)]), ("DUPLEX(DISABLED)", []), ("DUPLEX(ALLOWED)", [])],
)
def test_duplexed_csq_admin_is_reported(duplex: str, wanted: list[tuple[str, int]]) -> None:
    assert codes(f"{GROUP_POLICY}  {duplex}\n") == wanted
    other = GROUP_POLICY.replace("CSQ_ADMIN", "APP1")
    assert codes(f"{other}  {duplex}\n") == []


@pytest.mark.parametrize(("name", "wanted"), [("SQ03CSQ_ADMIN", [("ADMIN_DUPLEXED", 2)]), ("SQ03APP1", [])])
def test_display_of_a_duplexed_csq_admin_is_reported(name: str, wanted: list[tuple[str, int]]) -> None:
    text = (
        f"IXC360I  10.21.33  DISPLAY XCF 812\nSTRNAME: {name}\n STATUS: ALLOCATED\n POLICY INFORMATION:\n"
        "  POLICY SIZE    : 60 M\n  DUPLEX         : ENABLED\n"
    )
    assert [each for each in codes(text) if each[0] == "ADMIN_DUPLEXED"] == wanted


# ---- displays and anything else --------------------------------------------------------------------------------

DISPLAY = """\
IXC360I  10.21.33  DISPLAY XCF 812
STRNAME: SQ03APP1
 STATUS: ALLOCATED
 TYPE: SERIALIZED LIST
 POLICY INFORMATION:
  POLICY SIZE    : 1 G
  POLICY INITSIZE: 256 M
  FULLTHRESHOLD  : 0
  ALLOWAUTOALT   : YES
  PREFERENCE LIST: CF01
"""


def test_only_values_in_a_display_are_checked() -> None:
    found = lint(DISPLAY)
    assert found.kinds == ("display",)
    assert {each.code for each in found.findings} == {
        "SIZE_OVER_TWICE_INITSIZE",
        "FULLTHRESHOLD_ZERO",
        "AUTO_ALTER_MAY_SHRINK",
        "PREFLIST_SINGLE_CF",
    }


def test_entries_of_csq_admin_are_checked_against_the_queue_managers() -> None:
    text = "CSQM201I +QM01 CSQMDRTC  DISPLAY CFSTATUS DETAILS\nCFSTATUS(CSQ_ADMIN)\nTYPE(SUMMARY)\nSIZEMAX(32768)\nSIZEUSED(5)\nENTSMAX(4000)\nENTSUSED(20)\nEND CFSTATUS DETAILS\n"
    assert ("ADMIN_ENTSMAX_TOO_LOW", 2) in codes(text, queue_managers=5)
    assert codes(text, queue_managers=4) == []
    (one,) = lint(text.replace("4000", "500"), queue_managers=1).findings
    assert "1000 list entries that 1 queue manager needs" in one.message


def test_one_text_may_contain_policy_and_mqsc() -> None:
    found = lint(EXAMPLE + "\n" + SHARING)
    assert found.kinds == ("policy", "mqsc")
    assert [(each.code, each.line) for each in found.findings] == [("POLICY_KEYWORD_MISSING", 1)]


@pytest.mark.parametrize("text", ["", "\n\n", "Dear colleague,\nthe policy is attached.\n", "{}"])
def test_text_without_policy_mqsc_or_displays_is_reported(text: str) -> None:
    assert codes(text) == [("NOTHING_TO_CHECK", None)]


@settings(max_examples=200)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(
            st.sampled_from([*JUMBLE, "DEFINE CFSTRUCT(A) ", "QLOCAL(", "+\n", "'", "CFLEVEL(5)"]),
            max_size=50,
        ).map("".join),
    )
)
def test_any_text_is_checked_without_errors(text: str) -> None:
    for each in lint(text, cfcc_level=25, queue_managers=5).findings:
        assert each.code in catalogue()
        assert (
            each.line is None
            or 1 <= each.line <= text.count("\n") + text.count("\r") + text.count("\u2028") + 1
        )


@settings(max_examples=40)
@given(any_policies(names=("SQ03APP1",)))
def test_rendered_policy_has_no_syntax_error(policy: object) -> None:
    text = policy.text  # type: ignore[attr-defined]
    syntax = {code for code in catalogue() if code.startswith("POLICY_")} - {
        "POLICY_VALUE_INVALID",
        "POLICY_KEYWORD_MISSING",
    }
    errors = [each for each in lint(text).findings if each.severity == "error" and each.code in syntax]
    assert errors == []


def test_invalid_size_has_a_single_finding() -> None:
    text = "STRUCTURE NAME(SQ03APP1)\n SIZE(99999999999)\n INITSIZE(262144)\n PREFLIST(CF01,CF02)\n"
    assert [code for code, line in codes(text) if line == 2] == ["POLICY_VALUE_INVALID"]
    stated = text.replace("99999999999", "999999999G")
    assert "SIZE_ABOVE_MAXIMUM" in [code for code, line in codes(stated) if line == 2]


RAISED = (
    "ALTER CFSTRUCT(APP1) CFLEVEL(5) OFFLOAD(SMDS) DSGROUP('A.*.B') OFFLD1SZ(32K) OFFLD2SZ(4K) OFFLD3SZ(0K)"
)


@pytest.mark.parametrize(
    ("command", "is_found"),
    [
        (f"{RAISED} CFCONLOS(ASQMGR) RECAUTO(YES)", False),
        (f"{RAISED} CFCONLOS(ASQMGR)", True),
        ("ALTER CFSTRUCT(APP1) CFLEVEL(5)", True),
        ("ALTER CFSTRUCT(APP1) CFLEVEL(4)", False),
        ("ALTER CFSTRUCT(APP1) OFFLOAD(SMDS)", False),
        ("DEFINE CFSTRUCT(APP1) CFLEVEL(5) OFFLOAD(DB2)", False),
    ],
)
def test_alter_to_cflevel_5_without_offload_and_cfconlos_is_reported(command: str, *, is_found: bool) -> None:
    found = lint(f"{command}\n").findings
    assert ("RAISED_LEVEL_LEAVES_DEFAULTS" in {each.code for each in found}) == is_found
