"""If two editors save at the same time, one succeeds and the other gets an error. On both databases."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import URL

from app.database.engine import Database
from app.plans import service
from tests.app.plans.support import app_on, changed, plan
from tests.app.web.support import Answer, get, send_json

EDITORS = 6
ROUNDS = 4


def race(attempts: Sequence[Callable[[], str]]) -> Counter[str]:
    """Run all functions at the same time."""
    start = threading.Barrier(len(attempts))

    def run(attempt: Callable[[], str]) -> str:
        start.wait(timeout=60)
        return attempt()

    with ThreadPoolExecutor(len(attempts)) as pool:
        return Counter(pool.map(run, attempts))


def save(database: Database, headroom: int, tag: str | None, *, create_only: bool = False) -> str:
    try:
        with database.session(writes=True) as session:
            document = plan(headroom_percent=headroom)
            return service.save_plan(
                session, "SQ03", document, if_match=tag, create_only=create_only, comment=f"by {headroom}"
            ).status
    except (service.Conflict, service.PreconditionRequired) as refused:
        return type(refused).__name__


def test_only_one_of_several_editors_of_a_version_saves(database: Database) -> None:
    save(database, 0, None)
    for turn in range(1, ROUNDS + 1):
        with database.session(writes=False) as session:
            tag = service.get_plan(session, "SQ03").etag
        edits = [partial(save, database, 10 * turn + at, tag) for at in range(EDITORS)]
        assert race(edits) == {"changed": 1, "Conflict": EDITORS - 1}
        with database.session(writes=False) as session:
            assert service.get_plan(session, "SQ03").number == turn + 1
            assert [v.number for v in service.list_versions(session, "SQ03")] == list(range(turn + 1, 0, -1))


def test_only_one_of_several_creators_of_a_name_succeeds(database: Database) -> None:
    for create_only, refusal in ((True, "Conflict"), (False, "PreconditionRequired")):
        edits = [partial(save, database, at, None, create_only=create_only) for at in range(EDITORS)]
        assert race(edits) == {"created": 1, refusal: EDITORS - 1}
        with database.session(writes=True) as session:
            assert len(service.list_versions(session, "SQ03")) == 1
            service.delete_plan(session, "SQ03")


def test_identical_plans_created_concurrently_do_not_conflict(database: Database) -> None:
    edits = [partial(save, database, 7, None)] * EDITORS
    assert race(edits) == {"created": 1, "identical": EDITORS - 1}


def test_each_intended_overwrite_creates_one_version(database: Database) -> None:
    save(database, 0, None)
    edits = [partial(save, database, 10 + at, "*") for at in range(EDITORS)]
    assert race(edits) == {"changed": EDITORS}
    with database.session(writes=False) as session:
        versions = service.list_versions(session, "SQ03")
        assert [v.number for v in versions] == list(range(EDITORS + 1, 0, -1))
        assert {v.comment for v in versions} == {"by 0", *(f"by {10 + at}" for at in range(EDITORS))}


def test_only_one_of_a_concurrent_edit_and_deletion_succeeds(database: Database) -> None:
    for turn in range(ROUNDS):
        save(database, turn, None)
        with database.session(writes=False) as session:
            tag = service.get_plan(session, "SQ03").etag

        def delete(tag: str = tag) -> str:
            try:
                with database.session(writes=True) as session:
                    service.delete_plan(session, "SQ03", if_match=tag)
            except service.Conflict:
                return "changed first"
            return "deleted"

        def edit(tag: str = tag, turn: int = turn) -> str:
            try:
                return save(database, 50 + turn, tag)
            except service.Gone:
                return "deleted first"

        assert race([delete, edit]) in (
            {"deleted": 1, "deleted first": 1},
            {"changed first": 1, "changed": 1},
        )
        with database.session(writes=True) as session:
            if service.list_plans(session).total:
                service.delete_plan(session, "SQ03")


def test_only_one_of_several_rest_editors_gets_200_and_the_others_412(database: Database, url: URL) -> None:
    app = app_on(url)
    assert send_json(app, "PUT", "/api/v1/plans/SQ03", changed()).status == 201
    answers: list[Answer] = []

    def put(headroom: int, tag: str) -> str:
        answer = send_json(app, "PUT", "/api/v1/plans/SQ03", changed(headroom_percent=headroom), if_match=tag)
        answers.append(answer)
        return str(answer.status)

    for turn in range(1, ROUNDS):
        tag = get(app, "/api/v1/plans/SQ03").headers["etag"]
        answers.clear()
        found = race([partial(put, 20 * turn + at, tag) for at in range(EDITORS)])
        assert found == {"200": 1, "412": EDITORS - 1}
        latest = get(app, "/api/v1/plans/SQ03").json()
        assert latest["version"] == turn + 1
        for answer in answers:
            if answer.status == 412:
                assert answer.json()["current"] == {"version": latest["version"], "etag": latest["etag"]}
            else:
                assert answer.json()["document"] == latest["document"]
    database.close()


def test_readers_see_complete_versions_while_others_write(database: Database) -> None:
    save(database, 0, None)
    done = threading.Event()
    seen: list[tuple[int, float, str]] = []

    def read() -> str:
        while not done.is_set():
            with database.session(writes=False) as session:
                found = service.get_plan(session, "SQ03")
                text = service.get_output(session, "SQ03", "policy", number=found.number).text
            seen.append((found.number, found.document_object["headroom_percent"], text))
        return "read"

    def write() -> str:
        try:
            return Counter(save(database, at, "*") for at in range(1, 15)).most_common(1)[0][0]
        finally:
            done.set()

    assert race([read, write]) == {"read": 1, "changed": 1}
    assert seen
    assert all(headroom == number - 1 for number, headroom, _ in seen)
    assert [number for number, _, _ in seen] == sorted(number for number, _, _ in seen)
    assert len({text for _, _, text in seen}) == len({number for number, _, _ in seen})


@pytest.mark.parametrize("fault", ["commit", "flush"])
def test_save_whose_commit_fails_returns_an_error(
    database: Database, url: URL, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError
    from sqlalchemy.orm import Session

    app = app_on(url)

    def broken(self: Session) -> None:
        message = "disk full"
        raise OperationalError(message, {}, Exception(message))

    with monkeypatch.context() as patched:
        patched.setattr(Session, fault, broken)
        answer = send_json(app, "PUT", "/api/v1/plans/SQ03", changed())
    assert answer.status == 503
    assert answer.headers["retry-after"]
    assert "disk full" not in answer.text
    assert get(app, "/api/v1/plans/SQ03").status == 404
