"""CFACT is read by the column names of RMF's reports, and ambiguous values are left out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.readers import NotReadable, detect
from tests.spark_jobs.readers.support import EAST, GROUPS, OBSERVED, read_text, rows

M = 1024**2
NAMES = [
    "Structure Name 1",
    "Structure Type 1",
    "Structure Status",
    "System Name",
    "CF Name 1",
    "Structure Size",
    "Min. Structure Size",
    "Max. Structure Size",
    "Total List Entries (LIST/LOCK)",
    "Actual List Entries (LIST/LOCK)",
    "Total Data Elements (LIST/CACHE)",
    "Actual Data Elements (LIST/CACHE)",
    "Sync Request Count",
    "Async Request Count",
    "Maximum of SCM Space",
    "Actual SCM List Entries",
    "Actual SCM List Elements",
    "Structure Name 2",
]


def cells(
    name: str, *, system: str = "*ALL", kind: str = "LIST", size: str = "256M", requests: int = 70
) -> list[str]:
    first = [name, kind, "ACTIVE", system, "CF01", size, "128M", "512M", "111234", "1200", "667404", "8100"]
    return [*first, str(requests), "7", "0M", "0", "0", name]


TABLE = [
    cells("QSG1APPLICATION1"),
    cells("QSG1APPLICATION1", system="SYSA", requests=40),
    cells("QSG1APPLICATION1", system="SYSB", requests=30),
    cells("QSG1CSQ_ADMIN"),
    cells("IXCSTR1"),
    cells("ISGLOCK", kind="LOCK"),
]


def as_csv(table: list[list[str]], names: list[str] = NAMES) -> str:
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in [names, *table]) + "\n"


def test_structures_of_known_groups_are_read(tmp_path: Path) -> None:
    text = as_csv(TABLE)
    assert detect(text.encode()).kind == "cfact_csv"
    result = read_text(tmp_path, text, "cfact_csv", observed_at=OBSERVED)
    assert (result.asks, result.problem_count) == ((), 0)
    found = rows(result, "structure_usage")
    assert [(row["structure"], row.get("system_id")) for row in found] == [
        ("APPLICATION1", None),
        ("APPLICATION1", "SYSA"),
        ("APPLICATION1", "SYSB"),
        ("CSQ_ADMIN", None),
    ]
    assert sorted(result.passed_over.values()) == [1, 1]
    wanted = {
        "source": "CFACT",
        "origin": "report",
        "qsg": "QSG1",
        "xcf_structure": "QSG1APPLICATION1",
        "interval_end": OBSERVED,
        "in_use_kind": "at_end",
        "coupling_facility": "CF01",
        "size_bytes": 256 * M,
        "size_min_bytes": 128 * M,
        "size_max_bytes": 512 * M,
        "entries_total": 111_234,
        "entries_in_use": 1200,
        "elements_total": 667_404,
        "elements_in_use": 8100,
        "sync_requests": 40,
        "async_requests": 7,
        "scm_entries_in_use": 0,
        "status": "ACTIVE",
    }
    assert {name: found[1][name] for name in wanted} == wanted
    assert "sync_requests" not in found[0]  # the systems' rows have them
    assert found[3]["sync_requests"] == 70


def test_lists_without_a_known_group_keep_xcf_names(tmp_path: Path) -> None:
    result = read_text(
        tmp_path,
        as_csv([cells("QSG1APPLICATION1"), cells("ISGLOCK", kind="LOCK")]),
        "cfact_csv",
        observed_at=OBSERVED,
    )
    (row,) = rows(result, "structure_usage")
    assert (row["xcf_structure"], "qsg" in row) == ("QSG1APPLICATION1", False)
    result = read_text(
        tmp_path, as_csv([cells("QSG1APPLICATION1")]), "cfact_csv", observed_at=OBSERVED, qsg_of=GROUPS
    )
    assert rows(result, "structure_usage")[0]["qsg"] == "QSG1"


def test_size_without_a_unit_is_left_out_and_reported(tmp_path: Path) -> None:
    result = read_text(
        tmp_path, as_csv([cells("QSG1CSQ_ADMIN", size="262144")]), "cfact_csv", observed_at=OBSERVED
    )
    assert "no unit" in result.problems[0].message
    assert "size_bytes" not in rows(result, "structure_usage")[0]
    names = ["Structure Size (K)" if name == "Structure Size" else name for name in NAMES]
    result = read_text(
        tmp_path, as_csv([cells("QSG1CSQ_ADMIN", size="262144")], names), "cfact_csv", observed_at=OBSERVED
    )
    assert rows(result, "structure_usage")[0]["size_bytes"] == 256 * M


@pytest.mark.parametrize(("column", "value"), [(8, "111K"), (9, "1.2M"), (9, "999999")])
def test_rounded_or_impossible_counts_are_left_out_and_reported(
    tmp_path: Path, column: int, value: str
) -> None:
    row = cells("QSG1CSQ_ADMIN")
    row[column] = value
    result = read_text(tmp_path, as_csv([row]), "cfact_csv", observed_at=OBSERVED)
    assert result.problem_count == 1
    assert result.problems[0].line == 2
    found = rows(result, "structure_usage")[0]
    assert ("entries_total" in found) + ("entries_in_use" in found) < 2
    assert found["elements_in_use"] == 8100


def test_report_time_is_read_or_requested(tmp_path: Path) -> None:
    result = read_text(tmp_path, as_csv(TABLE), "cfact_csv")
    assert [ask.what for ask in result.asks] == ["observed_at"]
    timed = [[*row, "2026-03-22 13:00:00"] for row in TABLE]
    result = read_text(tmp_path, as_csv(timed, [*NAMES, "Interval End"]), "cfact_csv")
    assert [ask.what for ask in result.asks] == ["zone"]
    result = read_text(tmp_path, as_csv(timed, [*NAMES, "Interval End"]), "cfact_csv", zone=EAST)
    assert rows(result, "structure_usage")[0]["interval_end"] == OBSERVED


def dds(columns: list[str], table: list[list[Any]]) -> str:
    """Return an answer of RMF's data server, as IBM's Grafana plugin for RMF reads it."""
    return json.dumps(
        {
            "report": [
                {
                    "timeData": {
                        "utcStart": "20260322115900",
                        "utcEnd": "20260322120000",
                        "localEnd": "20260322130000",
                    },
                    "metric": {"id": "CFACT"},
                    "columnHeaders": {"col": [{"value": column, "type": "T"} for column in columns]},
                    "row": [{"refno": "1", "col": row} for row in table],
                }
            ]
        }
    )


def test_data_server_response_contains_its_interval(tmp_path: Path) -> None:
    text = dds(NAMES, TABLE)
    assert detect(text.encode()).kind == "cfact_json"
    result = read_text(tmp_path, text, "cfact_json")
    assert (result.asks, result.problem_count) == ((), 0)
    found = rows(result, "structure_usage")
    assert len(found) == 4
    assert found[0]["interval_end"] == OBSERVED
    assert found[0]["interval_start"] == datetime(2026, 3, 22, 11, 59, tzinfo=UTC)
    assert found[0]["interval_us"] == 60_000_000


def test_data_server_column_ids_are_refused_and_listed(tmp_path: Path) -> None:
    with pytest.raises(NotReadable, match=r"XYZ1, XYZ2.*ids"):
        read_text(tmp_path, dds(["XYZ1", "XYZ2"], [["a", "b"]]), "cfact_json")


def changed(**parts: dict[str, Any]) -> str:
    """Return an answer of the data server with other parts in its report."""
    answer = json.loads(dds(NAMES, TABLE))
    answer["report"][0] |= parts
    return json.dumps(answer)


def test_known_data_server_messages_are_reported_and_the_rows_read(tmp_path: Path) -> None:
    text = changed(message={"id": "GPM0502I", "severity": 1, "description": "partial"})
    result = read_text(tmp_path, text, "cfact_json")
    assert [problem.message for problem in result.problems] == [
        "RMF's data server returned GPM0502I: the data is partial, because time gaps were detected."
    ]
    assert len(rows(result, "structure_usage")) == 4


def test_reports_with_other_messages_are_skipped_with_their_text(tmp_path: Path) -> None:
    answer = json.loads(dds(NAMES, TABLE))
    failed = json.loads(changed(message={"id": "GPM9999E", "description": "not authorized"}))
    answer["report"] += failed["report"]
    result = read_text(tmp_path, json.dumps(answer), "cfact_json")
    (problem,) = result.problems
    assert "GPM9999E" in problem.message
    assert "not authorized" in problem.message
    assert len(rows(result, "structure_usage")) == 4


def test_interval_without_data_is_named(tmp_path: Path) -> None:
    table = [cells("*NoData*"), cells("QSG1CSQ_ADMIN")]
    result = read_text(tmp_path, dds(NAMES, table), "cfact_json")
    (problem,) = result.problems
    assert "2026-03-22T12:00:00+00:00" in problem.message
    assert [row["structure"] for row in rows(result, "structure_usage")] == ["CSQ_ADMIN"]


@pytest.mark.parametrize(
    "times",
    [
        {"utcStart": "20260322115900", "utcEnd": "20260322126000"},
        {"utcStart": "2026-03-22", "utcEnd": "20260322120000"},
        {"utcStart": "20260322120000", "utcEnd": "20260322115900"},
    ],
)
def test_report_with_an_impossible_interval_is_skipped(tmp_path: Path, times: dict[str, str]) -> None:
    answer = json.loads(dds(NAMES, TABLE))
    answer["report"] += json.loads(changed(timeData=times))["report"]
    result = read_text(tmp_path, json.dumps(answer), "cfact_json")
    (problem,) = result.problems
    assert "interval cannot be read" in problem.message
    assert len(rows(result, "structure_usage")) == 4


def test_list_of_objects_is_read_like_the_table(tmp_path: Path) -> None:
    text = json.dumps([dict(zip(NAMES, row, strict=True)) for row in TABLE])
    result = read_text(tmp_path, text, "cfact_json", observed_at=OBSERVED)
    assert len(rows(result, "structure_usage")) == 4


@pytest.mark.parametrize(
    "text",
    [
        '{"report": 7}',
        '{"report": [7]}',
        '{"report": [{}]}',
        "[]",
        "{}",
        '{"columnHeaders": {"col": "x"}, "row": 1}',
    ],
)
def test_json_in_an_unknown_form_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotReadable):
        read_text(tmp_path, text, "cfact_json")


def published(*rows_of: list[str]) -> str:
    """An answer of the data server, with the columns that are read and two that are not."""
    ids = [
        "CFAPSTRU",
        "CFAPTYPE",
        "CFAPSTEX",
        "CFAPSYS",
        "CFAPSYNC",
        "CFAPASYC",
        "CFAPCNVC",
        "CFAINAM",
        "CFAISTRU",
        "CFAITYPE",
        "CFAISTRS",
        "CFAISTRM",
        "CFAISTRX",
        "CFAILEL",
        "CFAILEM",
        "CFAIMAE",
        "CFAICUE",
        "CFAISSCM",
        "CFAISLTC",
        "CFAISLMC",
    ]
    report = {
        "columnHeaders": {"col": [{"type": "N", "value": each} for each in ids]},
        "metric": {"id": "CFACT", "format": "report"},
        "resource": {"reslabel": ",SYPLEX01,SYSPLEX", "restype": "SYSPLEX"},
        "row": [{"col": row, "refno": at} for at, row in enumerate(rows_of, start=1)],
        "timeData": {
            "localEnd": "20260710050700",
            "localStart": "20260710050600",
            "utcEnd": "20260710090700",
            "utcStart": "20260710090600",
        },
    }
    return json.dumps({"message": [], "report": [report]})


# Typed from github.com/IBM/RMF, grafana/rmf-app/mock-dds/data/report_cfact.json: structures APPC_STR1 and YDS6_SCA.
PUBLISHED = [
    [
        *("APPC_STR1", "LIST", "ActiveInUse", "*ALL", "1", "0", "0", "CF01", "APPC_STR1", "LIST"),
        *("20971520", "19922944", "31457280", "2060", "6", "2109", "287", "", "", ""),
    ],
    [
        *("", "LIST", "", "SY21", "0", "0", "0", "CF01", "APPC_STR1", "LIST"),
        *("20971520", "", "", "2060", "6", "2109", "287", "", "", ""),
    ],
    [
        *("", "LIST", "", "SY28", "0", "0", "0", "CF01", "YDS6_SCA", "LIST"),
        *("33554432", "", "", "15772", "155", "31011", "392", "", "", ""),
    ],
]


def test_published_answer_of_the_data_server_is_read_by_its_ids(tmp_path: Path) -> None:
    text = published(*PUBLISHED)
    assert detect(text.encode()).kind == "cfact_json"
    result = read_text(tmp_path, text, "cfact_json")
    assert (result.asks, result.problem_count) == ((), 0)
    assert not [note for note in result.notes if "memory" in note]
    everywhere, of_system, other = rows(result, "structure_usage")
    same = {
        "source": "CFACT",
        "sysplex": "SYPLEX01",
        "coupling_facility": "CF01",
        "interval_start": datetime(2026, 7, 10, 9, 6, tzinfo=UTC),
        "interval_end": datetime(2026, 7, 10, 9, 7, tzinfo=UTC),
        "xcf_structure": "APPC_STR1",
        "size_bytes": 20 * M,
        "entries_in_use": 6,
        "entries_total": 2060,
        "elements_in_use": 287,
        "elements_total": 2109,
    }
    assert same.items() <= everywhere.items()
    assert same.items() <= of_system.items()
    assert (everywhere["size_min_bytes"], everywhere["size_max_bytes"]) == (19 * M, 30 * M)
    assert (everywhere.get("system_id"), everywhere.get("sync_requests")) == (None, None)
    assert (of_system["system_id"], of_system["sync_requests"]) == ("SY21", 0)
    assert (other["xcf_structure"], other["size_bytes"], other["elements_total"]) == (
        "YDS6_SCA",
        32 * M,
        31011,
    )


def test_size_that_is_no_number_is_reported_by_its_column(tmp_path: Path) -> None:
    row = [*PUBLISHED[0]]
    row[10] = "20M?"
    result = read_text(tmp_path, published(row), "cfact_json")
    assert [problem.message for problem in result.problems] == ["size_bytes '20M?' is left out."]


def answers(*reports: tuple[str, list[list[Any]]], columns: list[str]) -> str:
    """Return answers with ids as columns, one a line, each with its end and its rows."""
    found = []
    for end, table in reports:
        answer = json.loads(dds(columns, table))
        answer["report"][0]["timeData"] = {"utcStart": f"{int(end) - 100}", "utcEnd": end}
        answer["report"][0]["resource"] = {"reslabel": ",PLEX1,SYSPLEX"}
        found.append(json.dumps(answer))
    return "\n".join(found)


IDS = ["CFAISTRU", "CFAITYPE", "CFAPSTEX", "CFAPSYS", "CFAINAM", "CFAILEM", "CFAILEL", "CFAPSYNC", "CFAISTRS"]
ADMIN = ["SQ03CSQ_ADMIN", "LIST", "ActiveInUse", "*ALL", "CF01", "5", "100", "0", "1048576"]


def of(name: str, cf: str, used: str, total: str, *, system: str = "*ALL", requests: str = "30") -> list[str]:
    return [name, "LIST", "ActiveInUse", system, cf, used, total, requests, "1048576"]


def test_both_instances_of_a_duplexed_structure_are_rows(tmp_path: Path) -> None:
    table = [ADMIN, of("SQ03APP", "CF01", "40", "500"), of("SQ03APP", "CF02", "41", "480")]
    result = read_text(tmp_path, answers(("20260322120100", table), columns=IDS), "cfact_json")
    found = {
        row["coupling_facility"]: (row["entries_in_use"], row["entries_total"])
        for row in rows(result, "structure_usage")
        if row["structure"] == "APP"
    }
    assert (found, result.problem_count) == ({"CF01": (40, 500), "CF02": (41, 480)}, 0)


def test_requests_of_all_systems_count_for_an_instance_without_rows_of_systems(tmp_path: Path) -> None:
    """A structure that is rebuilt has rows of its systems in one coupling facility or interval, and none in another."""
    first = [ADMIN, of("SQ03APP", "CF01", "40", "500"), of("SQ03APP", "CF01", "40", "500", system="SYSA")]
    second = [ADMIN, of("SQ03APP", "CF02", "41", "480")]
    third = [ADMIN, of("SQ03APP", "CF01", "41", "480", requests="7")]
    text = answers(
        ("20260322120100", first), ("20260322120200", second), ("20260322120300", third), columns=IDS
    )
    found = [
        (row["interval_end"].minute, row.get("system_id"), row.get("sync_requests"))
        for row in rows(read_text(tmp_path, text, "cfact_json"), "structure_usage")
        if row["structure"] == "APP"
    ]
    assert found == [(1, None, None), (1, "SYSA", 30), (2, None, 30), (3, None, 7)]


@pytest.mark.parametrize("value", ["2,060", "2.060", "1.000", "2060,5", "20 60", "2060.5", "1.000.000"])
def test_numbers_that_may_be_written_in_another_way_are_left_out(tmp_path: Path, value: str) -> None:
    row = of("SQ03CSQ_ADMIN", "CF01", value, "5000")
    row[-1] = value
    result = read_text(tmp_path, answers(("20260322120100", [row]), columns=IDS), "cfact_json")
    (found,) = rows(result, "structure_usage")
    assert "entries_in_use" not in found
    assert "size_bytes" not in found
    assert result.problem_count == 2
    assert found["entries_total"] == 5000


@pytest.mark.parametrize("value", ["", "NaN", "Deact", "-", "N/A"])
def test_cells_without_a_value_are_no_problem(tmp_path: Path, value: str) -> None:
    row = of("SQ03CSQ_ADMIN", "CF01", value, "5000")
    result = read_text(tmp_path, answers(("20260322120100", [row]), columns=IDS), "cfact_json")
    (found,) = rows(result, "structure_usage")
    assert ("entries_in_use" in found, result.problem_count) == (False, 0)
