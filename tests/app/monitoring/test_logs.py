from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app import logs
from app.actor import LOCAL, Actor, ActorKind, Role, acting_as
from app.settings import LogFormat, LogLevel, Settings
from tests.app.monitoring.logging_support import configured, standard_error

ROOT = Path(__file__).parents[3]
HOSTILE = (
    "a\nb",
    "a\r\n2026-01-01T00:00:00.000Z INFO cfplan forged",
    "\x1b[2J\x1b[31mred",
    "\x00\x07\x08\x7f",
    "\x9b31mC1",
    "a\u2028b\u2029c\x85d",
    "\u202egnp.exe",
    "\ud800 lone surrogate",
    '" user=admin status=200',
    "\\n",
)
"""Texts that would add a line, change the screen of a terminal, or look like other fields."""
logger = logging.getLogger("cfplan.test")


@pytest.fixture(params=list(LogFormat))
def log_format(request: pytest.FixtureRequest) -> Iterator[LogFormat]:
    chosen: LogFormat = request.param
    with configured(Settings(log_format=chosen)):
        yield chosen


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_outside_adds_no_line_and_no_control_character(
    text: str, log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    with logs.in_request("r1"), acting_as(Actor(text, ActorKind.USER, Role.VIEWER)):
        logger.warning("name %s", text, extra={logs.FIELDS: {"path": text}})
    written = standard_error(capsys)
    assert written.endswith("\n")
    line = written[:-1]
    assert line.isprintable()
    assert line.splitlines() == [line]
    if log_format is LogFormat.JSON:
        record = json.loads(line)
        assert (record["user"], record["path"], record["message"]) == (text, text, f"name {text}")


def test_value_with_spaces_or_quotes_cannot_be_read_as_several_fields(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with configured(Settings()), acting_as(Actor('x" status=200', ActorKind.USER, Role.VIEWER)):
        logger.warning("message")
    assert 'user="x\\" status=200" message' in standard_error(capsys)


@pytest.mark.parametrize("text", HOSTILE)
def test_traceback_is_part_of_its_record(
    text: str, log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise RuntimeError(text)
    except RuntimeError:
        logger.exception("it failed")
    first, *more = standard_error(capsys).rstrip("\n").split("\n")
    assert "it failed" in first
    assert all(line.isprintable() and line.startswith(logs.CONTINUED) for line in more)
    if log_format is LogFormat.JSON:
        assert more == []
        assert f"RuntimeError: {text}".encode(errors="replace") in json.loads(first)["traceback"].encode(
            errors="replace"
        )
    else:
        assert "RuntimeError" in more[-1] or "RuntimeError" in "".join(more)


def test_record_has_time_level_request_user_and_job(capsys: pytest.CaptureFixture[str]) -> None:
    before = datetime.now(UTC)
    with configured(Settings(log_format="json")), logs.in_request("abc"), logs.in_job(7), acting_as(LOCAL):
        logger.info("hello %d", 1)
    record = json.loads(standard_error(capsys))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["time"])
    assert 0 <= (datetime.fromisoformat(record["time"]) - before).total_seconds() + 0.001 < 60
    wanted = {"level": "info", "logger": "cfplan.test", "message": "hello 1", "request_id": "abc", "user": "local", "job": 7}  # fmt: skip
    assert wanted.items() <= record.items()


def test_text_line_begins_with_time_level_and_logger(capsys: pytest.CaptureFixture[str]) -> None:
    with configured(Settings()), logs.in_request("abc"):
        logger.info("hello")
    assert re.fullmatch(r"\S+Z INFO cfplan\.test request_id=abc hello\n", standard_error(capsys))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgresql://cfplan:hunter22@db/cfplan", "hunter22"),
        ("Authorization: Bearer cfp_abcdef0123456789", "cfp_abcdef0123456789"),
        ("authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
        ("Cookie: cfplan_session=abcdef", "abcdef"),
        ("connect(password='hunter22')", "hunter22"),
        ('{"client_secret": "hunter22"}', "hunter22"),
        ("the password of the settings: from-settings", "from-settings"),
        ("the key of the environment: from-environment", "from-environment"),
        ("the key of the object store: from-history", "from-history"),
        ("the password of the file: from-password-file", "from-password-file"),
        ("the secret of the client: from-client-secret", "from-client-secret"),
    ],
)
def test_secrets_are_not_logged(
    text: str,
    secret: str,
    log_format: LogFormat,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "password").write_text("from-password-file\n")
    (tmp_path / "client").write_text("from-client-secret\n")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "from-environment")
    settings = Settings(
        log_format=log_format,
        database_url="postgresql://cfplan:from-settings@db.example.com/cfplan",
        database_password_file=str(tmp_path / "password"),
        oidc_client_secret_file=str(tmp_path / "client"),
        history_url="s3://bucket/history?secret_access_key=from-history",
    )
    with configured(settings):
        try:
            raise RuntimeError(text)
        except RuntimeError:
            logger.exception("%s", text, extra={logs.FIELDS: {"path": text}})
    written = standard_error(capsys)
    assert secret not in written
    assert logs.HIDDEN in written


