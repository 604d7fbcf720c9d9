"""The commands of the Makefile, with a Python that only pretends to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packaging.pins import ROOT

# Stands for python3 and for .venv/bin/python. It writes down every pip call, and fails those that install from the
# file named in $BREAK. Made into a virtual environment, it has a cfplan that tells how it was called.
PRETENDER = r"""#!/bin/sh
case "$*" in
  *version_info*) exit "${TOO_OLD:-0}" ;;
  *ensurepip*) exit "${NO_VENV:-0}" ;;
  "-m venv --clear .venv")
    mkdir -p .venv/bin && cp "$0" .venv/bin/python && echo "made .venv" >> log
    printf '#!/bin/sh\necho cfplan "$@"\n' > .venv/bin/cfplan && chmod +x .venv/bin/cfplan ;;
  "-m pip install"*)
    echo "$*" >> log
    if [ -n "$BREAK" ]; then case "$*" in *"$BREAK"*) exit 1 ;; esac; fi ;;
esac
exit 0
"""


@dataclass(frozen=True)
class Tree:
    """A copy of the files that the Makefile needs, with nothing installed."""

    folder: Path

    def make(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("MAKE", "MFLAGS", "PYTHON", "PORT", "CFPLAN_"))
        }
        return subprocess.run(
            ["make", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env={**kept, "PATH": f"{self.folder / 'programs'}{os.pathsep}{os.environ['PATH']}", **environ},
        )

    def installed(self) -> list[str]:
        """Return the installations since the last call, in order."""
        log = self.folder / "log"
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [re.sub(r".*?(?:requirements/(\w+)\.txt|(--editable) \.)$", r"\1\2", line) for line in lines]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    python = tmp_path / "programs" / "python3"
    python.parent.mkdir()
    python.write_text(PRETENDER, encoding="utf-8")
    python.chmod(0o755)
    return Tree(tmp_path)


def test_help_lists_every_command() -> None:
    listed = subprocess.run(
        ["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for command in ("run", "setup", "test", "soak", "bench", "check", "format", "findings", "pins", "clean"):
        assert re.search(rf"^  make {command} +\S", listed, re.MULTILINE), command


def test_make_run_installs_web_requirements_and_serves(tree: Tree) -> None:
    finished = tree.make("run", "PORT=8123")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines()[-1] == "cfplan serve --port 8123"
    assert tree.installed() == ["made .venv", "build", "web", "--editable"]


def test_make_run_serves_on_port_8000_by_default(tree: Tree) -> None:
    assert tree.make("run").stdout.splitlines()[-1] == "cfplan serve --port 8000"


def test_make_run_serves_on_the_port_of_the_settings(tree: Tree) -> None:
    assert tree.make("run", CFPLAN_PORT="9000").stdout.splitlines()[-1] == "cfplan serve --port 9000"
    assert (
        tree.make("run", "PORT=8123", CFPLAN_PORT="9000").stdout.splitlines()[-1]
        == "cfplan serve --port 8123"
    )


def test_make_setup_installs_everything_and_the_web_requirements_first(tree: Tree) -> None:
    assert tree.make("setup").returncode == 0
    assert tree.installed() == ["made .venv", "build", "web", "--editable", "mcp", "dev", "spark"]


def test_second_make_setup_installs_nothing(tree: Tree) -> None:
    assert tree.make("setup").returncode == 0
    tree.installed()
    assert tree.make("setup").returncode == 0
    assert tree.installed() == []


def test_every_installation_requires_hashes_and_uses_no_build_isolation(tree: Tree) -> None:
    assert tree.make("setup").returncode == 0
    calls = [line for line in (tree.folder / "log").read_text(encoding="utf-8").splitlines() if "pip" in line]
    assert calls
    for call in calls:
        assert "--no-build-isolation" in call
        assert "--require-hashes" in call or "--no-index --no-deps" in call or "--no-deps --no-index" in call


@pytest.mark.parametrize("step", ["build", "web", "mcp", "dev", "spark"])
def test_failed_installation_is_retried(tree: Tree, step: str) -> None:
    failed = tree.make("setup", BREAK=f"requirements/{step}.txt")
    assert failed.returncode != 0
    assert tree.installed()[-1] == step
    assert tree.make("setup").returncode == 0
    assert tree.installed()[0] == step
    assert tree.make("setup").returncode == 0
    assert tree.installed() == []


def test_changed_pins_are_installed(tree: Tree) -> None:
    assert tree.make("setup").returncode == 0
    tree.installed()
    done = tree.folder / ".venv" / ".done" / "spark"
    later = done.stat().st_mtime + 1
    os.utime(tree.folder / "requirements" / "spark.txt", (later, later))
    assert tree.make("setup").returncode == 0
    assert tree.installed() == ["spark"]


def test_moved_environment_is_recreated(tree: Tree) -> None:
    assert tree.make("run").returncode == 0
    moved = Tree(tree.folder.with_name("moved"))
    tree.folder.rename(moved.folder)
    moved.installed()
    assert moved.make("run").returncode == 0
    assert moved.installed() == ["made .venv", "build", "web", "--editable"]


def test_environment_without_its_python_is_recreated(tree: Tree) -> None:
    assert tree.make("run").returncode == 0
    tree.installed()
    (tree.folder / ".venv" / "bin" / "python").unlink()
    assert tree.make("run").returncode == 0
    assert tree.installed()[0] == "made .venv"


def test_python_that_is_too_old_is_refused_with_a_message(tree: Tree) -> None:
    finished = tree.make("run", "PYTHON=python3", TOO_OLD="1")
    assert finished.returncode != 0
    assert "cfplan needs Python 3.11 or newer; looked for: python3." in finished.stderr
    assert tree.installed() == []


def test_missing_python_is_refused_with_a_message(tree: Tree) -> None:
    finished = tree.make("run", "PYTHON=python-of-nobody")
    assert finished.returncode != 0
    assert "looked for: python-of-nobody." in finished.stderr


def test_python_without_venv_is_refused_with_the_package_to_install(tree: Tree) -> None:
    finished = tree.make("run", "PYTHON=python3", NO_VENV="1")
    assert finished.returncode != 0
    assert "python3 has no venv module" in finished.stderr
    assert "apt-get install python3-venv" in finished.stderr


def test_check_before_a_merge_runs_make_test() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [line for line in script.splitlines() if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == ['export PYTEST_ADDOPTS="--reruns=1 ${PYTEST_ADDOPTS:-}"', "exec make test"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_make_recipes_do_not_hide_a_pytest_failure() -> None:
    recipes = re.findall(r"^\t.*-m pytest.*$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(recipes) == 2
    assert not [recipe for recipe in recipes if "||" in recipe]
