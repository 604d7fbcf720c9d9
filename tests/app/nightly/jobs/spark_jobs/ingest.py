"""Add days to the history by date, and record their files."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--history", type=Path, required=True)
    parser.add_argument("--qsg", action="append", default=[])
    at = sys.argv.index("--")
    arguments, _ = parser.parse_known_args(sys.argv[1:at])
    files = [Path(each) for each in sys.argv[at + 1 :]]
    history: Path = arguments.history
    (history / "files").mkdir(parents=True, exist_ok=True)
    assert arguments.qsg == ["SIMA:SIM1=SIM1"]
    days = []
    for path in files:
        data = path.read_bytes()
        day = path.stem.removeprefix("simulated-")
        (history / f"{day}.json").write_bytes(data)
        told = {"file_sha256": hashlib.sha256(data).hexdigest(), "file_name": path.name, "day": day}
        (history / "files" / told["file_sha256"]).write_text(json.dumps(told), encoding="utf-8")
        days.append(day)
    report = {"event": "report", "status": "stored", "files": [{"message": "stored", "days": days}]}
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
