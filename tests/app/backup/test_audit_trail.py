"""The audit trail in a backup: its entries, their chain, and the triggers that protect them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from app.actor import LONGEST_ACTOR, Actor, ActorKind, Role, acting_as
from app.audit.actions import Action
from app.audit.chain import GENESIS, digest_of
from app.audit.filters import AuditFilter
from app.audit.models import LONGEST_OBJECT_NAME, AuditEntry
from app.audit.recording import AuditObject, record_alone
from app.audit.service import each_entry, verify
from app.cli import main
from app.database.engine import SCHEMA_REVISION, Database, database_of
from tests import postgres
from tests.app.backup.support import RESTORED, Place, back_up, check_trail, place_at, restore_into
from tests.databases import KINDS

pytestmark = pytest.mark.long

ENTRIES = 3
ANNA = Actor("änna \N{GRINNING FACE} " * LONGEST_ACTOR, ActorKind.TOKEN, Role.PLANNER, "2001:db8::7", 7, 70)
TEXTS = {"before": "a\tb\n\\\"'\x00\ud800", "after": None, "größe": "1 KiB" * 100, "number": 2**60}
"""Details that a copy of rows may change: separators, characters without a place in UTF-8, and large numbers."""


class Source(NamedTuple):
    """A backup, and the digest of the last entry of its audit trail."""

    archive: Path
    anchors: dict[int, str]


def fill_trail(database: Database) -> None:
    """Add entries whose contents a copy of rows may change."""
    with database.session(writes=True) as session:
        # Databases may leave out a fraction of a second that is zero.
        entry = AuditEntry(
            id=1, at=datetime(2026, 11, 21, tzinfo=UTC), actor="service", actor_kind="service",
            action=Action.PLAN_CREATED.value, object_kind="plan", object_name="", details="{}",
        )  # fmt: skip
        entry.digest = digest_of(entry, GENESIS)
        session.add(entry)
    with acting_as(ANNA):
        record_alone(database, Action.PLAN_SAVED, AuditObject("plan", "SQ03", id=2**40, version=3), TEXTS)
        record_alone(database, Action.PLAN_DELETED, AuditObject("plan", "\u202e\\N" * LONGEST_OBJECT_NAME))


@pytest.fixture(scope="module", params=KINDS)
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    folder = tmp_path_factory.mktemp("source")
    if request.param == "sqlite":
        yield backed_up(place_at(folder / "data"), folder)
        return
    template = request.getfixturevalue("migrated_template")
    with postgres.empty_database(template.set(database="postgres"), template=template.database) as url:
        yield backed_up(place_at(folder / "data", url), folder)


def backed_up(place: Place, folder: Path) -> Source:
    place.data.mkdir(exist_ok=True)
    database = database_of(place.settings)
    database.upgrade()
    fill_trail(database)
    digest = verify(database).last_digest
    database.close()
    back_up(place, folder / "cfplan.tar.gz")
    return Source(folder / "cfplan.tar.gz", {ENTRIES: digest})


def test_audit_trail_is_intact_and_protected_after_a_restore_on_any_database(
    source: Source, target: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    restore_into(target, source.archive)
    assert check_trail(target, anchors=source.anchors) == ENTRIES
    monkeypatch.setenv("CFPLAN_DATA_DIR", str(target.data))
    monkeypatch.setenv("CFPLAN_DATABASE_URL", target.settings.database_url)
    assert main(["audit", "verify", "--anchor", f"{ENTRIES}:{source.anchors[ENTRIES]}"]) == 0
    assert f"All entries are intact: {ENTRIES + 1}\n" in capsys.readouterr().out
    database = database_of(target.settings)
    (restored,) = each_entry(database, AuditFilter(action=RESTORED))
    assert (restored.id, restored.object_name, restored.details) == (
        ENTRIES + 1, "cfplan.tar.gz", {"revision": SCHEMA_REVISION},
    )  # fmt: skip
    record_alone(database, Action.PLAN_CREATED, AuditObject("plan", "SQ04"))
    database.close()
    assert check_trail(target, anchors=source.anchors) == ENTRIES + 1
    restore_into(target, source.archive, replaces=True)
    assert check_trail(target, anchors=source.anchors) == ENTRIES
