"""Migrations create the schema: upgrades and downgrades on both databases, with data."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, inspect, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

import app.database.engine as db
from app.clock import utc_now
from app.database.engine import (
    SCHEMA_REVISION,
    Database,
    DatabaseUnusable,
    alembic_config,
    database_url,
)
from app.database.types import Base
from app.plans import repository, service
from app.zosmf.models import AppliedPolicy
from tests.app.fits.support import crossing_json, fit_json, forecast_json, store_night
from tests.app.plans.support import plan

FIRST = "a1c0f5e2d7b3"
# A revision as a later version may bring one: on SQLite it makes the table anew.
LATER = '''
"""Another column, filled and then enforced."""
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "later", "{head}", None, None


def upgrade() -> None:
    op.add_column("plans", sa.Column("owner", sa.String(20), nullable=True))
    op.execute("UPDATE plans SET owner = 'team ' || name")
    with op.batch_alter_table("plans") as table:
        table.alter_column("owner", existing_type=sa.String(20), nullable=False)
    {fault}


def downgrade() -> None:
    with op.batch_alter_table("plans") as table:
        table.drop_column("owner")
'''


def head() -> str:
    found = ScriptDirectory.from_config(alembic_config()).get_current_head()
    assert found is not None
    return found


def contents(connection: Connection) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table of the application."""
    return {
        table: sorted((tuple(row) for row in connection.execute(text(f'SELECT * FROM "{table}"'))), key=repr)  # noqa: S608
        for table in inspect(connection).get_table_names()
        if table != "alembic_version" and not table.startswith("sqlite_")
    }


def fill(database: Database) -> None:
    # Not a session of the database itself, which would migrate.
    with Session(database.engine) as session:
        for name in ("ONE", "TWO", "GONE"):
            service.save_plan(session, name, plan(), comment=name)
        service.save_plan(session, "TWO", plan(headroom_percent=30), if_match="*")
        service.delete_plan(session, "GONE")
        session.commit()


def fill_first_schema(database: Database) -> None:
    """Store plans in a database with the first schema."""
    database.upgrade(SCHEMA_REVISION)  # plans are stored with the tables of this version
    fill(database)
    database.downgrade(FIRST)


@pytest.fixture
def with_a_later_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    for path in [*db.MIGRATIONS_DIR.glob("*.py"), *db.MIGRATIONS_DIR.glob("versions/*.py")]:
        (folder / path.relative_to(db.MIGRATIONS_DIR)).write_bytes(path.read_bytes())
    later = LATER.format(head=head(), fault=getattr(request, "param", ""))
    (folder / "versions" / "later.py").write_text(later, encoding="utf-8")
    monkeypatch.setattr(db, "MIGRATIONS_DIR", folder)


def test_migrations_create_the_schema_of_the_models(database: Database) -> None:
    with database.engine.connect() as connection:
        command.check(alembic_config(connection))  # raises when there is a difference
        assert set(Base.metadata.tables) <= set(inspect(connection).get_table_names())


def test_difference_between_models_and_migrations_is_detected(database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("DROP INDEX ix_plans_deleted_at"))
    with database.engine.connect() as connection, pytest.raises(Exception, match="ix_plans_deleted_at"):
        command.check(alembic_config(connection))


def test_upgrade_after_a_downgrade_gives_an_empty_schema(database: Database) -> None:
    fill(database)
    database.downgrade("base")
    with database.engine.connect() as connection:
        assert contents(connection) == {}
    database.upgrade()
    with database.session(writes=False) as session:
        assert service.list_plans(session).total == 0


@pytest.mark.usefixtures("with_a_later_revision")
def test_data_survives_an_upgrade_and_a_downgrade(url: URL) -> None:
    database = Database(url)
    fill_first_schema(database)
    with database.engine.connect() as connection:
        before = contents(connection)
    assert {table: len(rows) for table, rows in before.items()} == {
        "plans": 3, "plan_versions": 4, "plan_outputs": 24,
    }  # fmt: skip
    database.upgrade()
    assert database.revision() == "later"
    with database.engine.connect() as connection:
        assert set(connection.scalars(text("SELECT owner FROM plans"))) == {
            "team ONE",
            "team TWO",
            "team GONE",
        }
        now = contents(connection)
        # The authors of versions that are stored already are unknown.
        assert {row[-1] for row in now["plan_versions"]} == {None}
        now["plan_versions"] = [row[:-1] for row in now["plan_versions"]]
        assert {t: now[t] for t in before if t != "plans"} == {
            t: rows for t, rows in before.items() if t != "plans"
        }
        assert {t for t, rows in now.items() if t not in before and rows} == {"plan_names"}
    database.downgrade(FIRST)
    with database.engine.connect() as connection:
        assert contents(connection) == before
    with Session(database.engine) as session:  # the keys still hold: a plan goes with all that belongs to it
        assert len(repository.remove_deleted_before(session, utc_now())) == 1
        session.commit()
        assert session.scalar(text("SELECT latest FROM plans WHERE name = 'TWO'")) == 2
        counted = text("SELECT (SELECT count(*) FROM plan_versions), (SELECT count(*) FROM plan_outputs)")
        assert tuple(session.execute(counted).one()) == (3, 18)
    database.close()