@pytest.mark.parametrize(
    "text", ["", "a plan: SQ03 = 1 GiB", "http://127.0.0.1:8000/plans", "12:30:45", "tokens: 3"]
)
def test_ordinary_text_is_logged_unchanged(text: str) -> None:
    assert logs.without_secrets(text) == text


def test_level_applies_to_cfplan_and_not_to_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    with configured(Settings(log_level=LogLevel.DEBUG)):
        for name in ("cfplan.x", "httpx", "alembic.runtime", "some.library"):
            logging.getLogger(name).debug("from %s", name)
            logging.getLogger(name).info("from %s", name)
    written = standard_error(capsys)
    assert "from cfplan.x" in written
    # httpx logs addresses with their queries at INFO, which contain codes of the sign-in.
    assert not re.search("httpx|alembic|library", written)


def test_error_level_hides_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    with configured(Settings(log_level=LogLevel.ERROR)):
        logger.warning("not shown")
        logging.getLogger("some.library").warning("not shown")
        logger.error("shown")
    assert standard_error(capsys).count("shown") == 1


def test_very_long_texts_are_cut(log_format: LogFormat, capsys: pytest.CaptureFixture[str]) -> None:
    logger.warning("x" * 1_000_000, extra={logs.FIELDS: {"path": "y" * 1_000_000}})
    written = standard_error(capsys)
    assert len(written) < 3 * logs.LONGEST_TEXT
    assert "more characters" in written


@pytest.mark.parametrize(
    "part", ["a.", "a-", "a://", "a:", "a://b:c", "bearer ", "password ", "session:", "_"]
)
def test_search_for_secrets_takes_linear_time(part: str) -> None:
    text = f" :{part * (256_000 // len(part))}"
    before = time.thread_time()
    logs.without_secrets(text)
    assert time.thread_time() - before < 60  # squared, it would take ten minutes


def test_secret_at_the_end_of_the_searched_part_is_not_logged(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    many = " ".join(["password=" + "x" * 100] * 200)
    for moved in range(0, 100, 7):
        logger.warning("%s", " " * moved + many)
    written = standard_error(capsys)
    assert "xxx" not in written
    assert logs.HIDDEN in written


def test_configuring_twice_logs_once(capsys: pytest.CaptureFixture[str]) -> None:
    with configured(Settings()):
        logs.configure(Settings())
        logger.warning("once")
    assert standard_error(capsys).count("once") == 1


def test_stored_settings_reach_the_processes_of_jobs(tmp_path: Path) -> None:
    environment = Settings(
        data_dir=tmp_path, log_format="json", log_level="debug", access_log="all"
    ).as_environment()
    assert environment["CFPLAN_LOG_FORMAT"] == "json"
    assert environment["CFPLAN_LOG_LEVEL"] == "debug"
    assert environment["CFPLAN_ACCESS_LOG"] == "all"


def test_command_logs_in_the_format_of_the_settings_from_its_first_warning(tmp_path: Path) -> None:
    program = (
        "import logging\n"
        "from app.database.engine import open_database\n"
        "with open_database():\n"
        "    logging.getLogger('cfplan.test').info('not shown')\n"
        "    logging.getLogger('cfplan.test').warning('one')\n"
        "    logging.getLogger('cfplan.test').warning('two')\n"
    )
    environment = {**os.environ, "CFPLAN_DATA_DIR": str(tmp_path), "CFPLAN_LOG_FORMAT": "json"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["one", "two"]


def test_uncaught_errors_of_a_process_are_records(tmp_path: Path) -> None:
    program = (
        "import threading\n"
        "from app import logs\n"
        "from app.settings import Settings\n"
        "logs.configure(Settings())\n"
        "logs.log_uncaught_errors()\n"
        "def fail(): raise ValueError('in thread')\n"
        "thread = threading.Thread(target=fail, name='worker')\n"
        "thread.start()\n"
        "thread.join()\n"
        "raise RuntimeError('in main')\n"
    )
    environment = {**os.environ, "CFPLAN_LOG_FORMAT": "json"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    in_thread, in_main = [json.loads(line) for line in done.stderr.splitlines()]
    assert "ValueError: in thread" in in_thread["traceback"]
    assert "RuntimeError: in main" in in_main["traceback"]
    assert (in_thread["level"], in_main["level"]) == ("error", "critical")


def test_records_of_threads_that_start_jobs_are_not_those_of_a_test(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise RuntimeError
    except RuntimeError:
        logging.getLogger("cfplan.jobs").exception("A process is started.")
    logger.warning("kept: cfplan.jobs")
    logging.getLogger("cfplan.jobs").info("A process is started.")
    (line,) = standard_error(capsys).splitlines()
    assert "kept: cfplan.jobs" in line
