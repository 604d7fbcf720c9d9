"""A database that is locked or does not answer: readers go on, every request is answered, and the service recovers by itself."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy import URL, text
from sqlalchemy.exc import DatabaseError, DBAPIError, InternalError, OperationalError
from sqlalchemy.orm import Session

from app.cli import main
from app.database import session as sessions
from app.database.damage import Damage, is_damaged
from app.database.engine import Database
from app.database.limits import OF_REQUESTS, Outage, Waits, waited_for_turn
from app.main import create_app
from app.settings import Settings
from tests.app.web.support import SQ03, assert_problem, get, send_json
from tests.serving import served

THREADS = 40
"""Threads of the service for all requests."""
NEW = {"if-none-match": "*"}
PATIENCE_S = 120.0
"""Longest wait for answers, far above the limits of the service."""


def app_on(url: URL, folder: Path) -> FastAPI:
    return create_app(
        Settings(database_url=url.render_as_string(hide_password=False), data_dir=folder / "data")
    )


@contextmanager
def locked(database: URL) -> Iterator[None]:
    """Hold the lock of writers, as a backup program or a stopped command does."""
    with closing(sqlite3.connect(str(database.database), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def frozen(server: URL) -> Iterator[None]:
    """Stop the processes of a PostgreSQL server: the operating system accepts connections, but nothing is answered."""
    plain = server.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    pid_file = Path(folder) / "postmaster.pid"
    if not pid_file.exists():
        pytest.skip("the server runs on another machine")
    postmaster = int(pid_file.read_text().split()[0])
    stopped = [postmaster]
    os.kill(postmaster, signal.SIGSTOP)  # before its children are listed, so that it starts no more
    try:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == postmaster:
                stopped.append(int(stat.parent.name))
                os.kill(stopped[-1], signal.SIGSTOP)
        yield
    finally:
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)


class Clients:
    """Clients that send requests at the same time."""

    def __init__(self, address: str, pool: ThreadPoolExecutor) -> None:
        self.address, self.pool = address, pool

    def get(self, path: str) -> Future[httpx.Response]:
        return self.pool.submit(httpx.get, self.address + path, timeout=PATIENCE_S)

    def put(self, name: str) -> Future[httpx.Response]:
        return self.pool.submit(
            httpx.put, f"{self.address}/api/v1/plans/{name}", json=SQ03, headers=NEW, timeout=PATIENCE_S
        )


@pytest.fixture(autouse=True)
def _limits_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.main.OF_REQUESTS", OF_REQUESTS)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(3 * THREADS) as made:
        yield made


def assert_unavailable(answer: httpx.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.json()["type"] == "/docs/problems#database-unavailable"
    assert answer.headers["retry-after"] == "5"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_writers_that_wait_for_a_lock_leave_threads_to_readers(
    url: URL, tmp_path: Path, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = Waits(lock_s=PATIENCE_S, pool_s=3, connect_s=3, statement_s=3, answer_s=3)
    monkeypatch.setattr("app.main.OF_REQUESTS", patient)
    monkeypatch.setattr(sessions, "OF_REQUESTS", patient)
    with served(app_on(url, tmp_path)) as address, ExitStack() as lock:
        clients = Clients(address, pool)
        assert clients.put("P").result(PATIENCE_S).status_code == 201  # the service has started
        lock.enter_context(locked(url))
        writing = [clients.put(f"P{number}") for number in range(THREADS + 10)]
        # As many writers as may write now wait for the lock; the next ones wait for their turn.
        for path in ("/api/v1/plans", "/plans", "/static/css/cfplan.css", "/healthz"):
            assert clients.get(path).result(PATIENCE_S).status_code == 200
        assert not any(each.done() for each in writing), "the readers must not have waited for a writer"
        lock.close()
        assert [each.result(PATIENCE_S).status_code for each in writing] == [201] * len(writing)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_requests_during_a_lock_are_answered_and_readers_succeed(
    url: URL, tmp_path: Path, pool: ThreadPoolExecutor
) -> None:
    with served(app_on(url, tmp_path)) as address:
        clients = Clients(address, pool)
        assert clients.put("P").result(PATIENCE_S).status_code == 201
        with locked(url):
            writing = [clients.put(f"P{number}") for number in range(15)]
            for each in writing:
                assert_unavailable(each.result(PATIENCE_S))
            assert clients.get("/api/v1/plans/P").result(PATIENCE_S).status_code == 200
        assert clients.put("P0").result(PATIENCE_S).status_code == 201


def test_many_writers_of_one_plan_take_turns(url: URL, tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    with served(app_on(url, tmp_path)) as address:
        clients = Clients(address, pool)
        answers = [each.result(PATIENCE_S) for each in [clients.put("P") for _ in range(20)]]
    # One creates the plan, and the others find it.
    assert sorted(each.status_code for each in answers) == [201] + 19 * [412]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_frozen_server_is_reported_and_used_again_when_it_answers(
    url: URL, postgres_server: URL, tmp_path: Path, pool: ThreadPoolExecutor
) -> None:
    with served(app_on(url, tmp_path)) as address:
        clients = Clients(address, pool)
        assert clients.put("P").result(PATIENCE_S).status_code == 201
        with frozen(postgres_server):
            waiting = [clients.put(f"P{number}") for number in range(15)]
            waiting += [clients.get("/api/v1/plans/P") for _ in range(2 * THREADS)]
            health = clients.get("/healthz").result(PATIENCE_S)
            for each in waiting:
                assert_unavailable(each.result(PATIENCE_S))
        assert (health.status_code, health.json()["database"]) == (200, "unavailable")
        while clients.get("/api/v1/plans/P").result(PATIENCE_S).status_code != 200:
            pass  # until the next probe
        assert clients.put("P0").result(PATIENCE_S).status_code == 201
        assert clients.get("/healthz").result(PATIENCE_S).json()["database"] == "ok"


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_connections_of_requests_have_time_limits_and_those_of_jobs_have_none(url: URL) -> None:
    found = []
    for waits in (OF_REQUESTS, None):
        database = Database(url) if waits is None else Database(url, waits=waits)
        for writes in (False, True):
            with database.session(writes=writes) as session:
                connection = session.connection()
                found.append(
                    tuple(
                        connection.exec_driver_sql(f"SHOW {name}").scalar()
                        for name in ("statement_timeout", "lock_timeout")
                    )
                )
                driver: psycopg.Connection[object] = connection.connection.driver_connection  # type: ignore[assignment]
                assert driver.info.get_parameters()["tcp_user_timeout"] == "30000"
        database.close()
    assert found == [("3200ms", "3s")] * 2 + [("0", "0")] * 2


def test_pools_of_readers_and_writers_are_separate(database: Database) -> None:
    with database.session(writes=True) as writing:
        writing.connection()
        with database.session(writes=False) as reading:
            reading.connection()
            assert reading.get_bind().engine.pool is not writing.get_bind().engine.pool


def test_outage_admits_one_probe_at_a_time_until_the_database_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("app.database.limits.time.monotonic", lambda: now)
    outage = Outage()
    assert not outage.is_refused()
    outage.begin()
    assert outage.is_refused()
    now += 1.1
    assert [outage.is_refused() for _ in range(3)] == [False, True, True]
    now += 1.1
    token = waited_for_turn.set(2.0)
    assert outage.is_refused(), "a request that has waited for its turn must not wait for a probe as well"
    waited_for_turn.reset(token)
    outage.end()
    assert [outage.is_refused() for _ in range(3)] == [False] * 3


def test_routes_that_open_their_own_sessions_for_writing_wait_for_their_turn(tmp_path: Path) -> None:
    """Uploads take their turn in `arrivals`, when the file has arrived."""
    waits = {}
    for route in create_app(Settings(data_dir=tmp_path)).routes:
        if isinstance(route, APIRoute) and (route.methods or set()) - sessions.SAFE_METHODS:
            calls, waiting = set(), [route.dependant]
            while waiting:
                dependant = waiting.pop()
                calls.add(dependant.call)
                waiting += dependant.dependencies
            waits[route.path] = sessions.write_turn in calls
            assert waits[route.path] or sessions.get_session not in calls
    for path in (
        "/import-plans", "/plans/{name}/acknowledge", "/plans/{name}/withdraw", "/plans/{name}/scenarios/new",
        "/plans/{name}/scenarios/{scenario}/edit", "/api/v1/plans/{name}",
    ):  # fmt: skip
        assert waits[path], path


class _Damaged(psycopg.errors.DataCorrupted):
    sqlstate = "XX001"


def damaged(*_: object, **__: object) -> None:
    raise InternalError("SELECT", {}, _Damaged("invalid page in block 0 of relation base/16384/16391"))


def test_damaged_data_of_a_server_is_reported_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(Settings(data_dir=tmp_path))
    assert get(app, "/api/v1/plans").status == 200
    monkeypatch.setattr("app.plans.repository.page_of_plans", damaged)
    detail = assert_problem(get(app, "/api/v1/plans"), "database-unavailable", 503)["detail"]
    assert "data is damaged" in detail
    assert "block 0" not in detail
    assert get(app, "/healthz").json()["database"] == "damaged"


def test_service_starts_although_some_data_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.plans.service.purge_deleted", damaged)
    with served(create_app(Settings(data_dir=tmp_path))) as address:
        assert httpx.get(f"{address}/api/v1/plans").status_code == 200
    assert "damaged data" in caplog.text


def overwritten(path: Path, table: str) -> None:
    """Overwrite the pages of a table in a file of SQLite, as a failing disk does."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * size)


