"""Two services on one data folder and one database, with many writers, while their workers are killed: nothing is lost."""

from __future__ import annotations

import copy
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import URL

from app.audit.service import verify
from app.database.engine import database_of
from app.settings import Settings
from tests.app.serving.support import PATIENCE_S, Service, serving
from tests.app.web.support import SQ03
from tests.forked_on_request import Parent, parent_of

pytestmark = pytest.mark.soak

WRITERS = 20
SECONDS = 20.0
KILLS = 10
PLAN = "/api/v1/plans/ONE"


@pytest.fixture
def settings(url: URL, tmp_path: Path) -> Settings:
    return Settings(database_url=url.render_as_string(hide_password=False), data_dir=tmp_path / "data")


@pytest.fixture
def services(parent: Parent, settings: Settings, tmp_path: Path) -> Iterator[tuple[Service, Service]]:
    environment = {"CFPLAN_DATA_DIR": str(settings.data_dir), "CFPLAN_DATABASE_URL": settings.database_url}
    (tmp_path / "second").mkdir()
    with (
        parent_of("tests.app.serving.service") as other_parent,  # a parent has one child at a time
        serving(parent, tmp_path, "--workers", "2", environment=environment) as first,
        serving(other_parent, tmp_path / "second", "--workers", "2", environment=environment) as second,
    ):
        yield first, second


def plan_with(backlog: int) -> dict[str, object]:
    document = copy.deepcopy(SQ03)
    document["structures"][0]["queues"][0]["backlog"] = backlog
    return document


def check_trail(settings: Settings) -> None:
    database = database_of(settings)
    try:
        assert verify(database).fault is None
    finally:
        database.close()


def test_versions_of_many_writers_are_contiguous_and_have_their_content(
    services: tuple[Service, Service], settings: Settings
) -> None:
    first, second = services
    assert first.put(PLAN, json=SQ03, headers={"if-none-match": "*"}).status_code == 201
    saved: dict[int, int] = {}
    statuses: Counter[int] = Counter()
    end = time.monotonic() + SECONDS

    def write(number: int) -> None:
        address = services[number % 2].address
        backlog = 10_000 * (number + 1)
        with httpx.Client(base_url=address, timeout=PATIENCE_S) as client:
            while time.monotonic() < end:
                tag = client.get(PLAN).headers.get("etag", "")
                backlog += 1
                answer = client.put(PLAN, json=plan_with(backlog), headers={"if-match": tag})
                statuses[answer.status_code] += 1
                if answer.status_code == 200:
                    saved[answer.json()["version"]] = backlog

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    print(dict(statuses))
    assert statuses.keys() <= {200, 412, 503}
    latest = second.get(PLAN).json()["version"]
    assert sorted(saved) == list(range(2, latest + 1))
    for version, backlog in saved.items():
        document = first.get(f"{PLAN}/versions/{version}").json()["document"]
        assert document["structures"][0]["queues"][0]["backlog"] == backlog
    check_trail(settings)


def test_nothing_acknowledged_is_lost_when_workers_are_killed(
    services: tuple[Service, Service], settings: Settings
) -> None:
    acknowledged: list[str] = []
    others: Counter[str] = Counter()
    is_over = threading.Event()

    def write(number: int) -> None:
        for count in range(100_000):
            if is_over.is_set():
                return
            name = f"P{number}X{count}"
            try:
                answer = services[number % 2].put(
                    f"/api/v1/plans/{name}", json=SQ03, headers={"if-none-match": "*"}
                )
            except httpx.TransportError as error:  # the worker was killed
                others[type(error).__name__] += 1
                continue
            if answer.status_code == 201:
                acknowledged.append(name)
            else:
                others[str(answer.status_code)] += 1

    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write, number) for number in range(6)]
        for _ in range(KILLS):
            time.sleep(random.uniform(0.5, 1.5))
            workers = sorted(services[0].workers() | services[1].workers())
            if workers:
                os.kill(random.choice(workers), signal.SIGKILL)
        is_over.set()
        for each in writers:
            each.result()
    print(len(acknowledged), dict(others))
    assert acknowledged
    for name in acknowledged:
        assert services[1].get(f"/api/v1/plans/{name}/document").status_code == 200
    assert not {status for status in others if status.isdigit()} - {"503"}
    check_trail(settings)
