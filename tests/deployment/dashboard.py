"""The dashboard of deploy/grafana as data, and a Prometheus that answers its queries."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import yaml

from tests.packaging.pins import ROOT
from tests.serving import ANSWER_S

DASHBOARD = ROOT / "deploy" / "grafana" / "cfplan-capacity.json"
PATIENCE_S = 120
RATE_INTERVAL = "1m"


class PanelQuery(NamedTuple):
    """A query of a panel, with the values of the dashboard's variables."""

    panel: int
    """Its `id`."""
    title: str
    ref: str
    text: str
    is_instant: bool
    format: str
    legend: str


def dashboard() -> Any:  # noqa: ANN401 - any JSON value
    """Return the dashboard."""
    return json.loads(DASHBOARD.read_bytes())


def variables(**chosen: str) -> Mapping[str, str]:
    """Return the values of the variables as Grafana inserts them: *All* is `allValue`, other choices replace it."""
    listed = {each["name"]: each for each in dashboard()["templating"]["list"]}
    return {
        "qsg": listed["qsg"]["allValue"],
        "lead_days": listed["lead_days"]["query"],
        "__rate_interval": RATE_INTERVAL,
    } | chosen


def queries(values: Mapping[str, str]) -> list[PanelQuery]:
    """Return the queries of all panels with these values of the variables."""
    found = []
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            text = target["expr"]
            for name, value in values.items():
                text = text.replace(f"${name}", value)
            found.append(
                PanelQuery(
                    panel["id"],
                    panel["title"],
                    target["refId"],
                    text,
                    target["instant"],
                    target["format"],
                    target["legendFormat"],
                )
            )
    return found


@contextmanager
def prometheus(folder: Path, configuration: Mapping[str, Any], *options: str) -> Iterator[str]:
    """Run Prometheus with a configuration and yield its address. Its series are in `series` of the folder."""
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(dict(configuration)))
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    command = [
        "prometheus",
        f"--config.file={path}",
        f"--storage.tsdb.path={folder / 'series'}",
        f"--web.listen-address=127.0.0.1:{port}",
        *options,
    ]
    # One core, because others also use the machine.
    environment = os.environ | {"GOMAXPROCS": "1"}
    with (
        (folder / "prometheus.log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=environment) as process,
    ):
        try:
            server = f"http://127.0.0.1:{port}"
            wait_for(server, "vector(1)", process)
            yield server
        finally:
            process.terminate()


def wait_for(server: str, text: str, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until an expression has a value."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if process is not None and process.poll() is not None:
            message = f"Prometheus ended with status {process.returncode}: read prometheus.log."
            raise RuntimeError(message)
        try:
            if query(server, text):
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    message = f"Prometheus has no value for {text} after {PATIENCE_S} s"
    raise TimeoutError(message)


def query(server: str, text: str, at: float | None = None) -> list[dict[str, Any]]:
    """Return the series of an expression with their value at a time, by default now."""
    return _ask(server, "query", {"query": text} | ({} if at is None else {"time": at}))


def query_range(server: str, text: str, start: float, end: float, step: float) -> list[dict[str, Any]]:
    """Return the series of an expression with their values from one time to another, every `step` seconds."""
    return _ask(server, "query_range", {"query": text, "start": start, "end": end, "step": step})


def _ask(server: str, address: str, parameters: Mapping[str, str | float]) -> list[dict[str, Any]]:
    answer = httpx.get(f"{server}/api/v1/{address}", params=dict(parameters), timeout=ANSWER_S)
    if answer.status_code == httpx.codes.BAD_REQUEST:
        message = f"Prometheus refuses {parameters['query']}: {answer.text}"
        raise ValueError(message)
    found: list[dict[str, Any]] = answer.raise_for_status().json()["data"]["result"]
    return found
