"""The Dockerfile and docker-compose.yml refer only to existing files and settings, and their commands work.

tests/deployment/ tests the other services of docker-compose.yml, and how all of them are protected.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from app.database.engine import database_url
from app.main import create_app
from app.settings import Settings
from spark_jobs.session import DRIVER_HOST_VARIABLE
from spark_jobs.standalone import PARTS
from tests.packaging.dockerfile import Instruction, environment, last, read_dockerfile
from tests.packaging.pins import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTRUCTIONS = read_dockerfile(ROOT / "Dockerfile")
COMPOSE: dict[str, Any] = YAML(typ="safe").load(ROOT / "docker-compose.yml")
BIN = Path(sys.executable).parent


def instructions_named(name: str) -> list[Instruction]:
    return [instruction for instruction in INSTRUCTIONS if instruction.name == name]


def copied_from_the_tree() -> list[str]:
    """Return the paths that COPY takes from the build context."""
    copies = [copy for copy in instructions_named("COPY") if "--from=" not in copy.value]
    return [source.rstrip("/") for copy in copies for source in copy.words[:-1]]


def test_copied_files_exist_and_are_in_the_build_context() -> None:
    kept = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    sources = copied_from_the_tree()
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert source.split("/")[0] in kept, f"{source} is left out by .dockerignore"
    assert kept == {source.split("/")[0] for source in sources}, "what .dockerignore keeps is what is copied"


def test_requirements_files_are_copied_before_they_are_installed() -> None:
    copied: set[str] = set()
    installed = []
    for instruction in INSTRUCTIONS:
        if instruction.name == "COPY":
            copied.update(instruction.words[:-1])
        if instruction.name == "RUN":
            for name in re.findall(r"-r (\S+)", instruction.value):
                assert name in copied, name
                assert "--require-hashes" in instruction.value
                installed.append(name)
    assert installed == ["requirements/build.txt", "requirements/web.txt", "requirements/spark.txt"]


def test_every_installation_requires_hashes_or_no_index() -> None:
    installs = [run.value for run in instructions_named("RUN") if "pip install" in run.value]
    assert installs
    for install in installs:
        assert "--no-build-isolation" in install
        assert "--require-hashes" in install or "--no-index" in install


def test_packages_of_the_service_are_copied() -> None:
    copied = set(copied_from_the_tree())
    assert {"app", "migrations", "planner_core", "spark_jobs", "templates", "static", "docs"} <= copied


def test_packages_of_the_service_are_compiled() -> None:
    (options,) = [run.words for run in instructions_named("RUN") if "compileall" in run.words]
    _, _, folders = " ".join(options).partition(" unchecked-hash ")
    packages = {source for source in copied_from_the_tree() if any((ROOT / source).glob("**/*.py"))}
    assert set(folders.split()) == packages - {"requirements"}


def test_entry_point_is_a_script_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workdir = last(INSTRUCTIONS, "WORKDIR").value
    (program,) = last(INSTRUCTIONS, "ENTRYPOINT").argv
    assert Path(program).parent == Path(workdir) / ".venv" / "bin"
    assert Path(program).name in project["scripts"]
    assert (BIN / Path(program).name).exists()


def started_commands() -> list[list[str]]:
    """Return the arguments of the program: from CMD, and from the services built here."""
    services = [
        service
        for service in COMPOSE["services"].values()
        if "build" in service and "entrypoint" not in service
    ]
    assert services
    return [
        last(INSTRUCTIONS, "CMD").argv,
        *(service["command"] for service in services if "command" in service),
    ]


def test_started_subcommands_and_their_options_exist() -> None:
    for command in started_commands():
        subcommand, *options = command
        shown = subprocess.run(
            [BIN / "cfplan", subcommand, "--help"], capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, shown.stderr
        assert "usage: cfplan" in shown.stdout
        for option in options:
            assert not option.startswith("--") or option.split("=")[0] in shown.stdout, option


def test_spark_master_and_workers_are_started_by_a_module_of_the_project() -> None:
    """tests/spark_jobs/cluster runs them with the same module."""
    parts = {name: COMPOSE["services"][name] for name in ("spark-master", "spark-worker")}
    for name, service in parts.items():
        python, dash_m, module = service["entrypoint"]
        assert Path(python).parent == Path(last(INSTRUCTIONS, "WORKDIR").value) / ".venv" / "bin"
        assert dash_m == "-m"
        assert importlib.util.find_spec(module) is not None
        assert PARTS[service["command"][0]].lower().endswith(name.removeprefix("spark-"))
        assert service["profiles"] == ["cluster"]
    master = dict(itertools.pairwise(parts["spark-master"]["command"]))
    assert parts["spark-worker"]["command"][-1] == f"spark://{master['--host']}:{master['--port']}"
    assert master["--host"] in COMPOSE["services"]


def test_workers_mount_the_data_of_the_service() -> None:
    mounted = set(COMPOSE["services"]["web"]["volumes"])
    assert mounted == set(COMPOSE["services"]["spark-worker"]["volumes"])
    assert f"data:{environment(INSTRUCTIONS)['CFPLAN_DATA_DIR']}" in mounted
    assert variables_of("web")[DRIVER_HOST_VARIABLE] in COMPOSE["services"]


def variables_of(service: str) -> dict[str, str]:
    return {key: str(value) for key, value in COMPOSE["services"][service].get("environment", {}).items()}


def test_environment_contains_only_settings_of_the_service() -> None:
    made = {key for key in {**environment(INSTRUCTIONS), **variables_of("web")} if key.startswith("CFPLAN_")}
    assert made
    assert made <= {f"CFPLAN_{name.upper()}" for name in Settings.model_fields} | {DRIVER_HOST_VARIABLE}


def test_settings_in_the_environment_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in {**environment(INSTRUCTIONS), **variables_of("web")}.items():
        # Compose puts the default in where the operator gives no value.
        value = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        monkeypatch.setenv(key, re.sub(r"\$\{CFPLAN_HOST_NAME:\?[^}]*\}", "cfplan.example.com", value))
    settings = Settings()
    assert settings.host == "0.0.0.0"  # noqa: S104 - every address of the container
    assert set(settings.accepted_hosts) == {"127.0.0.1", "cfplan.example.com"}


def test_plans_are_stored_in_the_database_of_the_compose_file() -> None:
    """tests/deployment/test_database.py creates this database as the image of PostgreSQL does."""
    web = variables_of("web")
    url = database_url(web["CFPLAN_DATABASE_URL"], data_dir=Path("unused"))
    assert url.drivername == "postgresql+psycopg"
    assert url.host in COMPOSE["services"]
    assert url.password is None, "a password in a URL is seen where URLs are seen"
    assert COMPOSE["services"]["web"]["depends_on"] == {url.host: {"condition": "service_healthy"}}
    assert "healthcheck" in COMPOSE["services"][url.host]
    assert "--migrate" in COMPOSE["services"]["web"]["command"]


def test_image_and_proxy_use_the_same_port() -> None:
    port = environment(INSTRUCTIONS)["CFPLAN_PORT"]
    assert last(INSTRUCTIONS, "EXPOSE").words == [port]
    proxy = (ROOT / "deploy" / "nginx" / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"^ +server (\S+);$", proxy, re.MULTILINE) == [f"web:{port}"]


def test_data_is_on_a_volume_that_the_user_owns() -> None:
    folder = environment(INSTRUCTIONS)["CFPLAN_DATA_DIR"]
    assert last(INSTRUCTIONS, "VOLUME").words == [folder]
    assert f"data:{folder}" in COMPOSE["services"]["web"]["volumes"]
    assert any(run.value.rstrip().endswith(f"--group cfplan {folder}") for run in instructions_named("RUN"))


def test_service_does_not_run_as_root() -> None:
    user = last(INSTRUCTIONS, "USER").value
    assert user not in {"root", "0"}
    assert any(re.search(rf"useradd .*\b{user}\b", run.value) for run in instructions_named("RUN"))


def test_health_check_requests_an_existing_path() -> None:
    _, _, code = last(INSTRUCTIONS, "HEALTHCHECK").argv
    asked = re.findall(r"'GET', '([^']+)'", code)
    assert asked == ["/healthz"]
    assert asked[0] in create_app(Settings()).openapi()["paths"]


def free_port() -> int:
    """Return a port below the ephemeral ones, so that no client gets it in the meantime."""
    for port in range(20000 + os.getpid() % 10000, 32000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    pytest.fail("no port is free")


def is_healthy(environ: dict[str, str]) -> bool:
    python, *arguments = last(INSTRUCTIONS, "HEALTHCHECK").argv
    assert python == ".venv/bin/python"
    return (
        subprocess.run([sys.executable, *arguments], capture_output=True, check=False, env=environ).returncode
        == 0
    )


@contextmanager
def started(environ: dict[str, str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service as the image starts it until the block ends."""
    command = [str(BIN / "cfplan"), *last(INSTRUCTIONS, "CMD").argv]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


def test_image_command_serves_and_passes_its_health_check(tmp_path: Path) -> None:
    environ = {
        **{key: value for key, value in os.environ.items() if not key.startswith("CFPLAN_")},
        **environment(INSTRUCTIONS),
        "CFPLAN_DATA_DIR": str(tmp_path / "data"),
        "CFPLAN_HOST": "127.0.0.1",
        "CFPLAN_PORT": str(free_port()),
    }
    assert not is_healthy(environ), "nothing listens yet"
    with started(environ, tmp_path) as process:
        give_up_at = time.monotonic() + 60
        while not is_healthy(environ):
            log = (tmp_path / "log").read_text(encoding="utf-8", errors="replace")
            assert process.poll() is None, f"the service ended: {log}"
            assert time.monotonic() < give_up_at, f"not healthy in a minute: {log}"
            time.sleep(0.2)
    assert not is_healthy(environ), "it was stopped"
