"""The basic commands load neither web nor Spark modules, to start quickly; nothing is timed here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = (
    "fastapi",
    "starlette",
    "uvicorn",
    "jinja2",
    "pydantic_settings",
    "pyspark",
    "pyarrow",
    "pandas",
    "numpy",
    "sqlalchemy",
)

COMMANDS = {
    "structure": ["structure", "--messages", "1000", "--message-bytes", "1024", "--cfcc", "25", "--json"],
    "structure-inverse": [
        "structure",
        "--size-mib",
        "64",
        "--message-bytes",
        "1024",
        "--cfcc",
        "25",
        "--json",
    ],
    "admin": ["admin", "--queue-managers", "5", "--cfcc", "25", "--entsmax", "9000", "--json"],
    "offload": ["offload", "--size-mib", "512", "--message-bytes", "2048", "--cfcc", "14", "--json"],
    "text": ["structure", "--messages", "1000", "--message-bytes", "1024", "--cfcc", "25"],
    "usage": ["structure"],
}
HELP = (
    *((), ("structure",), ("plan",), ("serve",), ("migrate",), ("nightly",), ("simulate",), ("lint",)),
    *(("plans", "put"), ("history",), ("curves", "list"), ("smf",), ("events", "read"), ("cluster", "load")),
    *(("whatif",), ("scenarios", "save")),
)

PROGRAM = """
import json, sys
from app.cli import main
code = main(json.loads(sys.argv[1]))
print()
print(json.dumps({"code": code, "modules": sorted(name.partition(".")[0] for name in sys.modules)}))
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_quick_command_loads_neither_web_nor_spark(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(COMMANDS[command])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    said = json.loads(done.stdout.splitlines()[-1])
    assert said["code"] == (2 if command == "usage" else 0)
    assert ("planner_core" in said["modules"]) == (command != "usage")
    assert set(HEAVY) & set(said["modules"]) == set()


@pytest.mark.parametrize("path", HELP, ids=" ".join)
def test_help_loads_neither_the_core_nor_pydantic(path: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([*path, "--help"])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    said = json.loads(done.stdout.splitlines()[-1])
    assert said["code"] == 0
    assert {"planner_core", "pydantic", *HEAVY} & set(said["modules"]) == set()


def test_structure_loads_no_model_of_plans() -> None:
    script = "import sys; from app.cli import main; main(sys.argv[1:]); print('planner_core.document.model' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script, *COMMANDS["structure"]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert done.stdout.splitlines()[-1] == "False"


def test_keeper_of_an_upload_loads_no_web_framework_and_no_model_of_plans() -> None:
    """A keeper starts for each of many uploads."""
    script = (
        "import app.keeper, app.uploads.ingest_keeper, app.tables, sys; print(json.dumps(list(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import json; {script}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    modules = set(json.loads(done.stdout))
    unwanted = {
        "fastapi",
        "starlette",
        "jinja2",
        "alembic",
        "planner_core.document.model",
        "app.nightly.service",
    }
    assert unwanted & modules == set()
    assert "sqlalchemy" in modules


def test_service_loads_no_package_of_the_jobs_or_of_few_requests(tmp_path: Path) -> None:
    script = "from app.main import create_app; create_app(); print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import json, sys; {script}"],
        env={**os.environ, "CFPLAN_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    modules = set(json.loads(done.stdout))
    assert {
        "pyspark",
        "pyarrow",
        "pandas",
        "numpy",
        "scipy",
        "spark_jobs",
        "openpyxl",
        "httpx",
        # Of the schedules, the migrations, the pages of the documentation, and the declared connections.
        "apscheduler",
        "alembic",
        "markdown_it",
        "yaml",
    } & modules == set()
    assert "fastapi" in modules


@pytest.mark.parametrize("command", COMMANDS)
def test_console_script_answers_and_exits(command: str, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("cfplan")
    done = subprocess.run(
        [script, *COMMANDS[command]],
        cwd=tmp_path,
        env={"PATH": os.environ.get("PATH", "")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == (2 if command == "usage" else 0), done.stderr
    assert "Traceback" not in done.stderr
    if "--json" in COMMANDS[command]:
        assert isinstance(json.loads(done.stdout)["findings"], list)
    assert list(tmp_path.iterdir()) == [], "a calculation leaves no files behind"


def test_closed_pipe_gives_no_traceback(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("cfplan")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(
            [script, *COMMANDS["structure"]],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )

    assert "Traceback" not in done.stderr
    assert "BrokenPipeError" not in done.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_every_answer_is_printed_on_an_ascii_terminal(locale: str) -> None:
    script = Path(sys.executable).with_name("cfplan")
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": locale, "PYTHONIOENCODING": "ascii"}
    for command in ("structure", "text", "admin", "offload", "usage"):
        done = subprocess.run(
            [script, *COMMANDS[command]],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode in {0, 2}, done.stderr
        assert "Traceback" not in done.stderr