@pytest.mark.usefixtures("with_a_later_revision")
@pytest.mark.parametrize("with_a_later_revision", ["op.execute('SELECT * FROM nowhere')"], indirect=True)
def test_failed_migration_changes_nothing(url: URL) -> None:
    database = Database(url)
    fill_first_schema(database)
    with database.engine.connect() as connection:
        before = contents(connection)
    with pytest.raises(Exception, match="nowhere"):
        database.upgrade()
    with database.engine.connect() as connection:
        assert contents(connection) == before
    assert database.revision() == FIRST
    database.close()


def test_database_of_a_later_version_is_refused_and_not_changed(database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'from_the_future'"))
    for again in (Database(database.url), Database(database.url, migrates=False)):
        with pytest.raises(DatabaseUnusable, match="later version"):
            again.prepare()
        again.close()
    assert database.revision() == "from_the_future"


def test_server_database_is_migrated_only_on_request(url: URL) -> None:
    database = Database(url, migrates=False)
    if database.is_sqlite:
        Path(str(url.database)).parent.mkdir()
    with pytest.raises(DatabaseUnusable, match=r"is empty.*cfplan migrate"):
        database.prepare()
    Database(url, migrates=True).prepare()
    database.prepare()
    assert database.revision() == head()
    database.close()


def test_old_schema_is_upgraded_at_the_first_use(url: URL) -> None:
    old = Database(url)
    old.upgrade(FIRST)
    old.close()
    database = Database(url, migrates=True)
    database.prepare()
    assert database.revision() == head() == SCHEMA_REVISION
    database.close()


def test_alembic_is_not_imported_for_a_current_schema(tmp_path: Path) -> None:
    """Every command and job that opens the database would otherwise need a third of a second more CPU time."""
    Database(database_url("", data_dir=tmp_path)).prepare()
    use = (
        "import sys; from pathlib import Path; from app.database.engine import Database, database_url; "
        "Database(database_url('', data_dir=Path(sys.argv[1]))).prepare(); assert 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", use, str(tmp_path)], check=True)


def test_every_revision_has_a_date_in_its_name_and_a_description() -> None:
    scripts = list(ScriptDirectory.from_config(alembic_config()).walk_revisions())
    assert scripts
    for script in scripts:
        assert script.doc
        assert Path(script.path).name[:10].replace("_", "").isdigit()
        assert script.revision in Path(script.path).name


def test_names_in_stored_plans_are_those_that_a_save_stores(url: URL) -> None:
    database = Database(url)
    database.upgrade()
    fill(database)
    with database.session(writes=True) as session:
        accepted = {"code": "OFFLOAD_GAINS_NOTHING", "reason": "measured"}
        service.save_plan(session, "ACCEPTED", plan(acknowledged=[accepted]))
    with database.engine.connect() as connection:
        before = contents(connection)["plan_names"]
    assert {row[0] for row in before} == {"group", "structure", "queue", "finding"}
    assert [row[1] for row in before].count(
        "OFFLOAD_GAINS_NOTHING"
    ) == 3  # not open in the plan that accepts it
    database.downgrade("c9e8b4d1f5a3")
    database.upgrade()
    with database.engine.connect() as connection:
        assert contents(connection)["plan_names"] == before
    database.close()


