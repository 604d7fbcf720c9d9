"""Find a Chromium, and the driver that controls it, for the browser tests.

The order of choice is $CHROMIUM, then `chromium-headless-shell` on PATH, then `chromium`. The driver comes with Playwright's wheel, but needs the system
library libatomic, which neither Python nor Chromium installs. `python -m tests.chromium`, which `make test` runs, first
installs Debian's packages when one of the two does not start and the user is root. Without both, the tests marked
`browser` are skipped, and the run reports it at its end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

LAUNCH_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--js-flags=--no-opt --no-maglev",
)
"""Options of a browser that runs as root in a container and sends no requests to other hosts.

The last one turns off V8's optimizing compilers, which does not change the result of a script. It saves an eighth of
the CPU time of the keyboard tests: each page runs its scripts once, and they are compiled again for the next page.
"""

BROWSERS = ("chromium-headless-shell", "chromium")
"""Programs, and Debian's packages that contain them. The first takes a fifth less CPU time, because it has no user interface."""
WHAT_TO_DO = f"no Chromium: put {' or '.join(BROWSERS)} on PATH or name one with CHROMIUM=/path/to/chromium"
DRIVER_WHAT_TO_DO = (
    "Playwright's driver does not start: install the system library libatomic (Debian: libatomic1)"
)

DRIVER_PACKAGE = "libatomic1"
APT_TIMEOUT_S = 300


def problem() -> str | None:
    """Return the reason why no browser test can run here, or None.

    Raises:
        FileNotFoundError: CHROMIUM names a program that does not start.
    """
    if find_chromium() is None:
        return WHAT_TO_DO
    return None if driver_starts() else DRIVER_WHAT_TO_DO


def driver_starts() -> bool:
    """Return whether Playwright's driver, an executable in its wheel, finds its system libraries."""
    return _succeeds([sys.executable, "-m", "playwright", "--version"])


def find_chromium() -> Path | None:
    """Return a Chromium that starts, or None.

    Raises:
        FileNotFoundError: CHROMIUM names a program that does not start.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        if _starts(Path(named)):
            return Path(named)
        message = f"CHROMIUM names {named}, which does not start"
        raise FileNotFoundError(message)
    on_path = (Path(found) for found in map(shutil.which, BROWSERS) if found)
    return next(filter(_starts, on_path), None)


def install_packages() -> None:
    """Install Debian's Chromium and the library of the driver; a failure is reported and changes nothing."""
    _run_apt_get("update")
    for browser in BROWSERS:  # older releases of Debian have only the second one
        _run_apt_get("install", "-y", "--no-install-recommends", browser, DRIVER_PACKAGE)
        if not problem():
            return


def _run_apt_get(*arguments: str) -> None:
    try:
        subprocess.run(
            ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", *arguments],
            check=True,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=APT_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError) as failure:
        print(f"apt-get {arguments[0]}: {failure}", file=sys.stderr)


def _starts(executable: Path) -> bool:
    return _succeeds([executable, "--version"])


def _succeeds(command: Sequence[str | Path]) -> bool:
    try:
        answer = subprocess.run(
            command, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def main() -> int:
    """Install missing requirements of browser tests if possible, and report the rest."""
    if problem() and shutil.which("apt-get") and os.geteuid() == 0:
        print(f"Installing {BROWSERS[0]} and {DRIVER_PACKAGE} for the browser tests")
        install_packages()
    missing = problem()
    if missing:
        print(f"The browser tests will be skipped: {missing}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
