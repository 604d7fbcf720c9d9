"""A data folder with something of everything, built through the public interfaces with simulated data."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from tests.nets.surroundings import EARLIER, NOW, ROOT, at

PATIENCE_S = 300
DISPLAY = """\
CSQM201I CSQ1 CSQMDRTC  DISPLAY CFSTATUS DETAILS
CFSTATUS(APPLICATION1)
TYPE(SUMMARY)
CFTYPE(APPL)
STATUS(ACTIVE)
SIZEMAX(524288)
SIZEUSED(41)
ENTSMAX(110910)
ENTSUSED(90120)
FAILTIME( )
FAILDATE( )
OFFLDUSE(NONE)
 END CFSTATUS DETAILS
CSQ9022I CSQ1 CSQMDRTC ' DISPLAY CFSTATUS' NORMAL COMPLETION
"""
TABLE = """\
qsg,structure,interval_start,interval_end,entries_in_use,entries_total,size_bytes
SQ03,APPLICATION1,2026-02-12T11:00Z,2026-02-12T12:00Z,1200,111234,256M
SQ03,APPLICATION1,2026-02-12T12:00Z,2026-02-12T13:00Z,1310,111234,256M
SQ03,MYDATA,2026-02-12T11:00Z,2026-02-12T12:00Z,40,9000,128M
SQ03,MYDATA,2026-02-12T11:00Z,2026-02-12T12:00Z,x,9000,128M
"""


def build(data: Path, work: Path, *, with_nightly: bool) -> None:
    """Build the folder; two nightly runs take about two minutes."""
    data.mkdir(parents=True, exist_ok=True)
    os.environ["CFPLAN_DATA_DIR"] = str(data)
    simulated = work / "simulated"
    command(
        "simulate", "--days", "70", "--structures", "6", "--queue-managers", "2", "--interval-minutes", "120",
        "--seed", "1", "--days-per-file", "7", "--last-day", "2026-03-01", "--out", str(simulated),
    )  # fmt: skip
    dumps = sorted(simulated.glob("*.smf"))
    qsg_map = sorted(simulated.glob("*map*.json"))
    recent = 2  # dumps of the days after EARLIER
    with service(EARLIER) as client:
        plans(client)
        uploads(client, [*qsg_map, dumps[0], dumps[1]])
    command("ingest", *map(str, dumps[2:-recent]), now=EARLIER)
    if with_nightly:
        command("nightly", "--json", now=EARLIER)
    command("ingest", *map(str, dumps[-recent:]))
    if with_nightly:
        command("nightly", "--json")
    with service(NOW) as client:
        later(client)


def command(*words: str, now: datetime = NOW) -> str:
    """Run cfplan; a failure ends the program."""
    ran = subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        cwd=ROOT,
        env={**os.environ, **at(now)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        msg = (
            f"cfplan {' '.join(words)}: exit code {ran.returncode}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
        )
        raise RuntimeError(msg)
    return ran.stdout


@contextmanager
def service(now: datetime) -> Iterator[httpx.Client]:
    """The service, as `cfplan serve` starts it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command_line = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
    environment = {**os.environ, **at(now)}
    with subprocess.Popen(
        command_line, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
                deadline = time.monotonic() + PATIENCE_S
                while not answers(client):
                    if process.poll() is not None or time.monotonic() > deadline:
                        msg = "The service does not start."
                        raise RuntimeError(msg)
                    time.sleep(0.2)
                yield client
        finally:
            process.terminate()
            process.wait(30)


def answers(client: httpx.Client) -> bool:
    """Whether the service is up."""
    try:
        return client.get("/healthz").is_success
    except httpx.TransportError:
        return False


def send(client: httpx.Client, method: str, address: str, document: object = None, **headers: str) -> Any:  # noqa: ANN401
    """Send JSON; anything but success ends the program."""
    given: dict[str, Any] = {"json": document} if document is not None else {}
    found = client.request(method, address, headers=headers, **given)
    if not found.is_success:
        msg = f"{method} {address}: {found.status_code} {found.text}"
        raise RuntimeError(msg)
    return found.json() if "json" in found.headers.get("content-type", "") else found.text


def plans(client: httpx.Client) -> None:
    """Plans with several versions, scenarios, an accepted finding, and a deleted plan."""
    description = send(client, "GET", "/openapi.json")
    examples = example_bodies(description, "/api/v1/size")
    for name, document in examples.items():
        send(client, "PUT", f"/api/v1/plans/{name.upper()}?comment=First%20draft", document)
    inventory = next(ROOT.glob("app/**/inventory.yaml")).read_bytes()
    made = client.put(
        "/api/v1/plans/INVENTORY", content=inventory, headers={"content-type": "application/yaml"}
    )
    made.raise_for_status()
    sq03 = examples["sq03"]
    for number, percent in enumerate((20, 35), start=1):
        changed = {**sq03, "headroom_percent": percent}
        send(
            client,
            "PUT",
            f"/api/v1/plans/SQ03?comment=Headroom%20{percent}",
            changed,
            **{"if-match": f'"1.{number}"'},
        )
    send(client, "PUT", "/api/v1/plans/GONE", examples["smallest"])
    send(client, "DELETE", "/api/v1/plans/GONE")
    for scenario in example_bodies(description, "/api/v1/plans/{name}/scenarios").values():
        send(client, "POST", "/api/v1/plans/SQ03/scenarios", scenario)
    for name, changes in {
        "more-managers": {"queue_managers": 6},
        "more-headroom": {"headroom_percent": 50},
        "newer-level": {"cfcc_level": 25, "queue_managers": 8},
    }.items():
        scenario = {"name": name, "note": f"Try {name}.", "changes": changes}
        made = client.post("/api/v1/plans/SQ03/scenarios", json=scenario)
        if not made.is_success:
            print(f"scenario {name}: {made.text}", file=sys.stderr)
    for facility in ("CF01", "SIMCF01", "SIMCF02"):
        send(client, "PUT", f"/api/v1/cf-levels/{facility}", {"cfcc_level": 25})
    send(client, "PUT", "/api/v1/qsg-map/SYSA/CSQ1", {"qsg": "SQ03"})
    for finding in ("USAGE_MEASURE_ASSUMED",):
        command(
            "plans", "acknowledge", "COMPLETE", finding, "--reason", "As agreed in the review", now=EARLIER
        )


def example_bodies(description: dict[str, Any], path: str) -> dict[str, Any]:
    """The examples of the body of a POST request, by name."""
    content = description["paths"][path]["post"].get("requestBody", {}).get("content", {})
    examples = content.get("application/json", {}).get("examples", {})
    return {name: example["value"] for name, example in examples.items()}


def uploads(client: httpx.Client, files: list[Path]) -> None:
    """Uploads in every state: read, not readable, and with questions."""
    content = {file.name: file.read_bytes() for file in files}
    content |= {
        "measured.csv": TABLE.encode(),
        "cfstatus.txt": DISPLAY.encode(),
        "letter.txt": b"Dear operator, nothing to see here.\n",
    }
    for name, text in content.items():
        found = client.post("/api/v1/uploads", params={"name": name}, content=text)
        found.raise_for_status()
        wait_for(client, found.json()["job"]["id"])
    again = {"observed_at": "2026-02-10T08:00", "zone": "Europe/Berlin"}
    found = client.post(
        "/api/v1/uploads", params={"name": "cfstatus-2.txt", **again}, content=DISPLAY.encode()
    )
    found.raise_for_status()
    wait_for(client, found.json()["job"]["id"])


def wait_for(client: httpx.Client, job: int) -> None:
    """Wait until a job ends or has questions."""
    deadline = time.monotonic() + PATIENCE_S
    while send(client, "GET", f"/api/v1/jobs/{job}")["state"] in ("queued", "running"):
        if time.monotonic() > deadline:
            msg = f"Job {job} does not end."
            raise RuntimeError(msg)
        time.sleep(0.2)


def later(client: httpx.Client) -> None:
    """What happens two weeks later: another version of a plan, another scenario, a plan made from measured usage."""
    document = send(client, "GET", "/api/v1/plans/SQ03/document")
    document = document if isinstance(document, dict) else json.loads(document)
    changed = {**document, "headroom_percent": 40}
    send(client, "PUT", "/api/v1/plans/SQ03?comment=Headroom%2040", changed, **{"if-match": '"1.3"'})
    made = {"name": "latest", "changes": {"headroom_percent": 45}}
    send(client, "POST", "/api/v1/plans/SQ03/scenarios", made)
    send(client, "PUT", "/api/v1/plans/GONE-TOO", document)
    send(client, "DELETE", "/api/v1/plans/GONE-TOO")