def test_uploads_of_the_same_instant_are_merged_and_keep_their_results(url: URL) -> None:
    database = Database(url)
    database.upgrade("d4f3c9e6a0b8")
    told = [
        (1, "aa", "2026-03-21T09:30:00", "Europe/Berlin"),
        (2, "aa", "2026-03-21T08:30:00", "UTC"),
        (3, "aa", "2026-03-21T09:31:00", "-05:00"),
        (4, "bb", "2026-03-21T08:30:00", "UTC"),
        (5, "cc", "", ""),
    ]
    insert = text(
        "INSERT INTO uploads (id, filename, size_bytes, sha256, kind, detected_kind, observed_at, zone, created_at)"
        " VALUES (:id, 'f', 1, :sha256, '', '', :at, :zone, '2026-03-22 00:00:00')"
    )
    run = text(
        "INSERT INTO job_runs (upload_id, kind, state, stage, done, total, sentence, attempts, owner, created_at, log)"
        " VALUES (:id, 'ingest', 'done', '', 0, 0, :said, 1, '', '2026-03-22 00:00:00', :log)"
    )
    with database.engine.begin() as connection:
        for number, sha256, at, zone in told:
            connection.execute(insert, {"id": number, "sha256": sha256, "at": at, "zone": zone})
            connection.execute(run, {"id": number, "said": f"run of {number}", "log": b""})
    database.upgrade()
    with database.engine.connect() as connection:
        instants = text("SELECT id, observed_utc FROM uploads ORDER BY id")
        assert [tuple(row) for row in connection.execute(instants)] == [
            (1, "2026-03-21T08:30:00Z"),
            (3, "2026-03-21T14:31:00Z"),
            (4, "2026-03-21T08:30:00Z"),
            (5, ""),
        ]
        runs = text("SELECT sentence FROM job_runs WHERE upload_id = 1 ORDER BY id")
        assert list(connection.scalars(runs)) == ["run of 1", "run of 2"]
    database.downgrade("d4f3c9e6a0b8")
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM uploads")) == 4
    with database.engine.begin() as connection, pytest.raises(IntegrityError):
        connection.execute(insert, {"id": 9, "sha256": "bb", "at": "2026-03-21T08:30:00", "zone": "+01:00"})
    database.close()


def test_figures_of_stored_results_are_filled_from_their_json(url: URL) -> None:
    database = Database(url)
    database.upgrade()
    few = fit_json(coupling_facility="CF02", state="too_little", reason="One size.", points=4)
    limits = [crossing_json("85 %", 111_411, 20, 27, 40), crossing_json("SIZE", 131_072, None, 60, None)]
    past = {**crossing_json("70 %", 90_000, None, None, None), "state": "already_crossed"}
    store_night(
        database,
        curves=[fit_json(base_mib=18.5, bundle=2150.0), few],
        forecasts=[
            forecast_json(structure="LIMITS", crossings=limits),
            forecast_json(
                structure="PAST", crossings=[*limits, {**past, "probability_within_horizon": None}]
            ),
            forecast_json(structure="SHORT", state="too_short"),
        ],
    )
    curves = text("SELECT base_bytes, bundle_bytes, points FROM fitted_curves ORDER BY id")
    forecasts = text("SELECT probability, growth_per_30_days FROM forecasts ORDER BY structure")

    def figures() -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
        with database.engine.connect() as connection:
            return (
                [tuple(row) for row in connection.execute(curves)],
                [tuple(row) for row in connection.execute(forecasts)],
            )

    stored = figures()
    assert stored == (
        [(18.5 * 2**20, 2150.0, 11), (None, None, 3)],
        [(0.95, 0.081), (None, 0.081), (None, None)],
    )
    database.downgrade("f6a2c8d4b1e9")
    database.upgrade()
    assert figures() == stored
    database.close()


def test_downgrade_maps_the_state_of_policies_that_earlier_versions_do_not_know(url: URL) -> None:
    database = Database(url, migrates=True)
    database.prepare()
    states = ("activated", "unconfirmed", "verified")
    with database.session(writes=True) as session:
        for state in states:
            session.add(
                AppliedPolicy(
                    connection="PLEX1", policy=state[:8].upper(), base="CFRM01", plan="P", version=1, state=state,
                    body="{}", sent_at=utc_now(), changed_at=utc_now(), author="planner",
                )
            )  # fmt: skip
    database.downgrade("c4f1a9d7e2b5")
    with database.engine.connect() as connection:
        found = connection.scalars(text("SELECT state FROM applied_policies ORDER BY id")).all()
    assert found == ["activated", "activating", "verified"]
    database.upgrade()
    database.close()


def test_several_databases_are_migrated_concurrently_in_one_process(tmp_path: Path) -> None:
    databases = [Database(database_url("", data_dir=tmp_path / str(number))) for number in range(6)]
    with ThreadPoolExecutor(len(databases)) as threads:
        list(threads.map(Database.prepare, databases))
    assert len({database.revision() for database in databases}) == 1
    for database in databases:
        database.close()
