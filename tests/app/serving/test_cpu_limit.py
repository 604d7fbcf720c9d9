"""A request that uses too much CPU time is stopped, undone and answered, while others are served."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import httpx
import pytest

from tests.app.serving.support import Service, in_background, serving, wait_until
from tests.forked_on_request import Parent

pytestmark = pytest.mark.long

LIMITED = {"CFPLAN_REQUEST_CPU_S": "1"}


@pytest.fixture(scope="module")
def service(parent: Parent, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Return a service with two workers that stops a request after one second of CPU time."""
    with serving(parent, tmp_path_factory.mktemp("limited"), "--workers", "2", environment=LIMITED) as found:
        yield found


@pytest.fixture(autouse=True)
def complete(service: Service) -> None:
    """Let the workers that earlier tests wore out end."""
    wait_until(lambda: len(service.workers()) == 2)


def _is_stopped(answer: httpx.Response) -> bool:
    return (
        answer.status_code == 503
        and answer.json()["type"] == "/docs/problems#cpu-limit"
        and "retry-after" in answer.headers
        and "content-security-policy" in answer.headers
    )


def _tables(service: Service) -> set[str]:
    with sqlite3.connect(service.data_dir / "cfplan.db") as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _write_lock_is_free(service: Service) -> bool:
    with sqlite3.connect(service.data_dir / "cfplan.db", timeout=0) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.rollback()
        return True


@pytest.mark.parametrize("path", ["/test/python", "/test/python-in-own-transaction"])
def test_request_over_the_limit_is_undone_and_answered(service: Service, path: str) -> None:
    before = service.workers()
    answer = service.put(path)
    assert _is_stopped(answer)
    assert "Nothing was stored." in answer.json()["detail"]
    assert "CFPLAN_REQUEST_CPU_S" in answer.json()["detail"]
    assert _write_lock_is_free(service)
    assert "half" not in _tables(service)
    wait_until(lambda: len(service.workers()) == 2 and len(service.workers() & before) == 1)
    assert "Traceback" not in service.messages
    assert service.get("/healthz").is_success


@pytest.mark.parametrize("path", ["/test/dependency"])
def test_dependency_over_the_limit_is_stopped(service: Service, path: str) -> None:
    assert _is_stopped(service.get(path))


def test_stored_change_is_reported_if_the_request_is_stopped_later(service: Service) -> None:
    answer = service.put("/test/stored")
    assert _is_stopped(answer)
    assert "Changes that it had committed before are stored." in answer.json()["detail"]
    assert "kept" in _tables(service)


def test_stream_over_the_limit_is_cut(service: Service) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        service.get("/test/stream")
    assert "Traceback" not in service.messages


def test_browser_gets_a_page(service: Service) -> None:
    answer = service.put("/test/python", headers={"accept": "text/html"})
    assert answer.status_code == 503
    assert "The request needs too much processor time" in answer.text


def test_other_requests_succeed_while_one_is_stopped(service: Service) -> None:
    # Uploads and other requests of the same worker must not be cut off when it is replaced.
    with in_background(lambda: service.get("/test/wait?seconds=6")) as waiting:
        with in_background(lambda: service.put("/test/python")) as endless:
            answered = 0
            while not endless.done():
                assert service.get("/test/process").is_success
                answered += 1
        assert _is_stopped(endless.result())
        assert answered > 1
        assert service.get("/test/process").is_success
        assert waiting.result().is_success


@pytest.mark.parametrize(("method", "path"), [("GET", "/test/digest"), ("PUT", "/test/query")])
def test_call_that_cannot_be_stopped_is_answered_and_its_process_ends(
    service: Service, method: str, path: str
) -> None:
    before = service.workers()
    answer = httpx.request(method, service.address + path, timeout=120)
    assert _is_stopped(answer)
    wait_until(lambda: len(service.workers()) == 2 and len(service.workers() & before) == 1)
    wait_until(lambda: _write_lock_is_free(service))
    assert "half" not in _tables(service)


@pytest.mark.parametrize("path", ["/test/pattern", "/test/loop"])
def test_worker_that_hangs_is_replaced(service: Service, path: str) -> None:
    before = service.workers()
    with in_background(lambda: service.get(path)) as hanging:
        wait_until(lambda: len(service.workers() - before) == 1)
        with pytest.raises(httpx.HTTPError):
            hanging.result()
    assert "has not responded for 5 s" in service.messages
    assert service.get("/test/process").is_success


def test_request_below_the_limit_is_not_stopped(service: Service) -> None:
    before = service.workers()
    assert service.get("/test/spend?seconds=0.5").is_success
    assert service.workers() == before
