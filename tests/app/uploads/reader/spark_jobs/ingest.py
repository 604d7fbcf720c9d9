"""Read a file whose lines are orders: messages to print, times to wait, and the exit.

    say STAGE DONE TOTAL    wait S    ask    display    fail CODE    crash    hang    nothing    days DAY...    map SYSA:CSQ1=SQ03    noise
    full (the disk of the history is full)
    leave (end as the real jobs do)    leave-process (leave a process behind)
    set-variable (change the environment)

Its history has one file for each file that it read, which shows what was read and how often.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from spark_jobs.leaving import leave


def say(event: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser()
    for option in (
        "--history",
        "--kind",
        "--observed-at",
        "--zone",
        "--work-dir",
        "--in-process-below",
        "--max-unpacked",
        "--max-ratio",
        "--retention-days",
        "--master",
    ):
        parser.add_argument(option, default="")
    parser.add_argument("--qsg", action="append", default=[])
    parser.add_argument("--name", action="append", default=[])
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    (path,) = arguments.files
    data = path.read_bytes()
    sys.stderr.write(f"reading {arguments.name[0] if arguments.name else path.name}\n")
    days: list[str] = []
    status, is_crashing = "stored", False
    for line in data.decode("utf-8", "replace").splitlines():
        verb, *words = line.split() or [""]
        if verb == "say":
            say(
                {
                    "event": "progress",
                    "file": path.name,
                    "stage": words[0],
                    "done": int(words[1]),
                    "total": int(words[2]),
                }
            )
        elif verb == "wait":
            time.sleep(float(words[0]))
        elif verb == "hang":
            time.sleep(3600)
        elif verb == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        elif verb == "noise":
            sys.stdout.write("a library says something on the wrong stream\n")
        elif verb == "leave-process":
            subprocess.Popen(
                [sys.executable, "-c", "pass"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        elif verb == "set-variable":
            os.environ["SET_BY_A_JOB"] = "1"
        elif verb == "crash-at-exit":
            is_crashing = True
        elif verb == "days":
            days = words
        elif verb == "nothing":
            status = "nothing"
        elif verb == "full":
            message = "The usage history cannot be written to: No space left on device. Nothing was stored."
            say(report(arguments, path, data, "not_stored", [], message))
            return 5
        elif verb == "fail":
            if words[0] == "3":
                say(
                    report(
                        arguments,
                        path,
                        data,
                        "not_readable",
                        days,
                        "This is no SMF dump: transfer it in binary.",
                    )
                )
            return int(words[0])
        elif verb == "ask" and not any(each.startswith("SYSA:CSQ1=") for each in arguments.qsg):
            asks(arguments, path)
            say(
                report(
                    arguments, path, data, "needs_answers", days, "Answers are needed; nothing was stored."
                )
            )
            return 4
        elif verb == "display" and not any(":CSQ1=" in each for each in arguments.qsg):
            of_display = {"system_id": "ANY", "queue_manager": "CSQ1"}
            say(
                {
                    "event": "asks",
                    "file": path.name,
                    "unknown_qsg": [of_display],
                    "messages": ["Which group?"],
                }
            )
            return 4
        elif verb == "observe" and not arguments.observed_at:
            say(
                {
                    "event": "asks",
                    "file": path.name,
                    "unknown_qsg": [],
                    "observed_at": True,
                    "zone": True,
                    "messages": ["When was this display taken, and in which time zone?"],
                }
            )
            say(
                report(
                    arguments, path, data, "needs_answers", days, "Answers are needed; nothing was stored."
                )
            )
            return 4
    commit(arguments, path, data)
    say(report(arguments, path, data, status, days, "342 rows were stored."))
    if is_crashing:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1 if status == "nothing" else 0


def asks(arguments: argparse.Namespace, path: Path) -> None:
    say(
        {
            "event": "asks",
            "file": path.name,
            "observed_at": False,
            "zone": False,
            "unknown_qsg": [
                {"system_id": "SYSA", "queue_manager": "CSQ1", "suggested": None, "in_rmf": "SQ03"},
                {"system_id": "SYSB", "queue_manager": "CSQ2", "suggested": "SQ03", "in_rmf": "SQ04"},
            ],
            "messages": [
                "Which queue-sharing group are CSQ1 and CSQ2 in? Their records are from before MQ 10 and do not say."
            ],
        }
    )


def commit(arguments: argparse.Namespace, path: Path, data: bytes) -> None:
    folder = Path(arguments.history)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{hashlib.sha256(data).hexdigest()}.json"
    called = {
        "kind": arguments.kind,
        "observed_at": arguments.observed_at,
        "zone": arguments.zone,
        "qsg": arguments.qsg,
        "names": arguments.name,
        "master": arguments.master,
        "retention_days": arguments.retention_days,
        "max_unpacked": arguments.max_unpacked,
        "max_ratio": arguments.max_ratio,
    }
    made = target.with_suffix(f".{os.getpid()}")
    made.write_text(json.dumps(called), encoding="utf-8")
    made.replace(target)
    with (folder / "times-read").open("a", encoding="utf-8") as file:
        file.write(f"{path.name}\n")


def report(
    arguments: argparse.Namespace, path: Path, data: bytes, status: str, days: list[str], message: str
) -> dict[str, object]:
    name = arguments.name[0] if arguments.name else path.name
    return {
        "event": "report",
        "status": status,
        "history": arguments.history,
        "files": [
            {
                "file": name,
                "sha256": hashlib.sha256(data).hexdigest(),
                "size_bytes": len(data),
                "kind": arguments.kind or "smf",
                "status": status,
                "message": message,
                "driver": "in-process",
                "framing": "rdw",
                "commit_id": 1,
                "first_interval_end": "2026-11-20T09:00:00Z",
                "last_interval_end": "2026-11-20T23:30:00.250Z",
                "days": days,
                "structures": [
                    {"qsg": "SQ03", "structure": "APPLICATION1", "xcf_structure": "SQ03APPLICATION1"},
                    {"qsg": None, "structure": None, "xcf_structure": "OTHERSTRUCTURE01"},
                ],
                "queue_managers": [
                    {"system_id": "SYSA", "queue_manager": "CSQ1", "qsg": "SQ03"},
                    {"system_id": "SYSB", "queue_manager": "CSQ2", "qsg": None},
                ],
                "qsg_map": [
                    {"system_id": each[:4], "queue_manager": each[5:9], "qsg": each[10:]}
                    for each in re.findall(r"^map (.+)$", data.decode("utf-8", "replace"), re.MULTILINE)
                ],
                "queues": 17,
                "records": {"115-2": 48, "115-216": 96, "116-1": 1200},
                "bytes": {"decoded": 9_000_000, "skipped": 400_000, "quarantined": 2_100, "lost": 17},
                "skipped": [
                    {"type": "2", "records": 1, "bytes": 18},
                    {"type": "30-2", "records": 400, "bytes": 399_982},
                ],
                "quarantined": {
                    "count": 3,
                    "bytes": 2_100,
                    "first": [
                        {
                            "offset": 1_048_576,
                            "length": 700,
                            "reason": "the record's length of 65535 is beyond its block",
                        },
                        {
                            "offset": 2_097_152,
                            "length": 1_400,
                            "reason": "a middle segment without a first one",
                        },
                    ],
                },
                "problems": {"count": 0, "first": []},
                "passed_over": {"private queues": 120},
                "rows": {
                    "structure_usage": {
                        "read": 96,
                        "new": 80,
                        "replacing": 10,
                        "duplicates": 6,
                        "outranked": 2,
                        "conflicts": 1,
                    },
                    "queue_usage": {
                        "read": 246,
                        "new": 246,
                        "replacing": 0,
                        "duplicates": 0,
                        "outranked": 0,
                        "conflicts": 0,
                    },
                },
                "conflicts": [
                    {
                        "table": "structure_usage",
                        "key": {"qsg": "SQ03", "structure": "APPLICATION1"},
                        "kept": {"file": "old.smf", "offset": 12},
                        "other": {"file": name, "offset": 99},
                        "columns": ["entries_in_use_max"],
                    }
                ],
                "findings": [
                    {
                        "code": "TIMES_IN_THE_FUTURE",
                        "severity": "warning",
                        "message": "Some of its intervals end in the future.",
                    }
                ],
                "notes": [
                    "Local time was taken as UTC+01:00, from the difference of the clocks in the records."
                ],
                "seconds": {"indexing": 0.1, "decoding": 1.5, "committing": 0.2},
            }
        ],
    }


if __name__ == "__main__":
    if "leave" in Path(sys.argv[-1]).read_bytes().decode("utf-8", "replace").splitlines():
        leave(main())
    sys.exit(main())
