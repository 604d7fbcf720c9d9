"""Ingest: refused options, the report on each file, and the end of its process."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spark_jobs import ingest
from spark_jobs.history.facts import RowFacts
from spark_jobs.history.store import History
from spark_jobs.smf import __main__ as smf
from spark_jobs.smf import unzip
from spark_jobs.smf.encode import Framing
from spark_jobs.smf.errors import UnpacksTooLarge
from tests.spark_jobs.history import dumps
from tests.spark_jobs.history.dumps import GROUPS
from tests.spark_jobs.history.rows import qest, structure_rows
from tests.spark_jobs.history.support import commit

HEADINGS = "qsg,structure,interval_start,interval_end,entries_in_use,entries_total\n"


class IngestOutput:
    """The exit code and the output of an ingest."""

    def __init__(self, code: int, lines: list[dict[str, Any]], err: str) -> None:
        self.code, self.lines, self.err = code, lines, err

    @property
    def report(self) -> dict[str, Any]:
        return self.lines[-1]

    @property
    def file(self) -> dict[str, Any]:
        (only,) = self.report["files"]
        found: dict[str, Any] = only
        return found


Run = Callable[..., IngestOutput]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "history")


@pytest.fixture
def run(url: str, capsys: pytest.CaptureFixture[str]) -> Run:
    def one(*arguments: object) -> IngestOutput:
        try:
            code = ingest.main(["--history", url, *map(str, arguments)])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return IngestOutput(code, [json.loads(line) for line in out.splitlines()], err)

    return one


def table(path: Path, *ends: str) -> Path:
    """Write the CSV template with an hour that ends at each of these times."""
    rows = [f"SQ03,APPLICATION1,,{end},10,100\n" for end in ends]
    path.write_text(HEADINGS + "".join(rows))
    return path


# ---- what is refused before anything is read -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            ["--qsg", "SYSA:CSQ1=SQ01", "--qsg", "SYSA:CSQ1=SQ02"],
            "CSQ1 on SYSA is assigned to SQ01 and to SQ02",
        ),
        (["--qsg", "SYSA:CSQ1=", "--qsg", "SYSA:CSQ1=SQ02"], "assigned to no group and to SQ02"),
        (
            ["--observed-at", "2024-10-27T02:30", "--zone", "Europe/Berlin"],
            "2024-10-27T02:30+02:00 or 2024-10-27T02:30+01:00",
        ),
        (["--observed-at", "2024-03-31T02:30", "--zone", "Europe/Berlin"], "skipped that hour"),
        (["--observed-at", "2199-01-01T00:00Z"], "is in the future"),
        (["--observed-at", "0001-01-01T00:00+14:00"], "is not a possible time"),
    ],
)
def test_contradictory_or_impossible_options_are_refused(
    run: Run, url: str, tmp_path: Path, said: list[str], words: str
) -> None:
    refused = run(*said, table(tmp_path / "hours.csv", "2024-11-20T10:00Z"))
    assert refused.code == 2
    assert words in refused.err
    assert not refused.lines
    assert not Path(url).exists()


def test_same_group_given_twice_is_accepted(run: Run, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.smf", range(2))
    assert run(dump, *GROUPS, *GROUPS).code == 0


def test_time_in_a_repeated_hour_is_stored_by_its_offset(run: Run, url: str, tmp_path: Path) -> None:
    display = tmp_path / "status.txt"
    display.write_text("CSQM201I +CSQ1 CSQMDRTC DIS CFSTATUS DETAILS\nCFSTATUS(APP1)\nTYPE(SUMMARY)\nCFTYPE(APPL)\n"
                       "STATUS(ACTIVE)\nSIZEMAX(131072)\nSIZEUSED(11)\nENTSMAX(141890)\nENTSUSED(38)\n"
                       " END CFSTATUS DETAILS\n")  # fmt: skip
    said = run(
        "--qsg", "SYSA:CSQ1=SQ03", "--observed-at", "2024-10-27T02:30+01:00", "--zone", "Europe/Berlin", display
    )  # fmt: skip
    assert said.code == 0
    (end,) = set(History.open(url).read("structure_usage")["interval_end"].to_pylist())
    assert end == datetime(2024, 10, 27, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_path_that_is_not_a_file_is_refused_without_waiting(run: Run, tmp_path: Path, what: str) -> None:
    path = tmp_path / "thing"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    said: list[IngestOutput] = []
    thread = threading.Thread(target=lambda: said.append(run(path)), daemon=True)
    thread.start()
    thread.join(60)
    assert said, "it waits for bytes that never come"
    assert (said[0].code, said[0].file["status"]) == (3, "not_readable")
    assert f"is a {what}" in said[0].file["message"]


def test_pipe_is_refused_by_decode(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    codes: list[int] = []
    thread = threading.Thread(
        target=lambda: codes.append(smf.main(["decode", str(path), "--section", "qest"])), daemon=True
    )
    thread.start()
    thread.join(60)
    assert codes == [3]
    assert "is a pipe" in capfd.readouterr().err


# ---- packed files ----------------------------------------------------------------------------------------------------


def test_compressed_dump_beyond_the_limit_is_refused_and_nothing_is_stored(
    run: Run, url: str, tmp_path: Path
) -> None:
    dump = dumps.write(tmp_path / "night.smf", range(6), framing=Framing(kind="gzip+rdw"))
    said = run("--max-unpacked", 20_000, dump, *GROUPS)
    assert (said.code, said.file["status"]) == (3, "not_readable")
    assert "larger than 20000 bytes after decompression" in said.file["message"]
    assert [path.name for path in Path(url).rglob("*.parquet")] == []
    assert run(dump, *GROUPS).code == 0


@pytest.mark.parametrize("head", [b"", HEADINGS.encode()], ids=["binary", "text"])
def test_file_that_decompresses_to_1000_times_its_size_is_refused_quickly(
    run: Run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(unzip, "RATIO_COUNTS_FROM_BYTES", 2**20)
    content = head or dumps.write(tmp_path / "one.smf", range(1)).read_bytes()
    filler = b"#" * 50 + b"\n" if head else b"\0"
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb") as packed:
        packed.write(content)
        for _ in range(64):
            packed.write(filler * (2**20 // len(filler)))
    said = run(path, *GROUPS)
    assert (said.code, said.file["status"]) == (3, "not_readable")
    assert "more than 250 times its length" in said.file["message"]
    assert [found.name for found in Path(url).rglob("*.parquet")] == []


def test_decompressed_bytes_are_counted_during_decompression(tmp_path: Path) -> None:
    path = tmp_path / "zeros.gz"
    with gzip.open(path, "wb") as packed:
        for _ in range(32):
            packed.write(bytes(2**20))
    limits = unzip.UnpackLimits(most_bytes=5 * 2**20, most_ratio=10**6)
    with unzip.Unzipped(path.open("rb"), limits=limits) as content:
        with pytest.raises(UnpacksTooLarge):
            sum(len(piece) for piece in iter(lambda: content.read(2**16), b""))
        assert content._position <= 5 * 2**20 + 2**16


def test_file_compressed_twice_is_refused_with_advice(run: Run, tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.smf", range(2)).read_bytes()
    path = tmp_path / "twice.gz"
    path.write_bytes(gzip.compress(gzip.compress(dump)))
    said = run(path, *GROUPS)
    assert said.code == 3
    assert "compressed with gzip twice" in said.file["message"]


# ---- what is said of each file, and of all ---------------------------------------------------------------------------


def test_each_file_is_reported_and_the_worst_result_determines_the_exit_code(
    run: Run, tmp_path: Path
) -> None:
    good = table(tmp_path / "good.csv", "2024-11-20T10:00Z")
    bad = tmp_path / "bad.txt"
    bad.write_text("nothing that anybody knows\n")
    asking = dumps.write(tmp_path / "night.smf", range(2))
    said = run(good, bad)
    assert (said.code, said.report["exit_code"], said.report["status"]) == (3, 3, "not_readable")
    assert [file["status"] for file in said.report["files"]] == ["stored", "not_readable"]
    assert said.report["counts"] == {"stored": 1, "not_readable": 1}
    said = run(asking, bad, good)
    assert (said.code, said.report["exit_code"], said.report["status"]) == (4, 4, "needs_answers")
    assert said.report["counts"] == {"already_stored": 1, "not_readable": 1, "needs_answers": 1}


def test_group_named_in_other_records_is_suggested_but_not_used(run: Run, url: str, tmp_path: Path) -> None:
    said = run(dumps.write(tmp_path / "night.smf", range(2)))
    (asked,) = [line for line in said.lines if line["event"] == "asks"]
    assert [each["suggested"] for each in asked["unknown_qsg"]] == ["SQ03", "SQ03"]
    assert [each["in_rmf"] for each in asked["unknown_qsg"]] == ["SQ03", "SQ03"]
    assert (said.code, History.open(url).files()) == (4, [])


@pytest.mark.parametrize(
    ("names", "group"),
    [
        (["SQ03CSQ_ADMIN", "SQ03APPL1", "DSNDB0A_LOCK1"], "SQ03"),
        (["SQ@@CSQ_ADMIN"], "SQ"),
        (["SQ03CSQ_ADMIN", "SQ04CSQ_ADMIN"], None),
        (["SQ03APPL1"], None),
        ([], None),
    ],
)
def test_group_is_taken_from_rmf_only_if_it_shows_one(names: list[str], group: str | None) -> None:
    assert ingest.only_group_in_rmf(RowFacts(structures={("", "", name) for name in names})) == group


def test_structures_with_a_known_group_are_not_from_rmf() -> None:
    assert ingest.only_group_in_rmf(RowFacts(structures={("SQ03", "CSQ_ADMIN", "SQ03CSQ_ADMIN")})) is None


def test_report_counts_only_decoded_records(run: Run, tmp_path: Path) -> None:
    file = run(dumps.write(tmp_path / "night.smf", range(3)), *GROUPS).file
    skipped = {item["type"] for item in file["skipped"]}
    assert skipped == {"2", "3", "30-4"}
    assert not skipped & set(file["records"])
    assert file["records"]["115-2"] == 6


def test_rows_already_stored_are_not_reported_as_new(run: Run, tmp_path: Path) -> None:
    one = table(tmp_path / "one.csv", "2024-11-20T10:00Z")
    assert run(one).file["message"] == "Stored 1 new row."
    two = table(tmp_path / "two.csv", "2024-11-20T10:00Z", "2024-11-20T11:00Z")
    assert run(two).file["message"] == "Stored 1 new row; 1 was already stored or duplicated in the file."


def test_records_that_replace_formatted_copies_are_not_reported_as_new(url: str) -> None:
    history = History.open(url, create=True)
    printed = [qest(number, origin="formatter") for number in range(3)]
    recorded = [qest(number) for number in range(4)]
    commit(history, "SMF-QEST.csv", structures=structure_rows(*printed))
    found = commit(history, "night.smf", structures=structure_rows(*recorded)).comparisons["structure_usage"]
    assert asdict(found.counts) == {
        "read": 4, "new": 1, "replacing": 3, "duplicates": 0, "outranked": 0, "conflicts": 0,
    }  # fmt: skip
    assert ingest._stored_sentence({"rows": {"structure_usage": asdict(found.counts)}}) == (
        "Stored 1 new row; 3 replace rows from a less trusted source."
    )
    again = commit(history, "again.csv", structures=structure_rows(*printed)).comparisons["structure_usage"]
    assert asdict(again.counts) == {
        "read": 3, "new": 0, "replacing": 0, "duplicates": 3, "outranked": 3, "conflicts": 0,
    }  # fmt: skip
    assert ingest._stored_sentence({"rows": {"structure_usage": asdict(again.counts)}}) == (
        "Nothing new; 3 were already stored from a more trusted source, which stays in use."
    )


def test_times_in_the_future_are_reported_as_a_finding(run: Run, tmp_path: Path) -> None:
    ahead = datetime.now(UTC) + timedelta(days=400)
    said = run(table(tmp_path / "hours.csv", "2024-11-20T10:00Z", f"{ahead:%Y-%m-%dT%H:00Z}"))
    assert said.code == 0
    (finding,) = said.file["findings"]
    assert (finding["code"], finding["severity"]) == ("TIMES_IN_THE_FUTURE", "warning")
    assert f"{ahead:%Y-%m-%d}" in finding["message"]
    assert run(table(tmp_path / "sound.csv", "2024-11-20T12:00Z")).file["findings"] == []


def test_unreadable_number_is_reported_with_line_and_text(run: Run, tmp_path: Path) -> None:
    path = table(tmp_path / "hours.csv", "2024-11-20T10:00Z", "2024-11-20T11:00Z")
    path.write_text(path.read_text().replace("10,100\n", "1O,100\n", 1))
    message = run(path).file["message"]
    assert message.startswith("Stored 1 new row. Not everything was read. Line 2: ")
    assert "'1O' is not a whole number" in message
    path.write_text(path.read_text().replace(",10,", ",l0,"))
    nothing = run(path)
    assert (nothing.code, nothing.file["status"]) == (1, "nothing")
    assert "Line 2: " in nothing.file["message"]
    assert "There is 1 more problem" in nothing.file["message"]


def test_truncated_display_is_stored_with_a_remark(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "status.txt"
    path.write_text("CSQM201I +CSQ1 CSQMDRTC DIS CFSTATUS DETAILS\nCFSTATUS(APP1)\nTYPE(SUMMARY)\nCFTYPE(APPL)\n"
                    "STATUS(ACTIVE)\nSIZEMAX(131072)\nSIZEUSED(11)\nENTSMAX(141890)\n")  # fmt: skip
    said = run("--qsg", "SYSA:CSQ1=SQ03", "--observed-at", "2024-11-20T10:00Z", path)
    assert said.code == 0
    assert "CFSTATUS(APP1) ends without ENTSUSED: it was truncated" in said.file["message"]
    assert said.file["problems"]["first"][0]["line"] == 8


# ---- how the process ends --------------------------------------------------------------------------------------------

ABORTS = "import atexit, os\natexit.register(os.abort)\n"
"""Reproduces a crash of a native library's thread during interpreter shutdown."""


