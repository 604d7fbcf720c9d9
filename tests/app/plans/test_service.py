"""Saving, reading, deleting and restoring plans, on both databases."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, type_coerce, update
from sqlalchemy.orm import Session

from app.clock import utc_now
from app.database.engine import Database
from app.database.parts import PartedText
from app.database.types import CompressedText
from app.main import create_app
from app.paging import PageRequest
from app.plans import service
from app.plans.models import Plan, PlanOutput, PlanVersion
from app.plans.stored import StoredText, StoredVersion
from app.settings import Settings
from planner_core import CORE_VERSION
from planner_core.document.reading import read_object
from planner_core.errors import PlanRefused
from planner_core.plan.evaluate import evaluate
from planner_core.plan.explain import plan_answer
from planner_core.plan.result import PlanResult
from planner_core.texts.outputs import OUTPUT_KINDS, render_output
from tests.app.plans.support import SQ03, above_figures, plan


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.session(writes=True) as opened:
        yield opened


def test_saved_plan_is_read_unchanged(session: Session) -> None:
    document = plan()
    saved = service.save_plan(session, "SQ03", document, comment="  first\n of all ")
    assert saved.status == "created"
    found = service.get_plan(session, "SQ03")
    assert found == saved.version
    assert (found.name, found.number, found.is_latest, found.comment) == ("SQ03", 1, True, "first of all")
    assert found.document == document
    assert found.created_at.tzinfo is UTC
    assert found.result == evaluate(document).as_json()
    assert found.curve == found.result["curve"]
    explained = plan_answer(evaluate(document), explain=True).as_json()["explanations"]
    assert json.loads(service.get_explanations_json(session, found)) == explained


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_texts_of_a_version_are_those_of_its_document(session: Session, kind: str) -> None:
    document = plan()
    service.save_plan(session, "SQ03", document)
    if kind == "job":
        with pytest.raises(service.StoredOutputRefused, match="the policy name") as refused:
            service.get_output(session, "SQ03", kind)
        assert {finding.code for finding in refused.value.findings} == {"JOB_INCOMPLETE"}
        return
    found = service.get_output(session, "SQ03", kind)
    expected = render_output(kind, evaluate(document))
    assert (found.text, found.filename) == (expected.text, expected.filename)
    assert found.etag != service.get_plan(session, "SQ03").etag


def test_texts_read_together_are_those_read_one_by_one(session: Session) -> None:
    version = service.save_plan(session, "SQ03", plan()).version
    service.save_plan(session, "OTHER", plan(qsg="SQ04"))
    found = service.get_texts(session, version, ("runbook", "job", "policy"))
    assert list(found) == ["runbook", "job", "policy"]
    for kind, text in found.items():
        if isinstance(text, service.StoredOutputRefused):
            with pytest.raises(service.StoredOutputRefused) as refused:
                service.get_output(session, "SQ03", kind)
            assert (str(text), text.findings) == (str(refused.value), refused.value.findings)
        else:
            one = service.get_output(session, "SQ03", kind)
            assert (text.text, text.filename) == (one.text, one.filename)
    assert [kind for kind, text in found.items() if isinstance(text, service.StoredOutputRefused)] == ["job"]


def test_texts_of_a_version_that_was_removed_meanwhile_are_not_found(session: Session) -> None:
    version = service.save_plan(session, "SQ03", plan()).version
    service.delete_plan(session, "SQ03")
    service.purge_deleted(session, timedelta(0))
    with pytest.raises(service.PlanNotFound):
        service.get_texts(session, version, OUTPUT_KINDS)


def test_version_that_was_saved_before_a_kind_of_text_existed_says_so(session: Session) -> None:
    version = service.save_plan(session, "SQ03", plan()).version
    session.execute(delete(PlanOutput).where(PlanOutput.kind == "workflow"))
    text, refused = service.get_texts(session, version, ("policy", "workflow")).values()
    assert isinstance(text, StoredText)
    assert isinstance(refused, service.StoredOutputRefused)
    assert "saved before cfplan had the output workflow" in str(refused)
    with pytest.raises(service.StoredOutputRefused, match="save a new version"):
        service.get_output(session, "SQ03", "workflow")
    with pytest.raises(service.PlanNotFound, match="no version 2"):
        service.get_output(session, "SQ03", "workflow", number=2)


def test_each_change_creates_a_version_and_keeps_old_ones(session: Session) -> None:
    tags: list[str] = []
    for headroom in (10, 20, 30):
        outcome = service.save_plan(
            session, "SQ03", plan(headroom_percent=headroom), if_match=tags[-1] if tags else None
        )
        tags.append(outcome.version.etag)
        assert outcome.status == ("changed" if len(tags) > 1 else "created")
    assert len(set(tags)) == 3
    history = service.list_versions(session, "SQ03")
    assert [(item.number, item.etag, item.is_latest) for item in history] == [
        (3, tags[2], True), (2, tags[1], False), (1, tags[0], False),
    ]  # fmt: skip
    for number, headroom in ((1, 10), (2, 20), (3, 30)):
        version = service.get_version(session, "SQ03", number)
        assert version.document == plan(headroom_percent=headroom)
        assert version.is_latest == (number == 3)
    with pytest.raises(service.PlanNotFound, match="no version 4"):
        service.get_version(session, "SQ03", 4)


@pytest.mark.parametrize("if_match", [None, '"0.0"', "*", "current"])
def test_saving_an_identical_document_changes_nothing(session: Session, if_match: str | None) -> None:
    first = service.save_plan(session, "SQ03", plan()).version
    tag = first.etag if if_match == "current" else if_match
    again = service.save_plan(session, "SQ03", plan(), if_match=tag, comment="again")
    assert again.status == "identical"
    assert again.version == first
    assert len(service.list_versions(session, "SQ03")) == 1


def test_change_without_a_version_is_refused(session: Session) -> None:
    service.save_plan(session, "SQ03", plan())
    with pytest.raises(service.PreconditionRequired) as refused:
        service.save_plan(session, "SQ03", plan(headroom_percent=20))
    assert refused.value.current == service.get_plan(session, "SQ03")


@pytest.mark.parametrize("if_match", ['"0.0"', "W/{}", "", '"x", "y"', "{}-policy"])
def test_change_based_on_an_old_version_is_refused(session: Session, if_match: str) -> None:
    old = service.save_plan(session, "SQ03", plan()).version
    new = service.save_plan(session, "SQ03", plan(headroom_percent=20), if_match=old.etag).version
    for tag in (old.etag, if_match.format(new.etag)):
        with pytest.raises(service.Conflict) as refused:
            service.save_plan(session, "SQ03", plan(headroom_percent=30), if_match=tag)
        assert refused.value.current == new
    assert service.get_plan(session, "SQ03") == new
    assert (
        service.save_plan(session, "SQ03", plan(headroom_percent=30), if_match=f'"0.0" , {new.etag}').status
        == "changed"
    )


def test_create_only_never_changes_an_existing_plan(session: Session) -> None:
    assert service.save_plan(session, "SQ03", plan(), create_only=True).status == "created"
    for document in (plan(), plan(headroom_percent=20)):
        with pytest.raises(service.Conflict, match="already"):
            service.save_plan(session, "SQ03", document, create_only=True)


def test_change_of_a_deleted_plan_is_refused(session: Session) -> None:
    tag = service.save_plan(session, "SQ03", plan()).version.etag
    service.delete_plan(session, "SQ03")
    for given in (tag, "*"):
        with pytest.raises(service.Gone, match="no longer exists"):
            service.save_plan(session, "SQ03", plan(headroom_percent=20), if_match=given)


def test_impossible_plan_is_not_stored(session: Session) -> None:
    with pytest.raises(PlanRefused):
        service.save_plan(session, "SQ03", plan(queue_managers=33))
    assert service.list_plans(session).total == 0


@pytest.mark.parametrize(
    "name", ["", ".hidden", "a b", "x" * 65, "a/b", "Größe", "a\n", "..", "\x00", "a%2fb"]
)
def test_invalid_name_is_refused(session: Session, name: str) -> None:
    with pytest.raises(service.PlanNameInvalid):
        service.save_plan(session, name, plan())
    with pytest.raises(service.PlanNotFound):
        service.get_plan(session, name)


def test_names_are_case_sensitive(session: Session) -> None:
    service.save_plan(session, "sq03", plan())
    service.save_plan(session, "SQ03", plan(headroom_percent=20))
    assert service.get_plan(session, "sq03").document == plan()
    assert [item.name for item in service.list_plans(session).items] == ["SQ03", "sq03"]


def test_plans_are_paged_and_found_by_part_of_their_name(session: Session) -> None:
    names = ["alpha", "Beta", "gamma_1", "gamma-2", "GAMMA.3", "x" * 64]
    for name in names:
        service.save_plan(session, name, plan(qsg="QX1" if name == "Beta" else "SQ03"))
    everything = service.list_plans(session)
    assert [item.name for item in everything.items] == sorted(names, key=str.lower)
    assert (everything.total, everything.page, everything.pages) == (6, 1, 1)
    walked = [service.list_plans(session, PageRequest(page, 4)) for page in (1, 2, 3)]
    assert [len(page.items) for page in walked] == [4, 2, 0]
    assert {(page.total, page.pages) for page in walked} == {(6, 2)}
    assert tuple(item for page in walked for item in page.items) == everything.items

    def found(search: str) -> set[str]:
        return {item.name for item in service.list_plans(session, search=search).items}

    assert found("gamma") == {"gamma_1", "gamma-2", "GAMMA.3"}
    assert found("qx1") == {"Beta"}
    assert found("_") == {"gamma_1"}  # no wildcard
    assert found("%") == set()
    assert found("\\") == set()
    assert found("\x00") == found("") == set(names)


def test_summary_has_the_figures_of_the_latest_version(session: Session) -> None:
    service.save_plan(session, "SQ03", plan())
    version = service.save_plan(session, "SQ03", plan(headroom_percent=20), if_match="*").version
    (item,) = service.list_plans(session).items
    totals = version.result["totals"]
    assert (item.version, item.etag, item.qsg) == (2, version.etag, "SQ03")
    assert (item.structures, item.initsize_kib, item.size_kib) == (
        totals["structures"], totals["initsize_kib"], totals["size_kib"],
    )  # fmt: skip
    counts = [finding["severity"] for finding in version.result["findings"]]
    assert (item.errors, item.warnings, item.infos) == tuple(map(counts.count, ("error", "warning", "info")))
    assert item.updated_at == version.created_at >= item.created_at


def test_acknowledged_findings_are_counted_separately(session: Session) -> None:
    exposed = above_figures(SQ03)
    before = service.save_plan(session, "SQ03", read_object(exposed)).version
    warning = next(f for f in before.result["findings"] if f["severity"] == "warning")
    accepted = {"code": warning["code"], "structure": warning["structure"], "reason": "known"}
    document = read_object({**exposed, "acknowledged": [accepted]})
    service.save_plan(session, "SQ03", document, if_match=before.etag)
    newer, older = service.list_versions(session, "SQ03")
    assert older.acknowledged == 0
    assert newer.acknowledged >= 1
    assert newer.warnings == older.warnings - newer.acknowledged


def test_deleted_plan_is_restored_with_all_its_versions(session: Session) -> None:
    service.save_plan(session, "SQ03", plan())
    latest = service.save_plan(session, "SQ03", plan(headroom_percent=20), if_match="*").version
    service.delete_plan(session, "SQ03")
    with pytest.raises(service.PlanNotFound):
        service.get_plan(session, "SQ03")
    assert service.list_plans(session).total == 0
    assert [(item.name, item.version, item.qsg) for item in service.list_deleted(session)] == [
        ("SQ03", 2, "SQ03")
    ]
    assert service.restore_plan(session, "SQ03") == latest
    assert len(service.list_versions(session, "SQ03")) == 2
    assert service.list_deleted(session) == ()
    with pytest.raises(service.PlanNotFound):
        service.restore_plan(session, "SQ03")


def test_deletion_of_another_version_is_refused(session: Session) -> None:
    old = service.save_plan(session, "SQ03", plan()).version
    new = service.save_plan(session, "SQ03", plan(headroom_percent=20), if_match=old.etag).version
    with pytest.raises(service.Conflict):
        service.delete_plan(session, "SQ03", if_match=old.etag)
    service.delete_plan(session, "SQ03", if_match=new.etag)


def test_new_plan_with_a_deleted_name_has_another_etag(session: Session) -> None:
    old = service.save_plan(session, "SQ03", plan()).version
    service.delete_plan(session, "SQ03")
    new = service.save_plan(session, "SQ03", plan()).version
    assert new.number == 1
    assert new.etag != old.etag
    with pytest.raises(service.NameTaken):
        service.restore_plan(session, "SQ03")
    service.delete_plan(session, "SQ03")
    assert service.restore_plan(session, "SQ03") == new  # the one that was deleted last
    service.delete_plan(session, "SQ03")
    assert service.purge_deleted(session, timedelta(0)) == 2
    again = service.save_plan(session, "SQ03", plan()).version
    assert again.etag not in {
        old.etag,
        new.etag,
    }  # numbers are not used twice, even when nothing is left of them


def test_deleted_plans_with_the_same_name_can_each_be_restored(session: Session) -> None:
    old = service.save_plan(session, "SQ03", plan(), comment="the old one").version
    service.delete_plan(session, "SQ03")
    service.save_plan(session, "SQ03", plan(headroom_percent=20))
    service.delete_plan(session, "SQ03")
    new = service.save_plan(session, "SQ03", plan(headroom_percent=30)).version
    _, first = service.list_deleted(session)
    assert (first.id, first.comment, first.saved_at) == (old.plan_id, "the old one", old.created_at)
    for refused, name in (
        (service.NameTaken, None),
        (service.NameTaken, "SQ03"),
        (service.PlanNameInvalid, "a b"),
    ):
        with pytest.raises(refused):
            service.restore_plan(session, "SQ03", plan_id=first.id, new_name=name)
    with pytest.raises(service.PlanNotFound):
        service.restore_plan(session, "OTHER", plan_id=first.id)
    with pytest.raises(service.PlanNotFound):
        service.restore_plan(session, "SQ03", plan_id=new.plan_id)
    assert service.names_in_use(session) == {"SQ03"}
    restored = service.restore_plan(session, "SQ03", plan_id=first.id, new_name="SQ03-old")
    assert (restored.name, restored.document, restored.etag) == ("SQ03-old", old.document, old.etag)
    assert service.get_plan(session, "SQ03") == new


def test_plan_created_and_deleted_during_a_save_is_saved(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, outrun = service._create, [True, True]

    def outrun_twice(*given: Any, **more: Any) -> StoredVersion | None:  # noqa: ANN401
        """Simulate another request that twice creates the plan at this moment and then deletes it."""
        return None if outrun and outrun.pop() else create(*given, **more)

    monkeypatch.setattr(service, "_create", outrun_twice)
    assert service.save_plan(session, "SQ03", plan()).status == "created"


def test_only_plans_past_their_retention_are_removed(session: Session) -> None:
    service.save_plan(session, "SQ03", plan())
    service.save_plan(session, "KEPT", plan())
    service.delete_plan(session, "SQ03")
    assert service.purge_deleted(session, timedelta(days=1)) == 0
    assert service.purge_deleted(session, timedelta(0)) == 1
    assert service.list_deleted(session) == ()
    assert service.get_plan(session, "KEPT").number == 1


def test_running_service_removes_plans_past_their_retention(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(Settings(data_dir=tmp_path, deleted_days=30))
    with app.state.database.session(writes=True) as session:
        for name, days in (("EXPIRED", 31), ("RESTORABLE", 29)):
            service.save_plan(session, name, plan())
            service.delete_plan(session, name)
            changed = update(Plan).where(Plan.name == name)
            session.execute(changed.values(deleted_at=utc_now() - timedelta(days=days)))
    uploads_cleaned: list[Settings] = []
    monkeypatch.setattr(
        "app.uploads.service.clean_up", lambda _database, settings: uploads_cleaned.append(settings)
    )
    app.state.watcher._tidy()
    with app.state.database.session(writes=False) as session:
        assert [each.name for each in service.list_deleted(session)] == ["RESTORABLE"]
    assert uploads_cleaned == [app.state.settings]


def test_plan_can_be_renamed_and_copied(session: Session) -> None:
    first = service.save_plan(session, "SQ03", plan()).version
    service.save_plan(session, "OTHER", plan())
    renamed = service.rename_plan(session, "SQ03", "NEW", if_match=first.etag)
    assert (renamed.name, renamed.number, renamed.document) == ("NEW", 1, first.document)
    with pytest.raises(service.PlanNotFound):
        service.get_plan(session, "SQ03")
    copied = service.copy_plan(session, "NEW", "SQ03")
    assert (copied.number, copied.document) == (1, first.document)
    assert copied.comment == "Copied from NEW, version 1"
    for attempt in (service.rename_plan, service.copy_plan):
        with pytest.raises(service.NameTaken):
            attempt(session, "NEW", "OTHER")
        with pytest.raises(service.PlanNameInvalid):
            attempt(session, "NEW", ".new")
        with pytest.raises(service.PlanNotFound):
            attempt(session, "NOWHERE", "X")


def test_old_version_keeps_its_figures_with_a_newer_core(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = service.save_plan(session, "SQ03", plan()).version
    text = service.get_output(session, "SQ03", "policy").text
    explanations = json.loads(service.get_explanations_json(session, old))
    really = PlanResult.as_json

    def other(self: PlanResult) -> dict[str, object]:
        return {**really(self), "core_version": "99.0", "qsg": "NEW!", "queue_managers": 1}

    monkeypatch.setattr(PlanResult, "as_json", other)
    monkeypatch.setattr("planner_core.CORE_VERSION", "99.0")
    monkeypatch.setattr("app.plans.computed.render_output", lambda *_: pytest.fail("rendered again"))
    monkeypatch.setattr("app.plans.computed.evaluate", lambda *_: pytest.fail("calculated again"))
    session.expire_all()
    found = service.get_version(session, "SQ03", 1)
    assert found == old
    assert found.result == really(evaluate(plan()))
    assert found.core_version == old.core_version != "99.0"
    assert service.get_output(session, "SQ03", "policy").text == text
    assert json.loads(service.get_explanations_json(session, found)) == explanations


def test_explanations_of_an_area_are_its_part_of_all_explanations(session: Session) -> None:
    version = service.save_plan(session, "SQ03", plan()).version
    every = json.loads(service.get_explanations_json(session, version))
    for area in ("/curve", "/structures/0", "/structures/2", "/totals", "/coupling_facilities"):
        found = json.loads(service.get_explanations_of(session, version, area))
        assert found == {figure: each for figure, each in every.items() if figure.startswith(f"{area}/")}
        assert found
    assert json.loads(service.get_explanations_of(session, version, "/structures/99")) == {}


LISTS = {
    "coupling_facilities": [{"name": "CF01", "size": "64G"}],
    "other_structures": [{"name": "DSNDB0A_LOCK1", "size": "64M", "preflist": ["CF01"]}],
    "acknowledged": [
        {
            "code": "NO_WHITE_SPACE",
            "structure": '"acknowledged":[',
            "message": None,
            "reason": '"}],"acknowledged":[{"',
        }
    ],
}


@pytest.mark.parametrize("lists", [LISTS, {key: [] for key in LISTS}, {}])
def test_lists_of_a_document_are_read_alone_as_with_the_rest(lists: dict[str, Any]) -> None:
    text = json.dumps({"qsg": "SQ03", **lists, "structures": []}, separators=(",", ":"))
    alone, whole = (
        StoredVersion(1, "SQ03", 1, 1, utc_now(), None, CORE_VERSION, text, "{}", "{}") for _ in range(2)
    )
    assert whole.document_object is not None
    assert "document_object" not in alone.__dict__
    for key in LISTS:
        assert alone._list(key) == whole._list(key) == lists.get(key, [])  # type: ignore[arg-type]
    assert ("document_object" in alone.__dict__) == (not lists)
    assert alone.acknowledged == lists.get("acknowledged", [])


def test_explanations_stored_by_an_earlier_release_are_read(session: Session) -> None:
    version = service.save_plan(session, "SQ03", plan()).version
    text = service.get_explanations_json(session, version)
    # Earlier releases stored one compressed text.
    session.execute(update(PlanVersion).values(explanations=PartedText(zlib.compress(text.encode(), 1))))
    assert service.get_explanations_json(session, version) == text
    assert service.get_explanations_of(session, version, "/totals") == text


def test_explanations_can_be_read_by_an_earlier_release(session: Session) -> None:
    version = service.save_plan(session, "SQ03", plan()).version
    stored = session.scalars(select(type_coerce(PlanVersion.explanations, CompressedText))).one()
    assert stored == service.get_explanations_json(session, version)


def test_version_stores_the_version_of_the_core_that_computed_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.save_plan(session, "SQ03", plan())
    monkeypatch.setattr(
        "app.plans.computed.evaluate", lambda document, _: _with_version(evaluate(document), "99.0")
    )
    outcome = service.save_plan(session, "SQ03", plan(headroom_percent=20), if_match="*")
    assert outcome.version.core_version == outcome.version.result["core_version"] == "99.0"
    old = service.get_version(session, "SQ03", 1)
    assert old.core_version == old.result["core_version"] == CORE_VERSION
    assert [item.core_version for item in service.list_versions(session, "SQ03")] == [
        "99.0",
        CORE_VERSION,
    ]


def _with_version(result: object, version: str) -> object:
    import dataclasses

    return dataclasses.replace(result, core_version=version)  # type: ignore[type-var]


def test_document_stored_before_a_new_key_counts_as_identical(session: Session, database: Database) -> None:
    """Later versions of cfplan add optional keys; saving a document stored without them changes nothing."""
    from sqlalchemy import select

    from app.plans.models import PlanVersion

    first = service.save_plan(session, "SQ03", plan()).version
    row = session.scalars(select(PlanVersion)).one()
    row.document = first.document_json.replace(',"acknowledged":[]', "")
    assert row.document != first.document_json
    session.flush()
    assert service.get_plan(session, "SQ03").document == plan()
    assert service.save_plan(session, "SQ03", plan()).status == "identical"


@pytest.mark.parametrize("again", ["identical", "changed"])
def test_document_stored_in_another_notation_is_compared_by_its_values(session: Session, again: str) -> None:
    """Earlier releases may have written values in another way; only other values make a new version."""
    from sqlalchemy import select

    from app.plans.models import PlanVersion

    first = service.save_plan(session, "SQ03", plan()).version
    assert '"size_factor":1.5' in first.document_json
    row = session.scalars(select(PlanVersion)).one()
    row.document = first.document_json.replace('"size_factor":1.5', '"size_factor": 1.50')
    session.flush()
    saved = plan() if again == "identical" else plan(size_factor=1.6)
    assert service.save_plan(session, "SQ03", saved, if_match="*").status == again
