"""Ingest of dumps, reports and displays into the history, and its JSON lines."""

from __future__ import annotations

import datetime as dt
import errno
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

from planner_core.contracts import tolerant
from planner_core.contracts.ingest import IngestReport
from spark_jobs import ingest
from spark_jobs.history import rows
from spark_jobs.history.hours import roll_up
from spark_jobs.history.places import Folder
from spark_jobs.history.rows import NO_STATISTICS, Batches, GroupMap, Mapped
from spark_jobs.history.schema import TABLES, HistoryError
from spark_jobs.history.store import History
from spark_jobs.java import JavaNotFoundError
from spark_jobs.smf.encode import Framing, dump, plain_record
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.dumps import GROUPS
from tests.spark_jobs.history.support import contents

ROOT = Path(__file__).parents[3]
SAMPLES = Path(os.environ.get("CFPLAN_SMF_SAMPLES", ROOT.parent / "shared" / "data" / "smf"))
CFSTATUS = """CSQM201I +CSQ1 CSQMDRTC DIS CFSTATUS DETAILS
CFSTATUS(APPLICATION1)
TYPE(SUMMARY)
CFTYPE(APPL)
STATUS(ACTIVE)
SIZEMAX(131072)
SIZEUSED(11)
ENTSMAX(141890)
ENTSUSED(38)
 END CFSTATUS DETAILS
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "history")


class IngestOutput:
    """The exit code and the output of an ingest."""

    def __init__(self, code: int, lines: list[dict[str, Any]]) -> None:
        self.code = code
        self.lines = lines
        self.report = lines[-1]
        self.files: list[dict[str, Any]] = self.report["files"]

    @property
    def file(self) -> dict[str, Any]:
        (only,) = self.files
        return only

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == name]


Run: TypeAlias = Callable[..., IngestOutput]


@pytest.fixture
def run(url: str, capsys: pytest.CaptureFixture[str]) -> Run:
    def one(*arguments: object, history: str = url) -> IngestOutput:
        code = ingest.main(["--history", history, *map(str, arguments)])
        return IngestOutput(code, [json.loads(line) for line in capsys.readouterr().out.splitlines()])

    return one


def test_dump_is_stored_with_every_byte_accounted_for(run: Run, url: str, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.smf", range(6))
    said = run(dump, *GROUPS)
    assert said.code == 0
    file = said.file
    assert file["status"] == said.report["status"] == "stored"
    assert sum(file["bytes"].values()) == file["size_bytes"] == dump.stat().st_size
    assert file["records"]["115-2"] == 12
    assert {item["type"] for item in file["skipped"]} == {"2", "3", "30-4"}
    assert {table: counts["new"] for table, counts in file["rows"].items()} == {
        "structure_usage": 6 * (2 * 3 + 3),
        "smds_usage": 12,
        "queue_usage": 6 * 2 * (3 + 3),
        "allocation": 18,
    }
    assert file["days"] == ["2026-11-20"]
    assert file["queue_managers"] == [
        {"system_id": "SYSA", "queue_manager": "CSQ1", "qsg": "SQ03"},
        {"system_id": "SYSB", "queue_manager": "CSQ2", "qsg": "SQ03"},
    ]
    assert {"qsg": "SQ03", "structure": "CSQ_ADMIN", "xcf_structure": "SQ03CSQ_ADMIN"} in file["structures"]
    assert file["queues"] == 5
    usage = History.open(url).read("structure_usage")
    assert set(usage["qsg"].to_pylist()) == {"SQ03"}, "rows of RMF are named once the group is known"


def test_repeated_dump_changes_nothing(run: Run, url: str, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.smf", range(3))
    first = run(dump, *GROUPS)
    before = contents(History.open(url))
    again = run(dump)
    assert again.code == 0
    assert again.file["status"] == "already_stored"
    assert again.file["days"] == first.file["days"], "the roll-up may not have been made"
    assert again.file["rows"] == first.file["rows"]
    assert contents(History.open(url)) == before
    assert len(History.open(url).files()) == 1


def test_damaged_last_entry_of_the_history_is_reported(run: Run, url: str, tmp_path: Path) -> None:
    assert run(dumps.write(tmp_path / "first.smf", range(2)), *GROUPS).report["set_aside"] == ""
    entry = max((Path(url) / "_delta_log").glob("*.json"))
    entry.write_bytes(entry.read_bytes()[:300])
    said = run(dumps.write(tmp_path / "second.smf", range(2, 4)), *GROUPS)
    (aside,) = Path(url).glob("*.torn")
    assert (said.code, said.report["set_aside"]) == (0, aside.name)
    read = tolerant.read(IngestReport, said.report)
    assert f"was damaged and has been set aside as {aside.name}" in read.sentence
    assert read.sentence.startswith(said.file["message"])


def test_overlapping_dumps_give_the_history_of_one(run: Run, url: str, tmp_path: Path) -> None:
    forms = [Framing(), Framing(kind="bdw"), Framing(kind="gzip+rdw"), Framing(segment_bytes=(500, 90))]
    files = [
        dumps.write(tmp_path / f"{place}.smf", range(first, first + 5), framing=framing)
        for place, (first, framing) in enumerate(zip((4, 0, 2, 6), forms, strict=True))
    ]
    said = run(*files, *GROUPS)
    assert [file["status"] for file in said.files] == ["stored"] * 4
    one = dumps.write(tmp_path / "whole.smf", range(11))
    other = str(tmp_path / "one")
    run(one, *GROUPS, history=other)
    assert contents(History.open(url)) == contents(History.open(other))
    assert said.files[3]["rows"]["queue_usage"]["conflicts"] == 0


def test_unknown_group_is_requested_and_nothing_is_stored(run: Run, url: str, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.smf", range(2))
    said = run(dump, "--qsg", "SYSA:CSQ1=SQ03")
    assert said.code == 4
    (asks,) = said.events("asks")
    assert asks["unknown_qsg"] == [
        {"system_id": "SYSB", "queue_manager": "CSQ2", "suggested": "SQ03", "in_rmf": "SQ03"}
    ]
    assert said.file["status"] == "needs_answers"
    assert all(rows == [] for rows in contents(History.open(url)).values())
    assert run(dump, *GROUPS).code == 0


def test_group_from_an_earlier_answer_is_suggested_and_not_used(run: Run, tmp_path: Path) -> None:
    run(dumps.write(tmp_path / "a.smf", range(2)), *GROUPS)
    said = run(dumps.write(tmp_path / "b.smf", range(2, 4)))
    assert said.code == 4
    assert {ask["suggested"] for ask in said.events("asks")[0]["unknown_qsg"]} == {"SQ03"}


def test_mq_10_records_contain_their_group(run: Run, tmp_path: Path) -> None:
    assert run(dumps.write(tmp_path / "a.smf", range(2), qsg="SQ03")).code == 0


def chinits(*groups: str | None) -> list[bytes]:
    """Return the records of the channel initiators of both queue managers, the last ones of a dump."""
    return [each for system, manager in dumps.MANAGERS for each in dumps.chinit(1, system, manager, *groups)]


def test_group_from_the_channel_initiator_is_not_requested(run: Run, url: str, tmp_path: Path) -> None:
    said = run(dumps.write(tmp_path / "a.smf", range(2), more=chinits("SQ03")))
    assert (said.code, said.events("asks"), said.file["findings"]) == (0, [], [])
    assert said.file["queue_managers"] == [
        {"system_id": "SYSA", "queue_manager": "CSQ1", "qsg": "SQ03"},
        {"system_id": "SYSB", "queue_manager": "CSQ2", "qsg": "SQ03"},
    ]
    assert said.file["records"]["115-231"] == 2
    assert set(History.open(url).read("smds_usage")["qsg"].to_pylist()) == {"SQ03"}
    assert set(History.open(url).read("queue_usage")["qsg"].to_pylist()) == {"SQ03"}


def test_group_from_the_channel_initiator_takes_precedence_over_the_map_and_is_reported(
    run: Run, url: str, tmp_path: Path
) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(2), more=chinits("SQ03"))
    said = run(dump, "--qsg", "SYSA:CSQ1=SQ09", "--qsg", "SYSB:CSQ2=SQ03")
    assert said.code == 0
    (finding,) = said.file["findings"]
    assert (finding["code"], finding["severity"]) == ("GROUP_CONTRADICTS_MAP", "warning")
    assert finding["message"].startswith(
        "CSQ1 on SYSA is in SQ03 according to the records, but in SQ09 according to the map"
    )
    assert set(History.open(url).read("smds_usage")["qsg"].to_pylist()) == {"SQ03"}
    # The group is not an answer, so another map does not replace the rows.
    again = run(dump, "--qsg", "SYSA:CSQ1=SQ08").file
    assert (again["status"], again["findings"][0]["code"]) == ("already_stored", "GROUP_CONTRADICTS_MAP")
    assert "SQ08" in again["findings"][0]["message"]
    assert run(dump, *GROUPS).file["findings"] == []


def test_map_that_puts_a_queue_manager_in_no_group_contradicts_its_channel_initiator(
    run: Run, tmp_path: Path
) -> None:
    said = run(dumps.write(tmp_path / "a.smf", range(2), more=chinits("SQ03")), "--qsg", "SYSA:CSQ1=")
    (finding,) = said.file["findings"]
    assert "but in no group according to the map" in finding["message"]
    assert said.file["rows"]["smds_usage"]["new"] == 4


def test_group_in_records_of_mq_10_that_contradicts_the_map_is_reported(run: Run, tmp_path: Path) -> None:
    said = run(dumps.write(tmp_path / "a.smf", range(2), qsg="SQ03"), "--qsg", "SYSA:CSQ1=SQ09")
    (finding,) = said.file["findings"]
    assert finding["code"] == "GROUP_CONTRADICTS_MAP"


@pytest.mark.parametrize("groups", [("",), ("SQ03", "SQ04")], ids=["none", "two"])
def test_channel_initiator_that_names_no_group_or_two_leaves_the_question(
    run: Run, tmp_path: Path, groups: tuple[str, ...]
) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(2), more=chinits(*groups))
    said = run(dump)
    assert said.code == 4
    assert [ask["queue_manager"] for ask in said.events("asks")[0]["unknown_qsg"]] == ["CSQ1", "CSQ2"]
    answered = run(dump, *GROUPS)
    assert answered.code == 0
    codes = [finding["code"] for finding in answered.file["findings"]]
    assert codes == (["SEVERAL_GROUPS"] * 2 if len(groups) > 1 else [])


def test_wrong_answer_from_before_the_group_was_read_is_replaced(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(2), more=chinits("SQ03"))
    with monkeypatch.context() as patch:
        patch.setattr(ingest, "_groups_in", lambda _: {})
        run(dump, "--qsg", "SYSA:CSQ1=SQ09", "--qsg", "SYSB:CSQ2=SQ09")
    assert run(dump).file["status"] == "stored"
    assert set(History.open(url).read("smds_usage")["qsg"].to_pylist()) == {"SQ03"}


def test_different_answer_replaces_the_rows_of_the_file(run: Run, url: str, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(2))
    run(dump, "--qsg", "SYSA:CSQ1=SQ09", "--qsg", "SYSB:CSQ2=SQ09")
    said = run(dump, *GROUPS)
    assert said.file["status"] == "stored"
    assert said.file["days"] == ["2026-11-20"]
    groups = set(History.open(url).read("smds_usage")["qsg"].to_pylist())
    assert groups == {"SQ03"}


def test_zone_does_not_count_as_an_answer_for_a_dump(run: Run, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(2))
    run(dump, "--zone", "-06:00", *GROUPS)
    assert run(dump, "--zone", "Europe/Berlin").file["status"] == "already_stored"


def test_rmf_days_are_rolled_up_again_when_their_group_becomes_known(run: Run, tmp_path: Path) -> None:
    rmf = tmp_path / "rmf.smf"
    head = dumps.header("SYSA", "", 0)
    rmf.write_bytes(dump([plain_record(2, head), *dumps.rmf(0), plain_record(3, head)]))
    first = run(rmf)
    assert first.file["structures"][0]["qsg"] is None
    later = dumps.write(tmp_path / "mq.smf", range(100, 102))
    said = run(later, *GROUPS)
    assert "2026-11-20" in said.file["days"]
    assert "2026-11-22" in said.file["days"]
    again = run(dumps.write(tmp_path / "more.smf", range(102, 104)), *GROUPS)
    assert "2026-11-20" not in again.file["days"], "the group is no news"


def test_limits_come_from_the_system_with_statistics_of_the_coupling_facility(
    run: Run, url: str, tmp_path: Path
) -> None:
    rmf = tmp_path / "rmf.smf"
    head = dumps.header("SYSA", "", 0)
    others = [dumps.rmf(0, system=system, lacks_statistics=True) for system in ("SYSB", "SYSC")]
    rmf.write_bytes(
        dump([plain_record(2, head), *others[0], *dumps.rmf(0), *others[1], plain_record(3, head)])
    )
    assert run(rmf).code == 0
    assert run(dumps.write(tmp_path / "mq.smf", [9]), *GROUPS).code == 0
    rows = [row for row in History.open(url).read("structure_usage").to_pylist() if row["sysplex"]]
    rows = [row for row in rows if row["structure"] == "APPLICATION1" and row["interval_end"].hour == 0]
    limits = ("entries_in_use", "entries_total", "elements_in_use", "elements_total")
    sizes = ("size_bytes", "size_max_bytes", "size_min_bytes")
    by_system = {row["system_id"]: [row[name] for name in (*limits, *sizes)] for row in rows}
    assert by_system == {
        "SYSA": [1100, 5000, 6100, 30_000, 2**29, 2**30, 2**28],
        "SYSB": [None] * 7,
        "SYSC": [None] * 7,
    }
    assert {(row["in_use_kind"], row["status"], row["note"]) for row in rows} == {
        ("at_end", None, None),
        (None, None, NO_STATISTICS),
    }
    hours = [line for line in roll_up(History.open(url)) if line.get("structure") == "APPLICATION1"]
    (hour,) = [line for line in hours if line["event"] == "structure_hour" and "T00" in line["hour"]]
    assert [hour[name] for name in ("entries_in_use_max", "entries_total", "elements_total", *sizes)] == [
        1100, 5000, 30_000, 2**29, 2**30, 2**28,
    ]  # fmt: skip
    assert hour["sync_requests"] == 3 * 500, "each system counts its own requests"
    assert hour["is_duplexed"] is False


def test_queue_manager_in_no_group_is_skipped(run: Run, url: str, tmp_path: Path) -> None:
    said = run(dumps.write(tmp_path / "a.smf", range(2)), "--qsg", "SYSA:CSQ1=SQ03", "--qsg", "SYSB:CSQ2=")
    assert said.code == 0
    assert any(count for reason, count in said.file["passed_over"].items() if "in no group" in reason)
    assert "CSQ2" not in History.open(url).read("smds_usage")["queue_manager"].to_pylist()


def test_damage_to_one_record_loses_only_that_record(run: Run, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(3), framing=Framing(block_bytes=None))
    data = bytearray(dump.read_bytes())
    at = data.index("QEST".encode("cp037")) - 600
    data[at : at + 40] = b"\xff" * 40
    dump.write_bytes(data)
    said = run(dump, *GROUPS)
    file = said.file
    assert said.code == 0
    assert sum(file["bytes"].values()) == file["size_bytes"]
    assert file["rows"]["smds_usage"]["new"] >= 5


def test_truncated_dump_keeps_complete_records(run: Run, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(3))
    dump.write_bytes(dump.read_bytes()[:-5000])
    said = run(dump, *GROUPS)
    assert said.code == 0
    assert said.file["bytes"]["lost"] > 0
    assert sum(said.file["bytes"].values()) == said.file["size_bytes"]


@pytest.mark.parametrize(
    ("name", "data"),
    [("note.txt", b"Dear planner, the dump follows.\n"), ("picture.pdf", b"%PDF-1.7\n"), ("empty", b"")],
)
def test_other_files_are_refused_with_a_message(run: Run, tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    said = run(tmp_path / name)
    assert said.code == 3
    assert said.file["status"] == "not_readable"
    assert said.file["message"].endswith(".")


@pytest.mark.parametrize("kind", ["gatherer_json", "mqsmf_csv", "cfstatus", "qsg_map", "smf"])
@pytest.mark.parametrize(
    "data", [b"\0" * 5000, b"\x1f\x8b broken", b"[1]", None], ids=["zeros", "gzip", "json", "none"]
)
def test_message_about_an_upload_does_not_show_its_path_in_the_data_folder(
    run: Run, tmp_path: Path, kind: str, data: bytes | None
) -> None:
    stored = tmp_path / ("f00d" * 16)
    if data is not None:
        stored.write_bytes(data)
    said = run(
        stored, "--name", "night.txt", "--kind", kind, "--observed-at", "2026-11-21T09:00", "--zone", "+00:00"
    )
    assert (said.file["file"], said.file["status"]) == ("night.txt", "not_readable")
    assert said.file["message"]
    assert stored.name not in said.file["message"]


def test_dump_without_rdws_is_refused(run: Run, tmp_path: Path) -> None:
    data = dumps.write(tmp_path / "a.smf", range(1), framing=Framing(block_bytes=None)).read_bytes()
    (tmp_path / "nordw.smf").write_bytes(data[4:])
    said = run(tmp_path / "nordw.smf")
    assert said.code == 3
    assert said.file["kind"] == "smf"


def test_missing_file_is_reported(run: Run, tmp_path: Path) -> None:
    said = run(tmp_path / "nowhere.smf")
    assert said.code == 3
    assert "cannot be read" in said.file["message"]


def test_unreadable_file_does_not_stop_the_others(run: Run, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("nothing")
    said = run(tmp_path / "note.txt", dumps.write(tmp_path / "a.smf", range(2)), *GROUPS)
    assert [file["status"] for file in said.files] == ["not_readable", "stored"]
    assert (said.code, said.report["status"]) == (3, "not_readable")


def test_file_without_usage_is_reported(run: Run, tmp_path: Path) -> None:
    head = dumps.header("SYSA", "", 0)
    path = tmp_path / "a.smf"
    path.write_bytes(dump([plain_record(2, head), plain_record(30, head, subtype=4), plain_record(3, head)]))
    said = run(path)
    assert (said.code, said.file["status"]) == (1, "nothing")


def test_display_needs_a_time_and_gives_one_observation_per_time(run: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "status.txt"
    path.write_text(CFSTATUS)
    group = ("--qsg", "SYSA:CSQ1=SQ03")
    said = run(path, *group)
    assert said.code == 4
    assert said.events("asks")[0]["observed_at"] is True
    for hour in (9, 9, 10):
        assert run(path, *group, "--observed-at", f"2026-11-20T{hour:02}:00:00+01:00").code == 0
    rows = History.open(url).read("structure_usage")
    assert [
        (end.hour, used)
        for end, used in zip(
            rows["interval_end"].to_pylist(), rows["entries_in_use"].to_pylist(), strict=True
        )
    ] == [(8, 38), (9, 38)]


def test_reports_use_the_given_names(run: Run, url: str, tmp_path: Path) -> None:
    said = run(dumps.write(tmp_path / "0815", range(2)), "--name", "night.smf", *GROUPS)
    assert said.file["file"] == "night.smf"
    assert History.open(url).files()[0]["file_name"] == "night.smf"


def test_progress_is_printed_for_each_stage(run: Run, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(4))
    said = run(dump, "--progress", *GROUPS)
    stages = [line["stage"] for line in said.events("progress")]
    assert list(dict.fromkeys(stages)) == ["indexing", "decoding", "committing"]
    last = {line["stage"]: line for line in said.events("progress")}
    assert last["decoding"]["done"] == last["decoding"]["total"] == dump.stat().st_size
    assert all(line["done"] <= line["total"] for line in said.events("progress"))
    assert said.lines[-1]["event"] == "report"


@pytest.mark.parametrize("fails", [False, True])
def test_dump_is_read_with_memory_of_the_system_and_other_work_is_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    before = pa.default_memory_pool().backend_name
    used = []

    def rows_of(batches: Batches, *, group_of: GroupMap) -> Mapped:
        used.append(pa.default_memory_pool().backend_name)
        if fails:
            raise OSError(errno.EIO, "a failure")
        return rows.rows_of(batches, group_of=group_of)

    monkeypatch.setattr("spark_jobs.history.dumps.rows_of", rows_of)
    said = run(dumps.write(tmp_path / "night.smf", range(3)), *GROUPS)
    assert said.file["status"] == ("not_readable" if fails else "stored")
    assert used == ["system"]
    assert pa.default_memory_pool().backend_name == before != "system"


def test_retention_skips_old_days_and_drops_stored_ones(run: Run, url: str, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(2))
    assert run(dump, *GROUPS).report["kept_from"] is None
    said = run(dump, "--retention-days", "1", *GROUPS)
    assert said.report["dropped_days"] == ["2026-11-20"] or said.file["status"] == "already_stored"
    assert said.report["kept_from"] == dt.datetime.now(dt.UTC).date().isoformat()
    other = dumps.write(tmp_path / "b.smf", range(3))
    said = run(other, "--retention-days", "1", *GROUPS)
    assert said.file["status"] == "nothing"
    assert "increase the retention" in said.file["message"]
    assert all(rows == [] for rows in contents(History.open(url)).values())


def test_large_dump_without_java_is_read_in_one_process(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        message = "No Java that can run Spark was found."
        raise JavaNotFoundError(message)

    monkeypatch.setattr("spark_jobs.session.find_java", none)
    said = run(dumps.write(tmp_path / "a.smf", range(2)), "--in-process-below", "0", *GROUPS)
    assert (said.code, said.file["driver"]) == (0, "in-process")
    assert "No Java" in said.file["notes"][0]


def no_room(*_: object) -> None:
    message = "The usage history cannot be written to: full."
    raise HistoryError(message)


def test_full_disk_is_reported_and_nothing_is_stored(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = dumps.write(tmp_path / "a.smf", range(2))
    History.open(url, create=True)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(HistoryError, match="No space left"):
            Folder(Path(url)).write("x", pa.py_buffer(b"x"))
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", no_room)
        said = run(dump, *GROUPS)
    assert (said.code, said.file["status"]) == (5, "not_stored")
    assert "Nothing was stored" in said.file["message"]
    assert run(dump, *GROUPS).code == 0


def test_unusable_history_location_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("no folder")
    dump = dumps.write(tmp_path / "a.smf", range(1))
    assert ingest.main(["--history", str(tmp_path / "file"), str(dump)]) == 1
    assert "usage history" in capfd.readouterr().err


def test_compressed_text_is_read(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "status.txt.gz"
    path.write_bytes(gzip.compress(CFSTATUS.encode()))
    assert run(path).file["kind"] == "cfstatus"


def test_generated_test_dumps_fill_every_table(run: Run, url: str, tmp_path: Path) -> None:
    run(dumps.write(tmp_path / "a.smf", range(1)), *GROUPS)
    assert all(History.open(url).read(table).num_rows for table in TABLES)


# ---- real dumps ------------------------------------------------------------------------------------------------------

needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="IBM's sample dumps are not beside the repository"
)


@needs_samples
@pytest.mark.parametrize("binary_first", [True, False])
@pytest.mark.parametrize(
    ("dump", "section", "group", "zone"),
    [
        ("TEST115", "QEST", "H019:MQPC=SQ01", "-06:00"),
        ("TESTCHL", "QEST", "MPX1:QML1=QSGM", "-04:00"),
        ("TESTCHL", "QESD", "MPX1:QML1=QSGM", "-04:00"),
    ],
)
def test_intervals_from_a_dump_and_from_mq_smf_csv_are_stored_once(
    run: Run, url: str, dump: str, section: str, group: str, zone: str, binary_first: bool
) -> None:
    files = [SAMPLES / f"{dump}.dat", SAMPLES / "expected" / f"{dump}-{section}.csv"]
    for file in files if binary_first else reversed(files):
        assert run(file, "--qsg", group, "--zone", zone).code == 0
    table = "smds_usage" if section == "QESD" else "structure_usage"
    rows = History.open(url).read(table)
    assert set(rows["origin"].to_pylist()) == {"binary"}
    assert rows.num_rows == {"TEST115QEST": 3, "TESTCHLQEST": 19, "TESTCHLQESD": 16}[dump + section]


@needs_samples
def test_published_ibm_sample_of_a_shared_queue_manager_is_stored(run: Run, url: str) -> None:
    run(SAMPLES / "TEST115.dat", "--qsg", "H019:MQPC=SQ01")
    rows = {row["structure"]: row for row in History.open(url).read("structure_usage").to_pylist()}
    admin = rows["CSQ_ADMIN"]
    assert (admin["ixllste_calls"], admin["ixllstm_calls"]) == (1243, 68)
    assert (admin["entries_in_use"], admin["elements_in_use"]) == (2194, 2570)
    assert rows["PERSIST1"]["entries_in_use"] is None


@needs_samples
def test_published_ibm_sample_with_a_channel_initiator_names_its_group(run: Run, url: str) -> None:
    said = run(SAMPLES / "TESTCHL.dat")
    assert (said.code, said.events("asks")) == (0, [])
    assert said.file["queue_managers"] == [{"system_id": "MPX1", "queue_manager": "QML1", "qsg": "QSGM"}]
    assert set(History.open(url).read("structure_usage")["qsg"].to_pylist()) == {"QSGM"}
