"""docker-compose.yml limits what its services can use and reach."""

from __future__ import annotations

import re
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from app.settings import Settings
from tests.deployment.nginx import CONFIGURATION
from tests.packaging.dockerfile import read_dockerfile
from tests.packaging.pins import ROOT

TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = YAML(typ="safe").load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PREPARE = ROOT / "deploy" / "prepare.sh"


def default_of(value: str) -> str:
    """Return a value with the defaults of its variables."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


def test_production_is_proxy_application_and_database() -> None:
    assert {name for name, service in SERVICES.items() if "profiles" not in service} == {"proxy", "web", "db"}


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_no_rights_that_it_does_not_need(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not [volume for volume in service.get("volumes", []) if "docker.sock" in volume]


@pytest.mark.parametrize("name", SERVICES)
def test_service_does_not_run_as_root(name: str) -> None:
    """Images of cfplan name their user themselves."""
    service = SERVICES[name]
    user = str(service.get("user", ""))
    if "build" in service:
        users = [each.value for each in read_dockerfile(ROOT / "Dockerfile") if each.name == "USER"]
        user = users[-1]
    assert user.split(":")[0] not in ("", "0", "root")


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_limits_for_processor_memory_processes_and_log(name: str) -> None:
    service = SERVICES[name]
    limits = service["deploy"]["resources"]["limits"]
    assert float(default_of(limits["cpus"])) > 0
    assert re.fullmatch(r"\d+[MG]", default_of(limits["memory"]))
    assert 0 < service["pids_limit"] <= 1024
    assert {"max-size", "max-file"} <= service["logging"]["options"].keys()
    assert service["restart"] == "unless-stopped"


def test_only_the_proxy_publishes_ports() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    listened = re.findall(r"^ +listen (\d+)", CONFIGURATION.read_text(encoding="utf-8"), re.MULTILINE)
    assert {port.rsplit(":", 1)[1] for port in SERVICES["proxy"]["ports"]} == set(listened)


def test_database_is_reached_only_over_a_network_that_leads_nowhere_else() -> None:
    (network,) = SERVICES["db"]["networks"]
    assert COMPOSE["networks"][network]["internal"] is True
    assert network not in SERVICES["proxy"]["networks"]


def test_proxy_reaches_the_application_only_over_the_trusted_network() -> None:
    shared = SERVICES["proxy"]["networks"].keys() & SERVICES["web"]["networks"].keys()
    (network,) = shared
    (subnet,) = COMPOSE["networks"][network]["ipam"]["config"]
    trusted = SERVICES["web"]["environment"]["CFPLAN_TRUSTED_PROXIES"]
    assert trusted == subnet["subnet"], "one variable for both"
    assert Settings(trusted_proxies=default_of(trusted)).trusted_proxies == (default_of(trusted),)
    others = {name for name, each in SERVICES.items() if network in each["networks"]} - {"proxy", "web"}
    assert others == set()


def test_every_network_secret_and_volume_is_declared_and_used() -> None:
    networks = {network for service in SERVICES.values() for network in service["networks"]}
    assert networks == set(COMPOSE["networks"])
    secrets = {
        secret if isinstance(secret, str) else secret["source"]
        for service in SERVICES.values()
        for secret in service.get("secrets", [])
    }
    assert secrets == set(COMPOSE["secrets"])
    mounted = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert {source for source in mounted if not source.startswith(".")} == set(COMPOSE["volumes"])
    for source in mounted:
        assert not source.startswith(".") or (ROOT / source).is_file(), source


def test_passwords_come_from_secrets_only() -> None:
    for name, service in SERVICES.items():
        for key, value in service.get("environment", {}).items():
            if "PASSWORD" in key or "SECRET" in key:
                assert key.endswith("_FILE"), f"{name}: {key}"
                assert value.removeprefix("/run/secrets/") in service["secrets"], f"{name}: {value}"


def test_images_can_be_replaced_by_a_digest() -> None:
    for name, service in SERVICES.items():
        if "build" not in service:
            assert re.fullmatch(r"\$\{[A-Z]+_IMAGE:-[a-z]+:[0-9][\w.-]*\}", service["image"]), name
    built = [service["build"] for service in SERVICES.values() if "build" in service]
    assert built
    bases = [each.value for each in read_dockerfile(ROOT / "Dockerfile") if each.name == "FROM"]
    assert all(base.split()[0] == "${PYTHON_IMAGE}" for base in bases)
    (argument,) = [each.value for each in read_dockerfile(ROOT / "Dockerfile") if each.name == "ARG"]
    for build in built:
        assert default_of(build["args"]["PYTHON_IMAGE"]) == argument.removeprefix("PYTHON_IMAGE=")


def test_variables_without_a_default_state_what_to_set() -> None:
    for variable in re.findall(r"(?<!\$)\$\{?[A-Za-z_][^}\s\"]*\}?", TEXT):
        assert ":-" in variable or ":?" in variable, variable


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """Return the folder of the secrets that the script makes."""
    script = tmp_path / "deploy" / PREPARE.name
    script.parent.mkdir()
    script.write_bytes(PREPARE.read_bytes())
    script.chmod(0o755)
    finished = subprocess.run(
        [script, "cfplan.example.com"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert finished.returncode == 0, finished.stderr
    return script.parent / "secrets"


def test_script_makes_all_secrets_that_only_containers_and_the_owner_read(prepared: Path) -> None:
    declared = {Path(secret["file"]) for secret in COMPOSE["secrets"].values()}
    assert {Path("deploy/secrets") / file.name for file in prepared.iterdir()} == declared
    assert stat.S_IMODE(prepared.stat().st_mode) == 0o700
    # The containers run as other users.
    assert {stat.S_IMODE(file.stat().st_mode) for file in prepared.iterdir()} == {0o444}
    passwords = [(prepared / name).read_text() for name in ("db_password", "db_admin_password")]
    assert all(re.fullmatch(r"[0-9a-f]{64}", password) for password in passwords)
    assert len(set(passwords)) == 2


def test_script_replaces_nothing(prepared: Path) -> None:
    before = {file.name: file.read_bytes() for file in prepared.iterdir()}
    script = prepared.parent / PREPARE.name
    assert subprocess.run([script, "other.example.com"], check=False, capture_output=True).returncode == 0
    assert {file.name: file.read_bytes() for file in prepared.iterdir()} == before


def test_secrets_are_not_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/deploy/secrets/" in ignored


def test_health_check_of_the_database_asks_as_the_application_does() -> None:
    command = shlex.join(SERVICES["db"]["healthcheck"]["test"])
    assert "pg_isready" in command
    assert "--username=cfplan --dbname=cfplan" in command
