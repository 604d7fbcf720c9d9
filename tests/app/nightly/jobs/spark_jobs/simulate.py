"""Write one file per day of a fictitious site."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    for option in (
        "--days",
        "--structures",
        "--queue-managers",
        "--interval-minutes",
        "--seed",
        "--days-per-file",
    ):
        parser.add_argument(option, type=int, required=True)
    parser.add_argument("--last-day", type=dt.date.fromisoformat, required=True)
    parser.add_argument("--out", type=Path, required=True)
    for flag in ("--force", "--progress"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for back in range(4):
        day = arguments.last_day - dt.timedelta(days=back)
        made = {"qsg": "SIM1", "structure": "SIMAPP1", "entries_peak": 950 - back}
        (arguments.out / f"simulated-{day}.smf").write_text(json.dumps(made), encoding="utf-8")
        sys.stdout.write(
            json.dumps({"event": "progress", "stage": "simulating", "done": back + 1, "total": 4}) + "\n"
        )
    entries = [{"system_id": "SIMA", "queue_manager": "SIM1", "qsg": "SIM1"}]
    (arguments.out / "simulated-qsg-map.json").write_text(json.dumps({"entries": entries}), encoding="utf-8")
    facilities = {"coupling_facilities": [{"name": "SIMCF01", "cfcc_level": 25}]}
    (arguments.out / "truth.json").write_text(json.dumps(facilities), encoding="utf-8")
    sys.stdout.write(json.dumps({"event": "result", "folder": str(arguments.out)}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
