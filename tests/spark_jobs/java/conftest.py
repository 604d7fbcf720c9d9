"""Fixtures for the tests of Java and Spark."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def path_without_java(tmp_path: Path) -> Path:
    """Return a folder for the whole PATH, with every program of this machine except java."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in os.get_exec_path():
        if not Path(folder).is_dir():
            continue
        for program in Path(folder).iterdir():
            link = programs / program.name
            if not program.name.startswith("java") and not link.is_symlink():
                link.symlink_to(program)
    assert shutil.which("java", path=str(programs)) is None
    assert shutil.which("bash", path=str(programs)) is not None
    return programs


@pytest.fixture
def fake_java(tmp_path: Path) -> FakeJava:
    """Return a factory of Java homes whose java is a shell script."""
    return FakeJava(tmp_path)


class FakeJava:
    """Java homes with configured answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, *, version: str, has_vector_module: bool = True) -> Path:
        """Return a new home whose java reports `version`."""
        home = self.folder / name
        refusal = "" if has_vector_module else 'case "$*" in *jdk.incubator.vector*) exit 1;; esac\n'
        return self.script(
            name,
            f"{refusal}"
            "case \"$*\" in *-version*) cat >&2 <<'END'\n"
            "Picked up JAVA_TOOL_OPTIONS: -Dx=y\n"
            "Property settings:\n"
            f"    java.home = {home}\n"
            f"    java.specification.version = {version}\n"
            "END\n"
            "exit 0;; esac\n"
            'printf "%s\\n" "$@"\n',
        )

    def script(self, name: str, text: str) -> Path:
        """Return a new home whose java is this shell script."""
        home = self.folder / name
        java = home / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text("#!/bin/sh\n" + text, encoding="utf-8")
        java.chmod(0o755)
        return home
