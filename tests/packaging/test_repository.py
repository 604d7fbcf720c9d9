"""Content that is forbidden in the repository: hosts of registries, lock files, and paths of a developer's machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.packaging.pins import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# Written in pieces, so that this file does not hold what it looks for.
REGISTRY_HOSTS = tuple(
    "".join(pieces)
    for pieces in [
        ("py", "pi.org"),
        ("python", "hosted.org"),
        ("registry.npm", "js.org"),
        ("registry.yarn", "pkg.com"),
        ("deb.", "debian.org"),
        ("archive.", "ubuntu.com"),
        ("repo1.", "maven.org"),
        ("repo.maven.", "apache.org"),
        ("conda.", "anaconda.org"),
        ("proxy.", "golang.org"),
        ("docker", ".io"),
        ("gh", "cr.io"),
        ("cdn.js", "delivr.net"),
        ("un", "pkg.com"),
        ("cdnjs.cloud", "flare.com"),
    ]
)

LOCK_FILES = re.compile(
    r"(uv|poetry|pdm|Pipfile|Cargo|conda)[.-]lock|pylock.*\.toml|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml"
)

MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:home|Users|root|work)/[\w.]|[A-Za-z]:\\Users\\")

IGNORED_FOLDERS = {".git", ".venv", "data", "build", "__pycache__"}


def tracked_files() -> list[Path]:
    """Return the files of the repository, or of the folder without a repository."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        paths = [ROOT / name for name in listed.decode().split("\0") if name]
    else:
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(
                part in IGNORED_FOLDERS or part.endswith("cache") for part in path.relative_to(ROOT).parts
            )
        ]
    return [path for path in paths if path.is_file()]


def faults_of(text: str) -> list[str]:
    """Return the forbidden parts of a text."""
    hosts = [host for host in REGISTRY_HOSTS if host in text.lower()]
    return [*hosts, *(match.group() for match in MACHINE_PATH.finditer(text))]


def test_no_file_contains_a_registry_or_a_path_of_a_developers_machine() -> None:
    faults = {}
    for path in tracked_files():
        found = faults_of(path.read_bytes().decode("utf-8", errors="replace"))
        if found:
            faults[str(path.relative_to(ROOT))] = found
    assert faults == {}


@pytest.mark.parametrize("host", REGISTRY_HOSTS)
def test_registry_host_is_detected(host: str) -> None:
    assert host in faults_of(f'index = "https://{host.upper()}/simple"')


@pytest.mark.parametrize("folder", ["home", "Users", "root", "work"])
@pytest.mark.parametrize("text", ["{}x/y", "see {}x", '"{}.cache"', "file://{}x"])
def test_machine_path_is_detected(folder: str, text: str) -> None:
    assert faults_of(text.format(f"/{folder}/"))


@pytest.mark.parametrize(
    "text",
    [
        "static/home/x",
        "the work/rest ratio",
        "/workload",
        "~/root/x",
        "tree.root/x",
        "GET /homepage",
        "../home/x",
    ],
)
def test_text_that_resembles_a_machine_path_is_accepted(text: str) -> None:
    assert faults_of(text) == []


def test_repository_has_no_lock_file() -> None:
    assert [path for path in tracked_files() if LOCK_FILES.fullmatch(path.name)] == []


@pytest.mark.parametrize(
    "name", ["uv.lock", "pylock.toml", "pylock.dev.toml", "package-lock.json", "poetry.lock"]
)
def test_lock_file_is_detected(name: str) -> None:
    assert LOCK_FILES.fullmatch(name)


def test_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
