"""The collection kit: its columns, its names, the records that it selects, and its sources."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_core import names
from planner_core.errors import InputInvalid
from planner_core.inputs import KIND_TITLES
from planner_core.texts.collection_kit import (
    CollectionKit,
    CollectionKitQuestion,
    collection_kit,
    record_types,
)
from spark_jobs.history.schema import natural_key
from spark_jobs.smf.decode import TABLES

READ = {"74-4", "115-2", "115-216", "115-231", "116-1", "116-2"}
"""The records of docs/reference/smf-records.md, typed again."""


def kit(systems: str = "SYSA,SYSB", queue_managers: str = "M1,M2", **more: str) -> CollectionKit:
    given_ = {"systems": [systems], "queue_managers": [queue_managers]}
    return collection_kit(
        CollectionKitQuestion.read({**given_, **{name: [text] for name, text in more.items()}})
    )


def texts(found: CollectionKit) -> dict[str, str]:
    return {each.name: each.text for each in found.texts}


def test_kit_has_a_job_for_each_system_and_each_queue_manager() -> None:
    assert list(texts(kit())) == [
        "README.txt", "SMFPRMxx.txt", "ERBRMFxx.txt", "CSQ6SYSP.txt", "START-TRACE.txt", "SMFDP-SYSA.jcl",
        "SMFDL-SYSA.jcl", "SMFDP-SYSB.jcl", "SMFDL-SYSB.jcl", "DISPLAY-M1.jcl", "DISPLAY-M2.jcl", "CONSOLE.txt",
        "TRANSFER.txt",
    ]  # fmt: skip


def test_jobs_select_the_records_that_the_reader_decodes() -> None:
    found = kit()
    assert READ == set(found.records) == set(record_types())
    for name, text in texts(found).items():
        if not name.startswith(("SMFDP", "SMFDL")):
            continue
        (types,) = re.findall(r"^  OUTDD\(DUMPOUT,TYPE\((.*)\)\)$", text, re.MULTILINE)
        selected = {
            f"{kind}-{subtype}"
            for kind, subtypes in re.findall(r"([0-9]+)\(([0-9,]+)\)", types)
            for subtype in subtypes.split(",")
        }
        assert selected == set(found.records)
        assert "ALL" not in text
        assert "CLEAR" not in text


def test_records_of_the_history_are_in_the_kit() -> None:
    # Each source of rows has a natural key in the history, so a record without one could not be stored.
    for record in READ - {"115-231"}:  # it names the group of a queue manager, and has no rows
        assert natural_key(f"{record} X")
    assert {"qest", "qesd", "qqst", "wq"} <= set(TABLES)


def test_uploads_accept_what_the_readme_says() -> None:
    readme = " ".join(texts(kit())["README.txt"].split())
    for kind in ("smf", "xcf_str", "cfstatus", "cfstruct"):
        assert KIND_TITLES[kind] in readme


def test_statement_that_would_replace_a_list_of_types_is_a_comment() -> None:
    lines = texts(kit())["SMFPRMxx.txt"].splitlines()
    assert [line for line in lines if line and not line.startswith("/*")] == ["INTVAL(15)", "SYNCVAL(00)"]
    assert "/* SYS(TYPE(your types,74,115,116)) */" in lines


def test_every_statement_names_its_source_or_must_be_verified() -> None:
    found = kit()
    readme = texts(found)["README.txt"]
    sourced, recalled = readme.split("To verify: from memory")
    for each in found.statements:
        assert each.statement in (recalled if each.source is None else sourced)
    assert {"DISPLAY GROUP", "D XCF,STR,STRNAME=ALL", "RO SYSA,D SMF,O"} <= {
        each.statement for each in found.statements if each.source is None
    }
    assert found.findings[0].code == "COLLECTION_KIT_TO_VERIFY"
    for name, text in texts(found).items():
        if name != "README.txt":
            assert "Source: " in text.replace("\n", " ")


def test_interval_is_in_the_smf_settings() -> None:
    found = kit(interval="60")
    assert "\nINTVAL(60)\n" in texts(found)["SMFPRMxx.txt"]
    assert [each.code for each in found.findings] == ["COLLECTION_KIT_TO_VERIFY", "DATA_INTERVAL_LONG"]
    assert [each.code for each in kit(interval="30").findings] == ["COLLECTION_KIT_TO_VERIFY"]


@pytest.mark.parametrize(
    ("parameter", "text", "words"),
    [
        ("systems", "SYS AB,TOOLONG", "SMF identifier"),
        ("systems", "A'B", "SMF identifier"),
        ("queue_managers", "1M", "z/OS queue manager name"),
        ("queue_managers", "M1)", "z/OS queue manager name"),
        ("interval", "7", "divide the hour evenly"),
        ("interval", "0", "between 1 and 60"),
        ("systems", ",".join(f"S{number}" for number in range(33)), "at most 32"),
    ],
)
def test_invalid_parameter_is_refused(parameter: str, text: str, words: str) -> None:
    with pytest.raises(InputInvalid, match=words):
        CollectionKitQuestion.read({parameter: [text]})


NAMES = st.from_regex(names.QUEUE_MANAGER_PATTERN, fullmatch=True)


SOME = st.lists(NAMES, min_size=1, max_size=3, unique=True)


@settings(max_examples=20)
@given(SOME, SOME)
def test_names_stay_in_their_fields_and_lines_within_71_columns(
    systems: list[str], managers: list[str]
) -> None:
    found = kit(",".join(systems), ",".join(managers))
    assert found.systems == tuple(systems)
    for each in found.texts:
        if each.name == "README.txt":
            continue
        lines = each.text.splitlines()
        assert max(map(len, lines)) <= 71
        assert each.text.isascii()
        if each.name.endswith(".jcl"):
            # A delimiter ends the data of a DD statement; there is one for each statement with data.
            assert lines.count("/*") == sum(line.endswith(" DD *") for line in lines)
            statements = [line for line in lines if line.startswith("//") and not line.startswith("//*")]
            assert all(re.match(r"//[A-Z0-9]{0,8} ", line) for line in statements)
    # A name adds its own statements only, whatever it is.
    one, more, other = (len(kit(*each).statements) for each in (("A", "A"), ("A,B", "A"), ("A", "A,B")))
    assert len(found.statements) == one + (len(systems) - 1) * (more - one) + (len(managers) - 1) * (
        other - one
    )


def test_quotes_around_national_characters_are_those_of_mqsc() -> None:
    assert "START TRACE(STAT) DEST(SMF) CLASS(*) CMDSCOPE('M#2')" in texts(kit("", "m#2"))["START-TRACE.txt"]


def test_archive_has_all_texts_and_always_the_same_bytes() -> None:
    found = kit()
    with zipfile.ZipFile(io.BytesIO(found.archive())) as archive:
        packed = {name: archive.read(name).decode() for name in archive.namelist()}
    assert packed == {f"collection-kit/{name}": text for name, text in texts(found).items()}
    assert found.archive() == kit().archive()


def test_placeholder_of_the_log_stream_is_the_same_name_everywhere() -> None:
    found = texts(kit())
    those = ("SMFPRMxx.txt", "SMFDL-SYSA.jcl", "SMFDL-SYSB.jcl")
    for name in those:
        # With a part of the name in front of it, one change command for all files would write the part twice.
        assert "LSNAME(++LOGSTREAM++," in found[name]
        assert "the whole name of the log stream" in found[name]
    assert not any(
        "++LOGSTREAM++" in text for name, text in found.items() if name not in (*those, "README.txt")
    )


def test_options_of_both_monitors_are_for_members_of_their_own_and_are_activated() -> None:
    found = texts(kit())
    options = " ".join(found["ERBRMFxx.txt"].replace("*/", "").replace("/*", "").split())
    assert "Monitor I and Monitor III have members of their own" in options
    console = found["CONSOLE.txt"].splitlines()
    assert console[-2:] == ["F RMF,F ZZ,MEMBER(++m1++)", "F RMF,F III,MEMBER(++m3++)"]