def process(tmp_path: Path, *command: object) -> subprocess.CompletedProcess[str]:
    (tmp_path / "site").mkdir(exist_ok=True)
    (tmp_path / "site" / "sitecustomize.py").write_text(ABORTS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(Path.cwd())])}
    return subprocess.run(
        [sys.executable, "-m", *map(str, command)], env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip


def test_crash_of_libraries_at_exit_changes_neither_exit_code_nor_report(url: str, tmp_path: Path) -> None:
    path = table(tmp_path / "hours.csv", "2024-11-20T10:00Z")
    done = process(tmp_path, "spark_jobs.ingest", "--history", url, path)
    assert (done.returncode, json.loads(done.stdout.splitlines()[-1])["status"]) == (0, "stored")
    done = process(tmp_path, "spark_jobs.history", "export", "--history", url, "--table", "structure_usage")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2)
    done = process(tmp_path, "spark_jobs.rollup", "--history", url)
    assert (done.returncode, json.loads(done.stdout.splitlines()[-1])["event"]) == (0, "end")
    dump = dumps.write(tmp_path / "night.smf", range(1))
    done = process(tmp_path, "spark_jobs.smf", "decode", dump, "--section", "qest")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 1


def test_closed_stdout_does_not_block_ingest(url: str, tmp_path: Path) -> None:
    path = table(tmp_path / "hours.csv", "2024-11-20T10:00Z")
    command = [sys.executable, "-m", "spark_jobs.ingest", "--history", url, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        child.stdout.close()
        end = time.monotonic() + 60
        while child.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.05)
    assert child.returncode != 0
    assert History.open(url).read("structure_usage").num_rows == 1
