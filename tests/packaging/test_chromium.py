"""The browser of the tests, and the behavior without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests import chromium
from tests.packaging.pins import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the whole PATH, without a named browser."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "driver_starts", lambda: True)
    return folder


def program(path: Path, text: str = "exit 0") -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_named_browser_is_preferred(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(programs / "chromium")
    named = program(tmp_path / "my-browser")
    monkeypatch.setenv("CHROMIUM", str(named))
    assert chromium.find_chromium() == named


def test_browser_on_path_is_used_without_a_named_one(programs: Path) -> None:
    assert chromium.find_chromium() is None
    on_path = program(programs / "chromium")
    assert chromium.find_chromium() == on_path


def test_browser_without_user_interface_is_preferred_if_it_starts(programs: Path) -> None:
    on_path = program(programs / "chromium")
    shell = program(programs / "chromium-headless-shell")
    assert chromium.find_chromium() == shell
    program(shell, "exit 127")
    assert chromium.find_chromium() == on_path


def test_browser_that_does_not_start_is_ignored(programs: Path) -> None:
    program(programs / "chromium", "echo 'install the snap' >&2; exit 10")
    assert chromium.find_chromium() is None


def test_named_browser_that_does_not_start_is_an_error(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(programs / "chromium")
    monkeypatch.setenv("CHROMIUM", "/nowhere/browser")
    with pytest.raises(FileNotFoundError, match="CHROMIUM names /nowhere/browser, which does not start"):
        chromium.find_chromium()


@pytest.mark.parametrize("packaged", chromium.BROWSERS)
def test_root_installs_the_missing_browser(
    packaged: str, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    program(
        programs / "apt-get",
        f'echo "$*" >> {programs}/log\n'
        f'case "$*" in *" {packaged} "*) printf "#!/bin/sh\\nexit 0\\n" > {programs}/{packaged}\n'
        f"/bin/chmod +x {programs}/{packaged};; *install*) exit 100;; esac",
    )
    assert chromium.main() == 0
    assert chromium.find_chromium() == programs / packaged
    calls = (programs / "log").read_text(encoding="utf-8").splitlines()
    tried = chromium.BROWSERS[: chromium.BROWSERS.index(packaged) + 1]
    assert [call.split()[3] for call in calls] == ["update", *("install" for _ in tried)]
    assert chromium.main() == 0
    assert (programs / "log").read_text(encoding="utf-8").splitlines() == calls, "not installed twice"


def test_root_installs_the_missing_library_of_the_driver(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(chromium, "driver_starts", lambda: (programs / "libatomic").exists())
    program(programs / "chromium")
    program(
        programs / "apt-get",
        f'case "$*" in *"install -y --no-install-recommends"*" libatomic1") : > {programs}/libatomic;; esac',
    )
    assert chromium.problem() == chromium.DRIVER_WHAT_TO_DO
    assert chromium.main() == 0
    assert chromium.problem() is None
    assert "skipped" not in capsys.readouterr().err


def test_missing_library_is_reported_by_name(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(chromium, "driver_starts", lambda: False)
    program(programs / "chromium")
    assert chromium.main() == 0
    assert "The browser tests will be skipped: Playwright's driver does not start" in capsys.readouterr().err


def test_driver_is_started_to_check_that_it_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(program(tmp_path / "python", "exit 127")))
    assert not chromium.driver_starts()
    monkeypatch.setattr(
        sys, "executable", str(program(tmp_path / "python", 'test "$*" = "-m playwright --version"'))
    )
    assert chromium.driver_starts()


def test_missing_browser_reports_that_browser_tests_are_skipped(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program(programs / "apt-get", f"echo called > {programs}/log")
    assert chromium.main() == 0
    assert not (programs / "log").exists()
    assert "The browser tests will be skipped: no Chromium" in capsys.readouterr().err


@pytest.mark.parametrize("failure", ["it fails", "it hangs"])
def test_failed_installation_skips_the_browser_tests(
    failure: str, programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(chromium, "APT_TIMEOUT_S", 0.2)
    program(programs / "apt-get", "exit 100" if failure == "it fails" else "exec /bin/sleep 30")
    assert chromium.main() == 0
    assert "The browser tests will be skipped" in capsys.readouterr().err


def test_run_without_a_browser_reports_it_at_the_end(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "def test_it(chromium):\n    raise AssertionError\n", encoding="utf-8"
    )
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "test_x.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(programs), "PYTHONPATH": str(ROOT)},
    )
    assert finished.returncode == 0, finished.stdout
    assert "BROWSER TESTS DID NOT RUN" in finished.stdout
    assert "1 skipped: no Chromium" in finished.stdout
