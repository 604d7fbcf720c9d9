"""Reduce days stored as files of the history to the results of a nightly run, with simple arithmetic.

A day is a file such as 2026-11-20.json: {"qsg", "structure", "entries_peak"}. Reduced days are
stored next to them, one by one, as the real job does: the run after a killed one does not read them again.

Orders (orders.json): pause_s between days, fail (a sentence), crash ("reducing" or "result": a kill from within), noise,
stderr (text to print there).
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

DAYS = "[0-9]*.json"
REDUCED = "reduced"


def say(**event: object) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def put(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    made.write_text(json.dumps(content), encoding="utf-8")
    made.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser()
    for option in ("--history", "--facts", "--out"):
        parser.add_argument(option, type=Path, required=True)
    for option in ("--horizon", "--work-dir", "--master", "--in-process-below"):
        parser.add_argument(option, default="")
    parser.add_argument("--progress", action="store_true")
    arguments = parser.parse_args()
    history: Path = arguments.history
    facts = json.loads(arguments.facts.read_text(encoding="utf-8"))
    orders = json.loads((history / "orders.json").read_text()) if (history / "orders.json").exists() else {}
    put(history / "called.json", {"argv": sys.argv[1:], "facts": facts})
    with (history / "times-run").open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()} {arguments.in_process_below}\n")
    # `crash_starts`: how many starts crash; all if it is missing.
    times_run = len((history / "times-run").read_text(encoding="utf-8").splitlines())
    if times_run > orders.get("crash_starts", times_run):
        orders.pop("crash")
    sys.stderr.write("WARN a word of Spark\n" + orders.get("stderr", ""))
    if orders.get("noise"):
        sys.stdout.write("a library says something on the wrong stream\n")
    if orders.get("fail"):
        say(event="error", sentence=orders["fail"])
        return 1
    days = sorted(history.glob(DAYS))
    anew = [day for day in days if is_new(day, history / REDUCED / day.name)]
    for number, day in enumerate(anew):
        say(
            event="progress", stage="reducing", done=number, total=len(anew), sentence=f"Reducing {day.stem}."
        )
        time.sleep(orders.get("pause_s", 0))
        put(history / REDUCED / day.name, json.loads(day.read_text()))
        if orders.get("crash") == "reducing":
            os.kill(os.getpid(), signal.SIGKILL)
    say(event="progress", stage="fitting", done=0, total=1, sentence="Fitting curves.")
    time.sleep(orders.get("pause_s", 0))
    put(arguments.out, result(history, days, len(anew), facts) | orders.get("result", {}))
    if orders.get("crash") == "result":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(orders.get("pause_s", 0))
    say(event="result", path=str(arguments.out))
    if orders.get("crash") == "exit":
        os.kill(os.getpid(), signal.SIGKILL)
    return 0


def is_new(day: Path, reduced: Path) -> bool:
    return not reduced.exists() or json.loads(reduced.read_text()) != json.loads(day.read_text())


def result(history: Path, days: list[Path], reduced: int, facts: dict[str, Any]) -> dict[str, Any]:
    measured = {day.stem: json.loads((history / REDUCED / day.name).read_text()) for day in days}
    published = {day: hashlib.sha256(json.dumps(each).encode()).hexdigest() for day, each in measured.items()}
    before = facts["published"]
    told = {day for day in (*published, *before) if published.get(day) != before.get(day)}
    last = max(measured, default=None)
    simulated = sorted({each["qsg"] for each in measured.values() if each["qsg"].startswith("SIM")})
    series: dict[tuple[str, str], dict[str, int]] = {}
    for day, each in measured.items():
        series.setdefault((each["qsg"], each["structure"]), {})[day] = each["entries_peak"]
    return {
        "schema": 1,
        "history": str(history),
        "first_day": min(measured, default=None),
        "last_day": last,
        "days_total": len(days),
        "days_reduced": reduced,
        "rows_read": 100 * reduced,
        "seconds": {"reducing": 0.5, "fitting": 0.1},
        "curves": [curve(list(measured), facts, sorted({qsg for qsg, _ in series}))] if days else [],
        "mixes": [],
        "forecasts": [forecast(*key, peaks) for key, peaks in sorted(series.items())],
        "scores": [
            {"forecast_id": each["id"], "days_scored": 7, "days_past": 7, "complete": False, "wape": 0.1,
             "pinball": 0.05, "coverage80": 0.8, "sentence": "Off by 10 % over 7 days."}
            for each in facts["past_forecasts"]
        ],
        "findings": [finding(*key, peaks) for key, peaks in sorted(series.items()) if max(peaks.values()) >= 900],
        "daily": [
            {
                "qsg": each["qsg"], "structure": each["structure"], "day": day, "entries_peak": each["entries_peak"],
                "elements_peak": 6 * each["entries_peak"], "entries_total": 1000, "elements_total": 6000,
                "size_bytes": 2**20, "full_count": 0, "smds": [], "is_simulated": each["qsg"] in simulated,
            }
            for day, each in measured.items()
            if day in told
        ],
        "days": sorted(told),
        "published": published,
        "simulated": simulated,
    }  # fmt: skip


def curve(days: list[str], facts: dict[str, Any], qsgs: list[str]) -> dict[str, Any]:
    """Return a fit: too little data before three days, then accepted, or rejected on order."""
    state = "fitted" if len(days) >= 3 else "too_little"
    figures = {"value": 2000.0 + len(days), "low": 1990.0, "high": 2010.0}
    is_known = state == "fitted"
    return {
        "state": state, "reason": None if is_known else "Three days are needed.",
        "coupling_facility": "CF01", "cfcc_level": facts["cfcc_levels"].get("CF01"), "qsgs": qsgs,
        "confidence": 0.9, "kind": "bundle" if is_known else None, "note": None,
        "base_bytes": {"value": 5e6, "low": 4e6, "high": 6e6} if is_known else None, "entry_bytes": None,
        "element_bytes": None, "bundle_bytes": figures if is_known else None, "ratio": [1, 6],
        "ratios": [{"elements_per_entry": 6.0, "points": len(days)}], "structures": 1, "points_used": len(days),
        "points_left_out": [], "cuts": [], "first_day": min(days), "last_day": max(days),
        "residuals": None, "points": [],
    }  # fmt: skip


def forecast(qsg: str, structure: str, peaks: dict[str, int]) -> dict[str, Any]:
    """Return a forecast that reaches 1000 entries ten days after the last peak, whatever its value."""
    last = max(peaks)
    made_on = dt.date.fromisoformat(last)
    crossed = made_on + dt.timedelta(days=10)
    return {
        "schema": 1, "qsg": qsg, "structure": structure, "measure": "entries", "queue_manager": None,
        "unit": "entries", "state": "forecast", "sentence": f"{structure} passes 85 % in 10 days.",
        "made_on": last, "horizon_days": 30, "first_day": min(peaks), "last_day": last,
        "days_measured": len(peaks), "model": "a stand-in", "growth_per_30_days": None,
        "quantiles": {name: [float(peaks[last])] * 30 for name in ("p10", "p50", "p90")}, "highest": None,
        "crossings": [
            {"level": "85 %", "value": 850.0, "reached": False, "state": "within",
             "sentence": "85 % in 10 days, 80 % interval 8-12.", "probability_within_horizon": 0.9,
             "probability_with_exceptional_days": None, "days": {"p10": 8, "p50": 10, "p90": 12},
             "dates": {"p10": None, "p50": crossed.isoformat(), "p90": None}, "last_crossed": None,
             "days_crossed": 0}
        ],
        "resizes": [], "baselines": None, "notes": [],
    }  # fmt: skip


def finding(qsg: str, structure: str, peaks: dict[str, int]) -> dict[str, Any]:
    return {
        "code": "STRUCTURE_FULL", "severity": "warning", "source": "a stand-in", "qsg": qsg, "structure": structure,
        "message": f"{structure} was full.", "coupling_facility": None, "day": max(peaks),
        "figures": {"peak": max(peaks.values())},
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