def app_with_plan(folder: Path) -> FastAPI:
    app = create_app(Settings(data_dir=folder))
    assert send_json(app, "PUT", "/api/v1/plans/P", SQ03, if_none_match="*").status == 201
    app.state.database.close()
    app.state.background_database.close()
    return create_app(Settings(data_dir=folder))


def test_damaged_page_is_reported_to_the_user_and_from_then_on_by_health_and_metrics(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = app_with_plan(tmp_path)
    assert "cfplan_database_damaged 0.0" in get(app, "/metrics").text
    app.state.database.close()
    overwritten(tmp_path / "cfplan.db", "plan_versions")
    assert get(app, "/healthz").json()["status"] == "ok"  # nothing has read the page yet
    detail = assert_problem(get(app, "/api/v1/plans/P"), "database-unavailable", 503)["detail"]
    assert "restore a backup" in detail
    page = get(app, "/plans/P", accept="text/html")
    assert page.status == 503
    assert "restore a backup" in page.text
    health = get(app, "/healthz").json()
    assert (health["status"], health["database"]) == ("degraded", "damaged")
    assert "cfplan_database_damaged 1.0" in get(app, "/metrics").text
    assert get(app, "/readyz").status == 200
    found = [each.message for each in caplog.records if each.name == "cfplan.database"]
    assert len(found) == 1
    assert "Restore a backup" in found[0]
    assert get(app, "/notices", accept="text/html").status == 200


def test_damaged_content_of_a_page_that_sqlite_does_not_notice_is_reported(tmp_path: Path) -> None:
    app = app_with_plan(tmp_path)
    with app.state.database.session(writes=True) as session:
        session.execute(text("UPDATE plan_versions SET explanations = zeroblob(100)"))
    address = "/api/v1/plans/P?explain=true"
    detail = assert_problem(get(app, address), "database-unavailable", 503)["detail"]
    assert "data is damaged" in detail
    assert get(app, "/healthz").json()["database"] == "damaged"


def test_text_that_is_not_utf8_is_damaged_data(tmp_path: Path) -> None:
    app = app_with_plan(tmp_path)
    with app.state.database.session(writes=True) as session:
        session.execute(text("UPDATE plan_versions SET document = CAST(x'ff00ff' AS TEXT)"))
    assert (
        "data is damaged"
        in assert_problem(get(app, "/api/v1/plans/P"), "database-unavailable", 503)["detail"]
    )


CUT: Final = "substr({0}, 1, length({0}) - 40)"
RENAMED: Final = "replace({0}, '\"structures\":', '\"structurez\":')"


def damage_text(session: Session, table: str, column: str, damage: str) -> None:
    """Replace the texts of a column by an expression of SQL in which `{0}` is the column."""
    statement = (
        f"UPDATE {table} SET {column} = {damage.format(column)} WHERE {column} <> {damage.format(column)}"  # noqa: S608 - names of our own
    )
    assert session.connection().exec_driver_sql(statement).rowcount == 1


@pytest.mark.parametrize(
    ("column", "damage", "address"),
    [
        *(
            ("document", damage, address)
            for damage in (CUT, RENAMED)
            for address in (
                "/api/v1/plans/P",
                "/api/v1/plans/P/document",
                "/api/v1/plans/P/versions/1",
                "/plans/P/edit",
                "/cf-levels",
                "/",
            )
        ),
        *(
            ("result", damage, address)
            for damage in (CUT, RENAMED)
            for address in ("/api/v1/plans/P", "/plans/P", "/plans/P?tab=findings", "/sheet?plan=P", "/")
        ),
        ("document", "'[]'", "/api/v1/plans/P/document"),
        ("document", """replace({0}, '"cflevel":5', '"cflevel":77')""", "/plans/P/edit"),
        ("result", """replace({0}, '"severity":', '"severitz":')""", "/plans/P"),
        ("curve", CUT, "/api/v1/plans/P"),
        # Deep inside of the result, where no reader checks the members that it does not need.
        ("result", """replace({0}, '"size_kib":', '"sizf_kib":')""", "/plans/P"),
        ("result", """replace({0}, '"size_kib":', '"sizf_kib":')""", "/plans/P/versions/1/print"),
        ("result", """replace({0}, '"entries":', '"entries":"a","odd":')""", "/plans/P"),
    ],
)
def test_damaged_text_of_a_plan_is_reported_with_plan_and_version(
    column: str, damage: str, address: str, tmp_path: Path
) -> None:
    app = app_with_plan(tmp_path)
    with app.state.database.session(writes=True) as session:
        damage_text(session, "plan_versions", column, damage)
    assert get(app, "/healthz").json()["database"] == "ok"
    answer = get(app, address, accept="application/json" if "/api/" in address else "text/html")
    assert answer.status == 503, answer.text
    assert "Version 1 of the plan P cannot be read" in answer.text
    assert "restore a backup" in answer.text
    health = get(app, "/healthz").json()
    assert (health["status"], health["database"]) == ("degraded", "damaged")


def test_defect_on_a_page_of_an_intact_plan_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_with_plan(tmp_path)
    monkeypatch.setattr("app.plans.head.facility_lines", lambda _version: [][0])
    answer = get(app, "/plans/P", accept="text/html")
    assert answer.status == 500
    assert "restore a backup" not in answer.text
    assert get(app, "/healthz").json()["database"] == "ok"


def test_defect_on_a_page_of_a_plan_of_an_earlier_build_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_with_plan(tmp_path)
    with app.state.database.session(writes=True) as session:
        damage_text(
            session, "plan_versions", "result", """replace({0}, '"finding_groups":', '"finding_group_s":')"""
        )
    assert get(app, "/plans/P", accept="text/html").status == 200
    monkeypatch.setattr("app.plans.head.facility_lines", lambda _version: [][0])
    assert get(app, "/plans/P", accept="text/html").status == 500
    assert get(app, "/healthz").json()["database"] == "ok"


@pytest.mark.parametrize(("column", "address"), [("changes", "/MORE"), ("summary", "")])
def test_damaged_text_of_a_scenario_is_reported_with_its_name(
    column: str, address: str, tmp_path: Path
) -> None:
    app = app_with_plan(tmp_path)
    at = "/api/v1/plans/P/scenarios"
    draft = {"changes": {"queue_managers": 9}}
    assert send_json(app, "PUT", f"{at}/MORE", draft, if_none_match="*").status == 201
    with app.state.database.session(writes=True) as session:
        damage_text(session, "scenarios", column, CUT)
    detail = assert_problem(get(app, at + address), "database-unavailable", 503)["detail"]
    assert detail.startswith("The scenario MORE of the plan P cannot be read")


def test_command_reports_a_damaged_plan_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = app_with_plan(tmp_path)
    with app.state.database.session(writes=True) as session:
        damage_text(session, "plan_versions", "document", CUT)
    app.state.database.close()
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(tmp_path))
    assert main(["plans", "show", "P", "--output", "document"]) == 2
    assert capsys.readouterr().err == (
        "Version 1 of the plan P cannot be read, because its data in the database is damaged: restore a backup.\n"
    )


class _OfATrigger(psycopg.DatabaseError):
    sqlstate = "AB123"


@pytest.mark.parametrize(
    "error",
    [
        DatabaseError("SELECT", {}, _OfATrigger("refused by a trigger")),
        DatabaseError("SELECT", {}, psycopg.errors.SnapshotTooOld("snapshot too old")),
        OperationalError("SELECT", {}, psycopg.errors.IoError("could not read file")),
        OperationalError("SELECT", {}, sqlite3.OperationalError("disk I/O error")),
        OperationalError("SELECT", {}, sqlite3.OperationalError("database is locked")),
    ],
    ids=lambda error: str(error.orig),
)
def test_other_errors_of_a_database_are_no_damage(error: DBAPIError) -> None:
    # psycopg raises DatabaseError itself for a SQLSTATE that it does not know, and sqlite3 for damage.
    assert not is_damaged(error)


def test_damage_found_by_one_process_of_a_service_is_known_to_the_others(tmp_path: Path) -> None:
    one, another = Damage(lambda: tmp_path), Damage(lambda: tmp_path)
    assert not another.is_found
    one.remember(InternalError("SELECT", {}, _Damaged("invalid page")))
    assert another.is_found
