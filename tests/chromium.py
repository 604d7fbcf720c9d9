"""Find a Chromium for the tests that drive a browser.

The order of choice is $CHROMIUM, then `chromium` on PATH. `python -m tests.chromium`, which `make test` runs, first
installs Debian's package when there is none and the user is root. Without a browser the tests marked `browser` are
skipped, and the run says so at its end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

LAUNCH_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""A browser that runs as root in a container and asks nothing of any other machine."""

WHAT_TO_DO = "no Chromium: put `chromium` on PATH or name one with CHROMIUM=/path/to/chromium"

APT_TIMEOUT_S = 300


def find_chromium() -> Path | None:
    """Return a Chromium that starts, or None.

    Raises:
        FileNotFoundError: CHROMIUM names something that does not start.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        if _starts(Path(named)):
            return Path(named)
        message = f"CHROMIUM names {named}, which does not start"
        raise FileNotFoundError(message)
    on_path = shutil.which("chromium")
    return Path(on_path) if on_path and _starts(Path(on_path)) else None


def install_chromium() -> None:
    """Install Debian's Chromium; a failure is told and changes nothing."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        try:
            subprocess.run(
                ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=120", *arguments],
                check=True,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                timeout=APT_TIMEOUT_S,
            )
        except (OSError, subprocess.SubprocessError) as failure:
            print(f"apt-get {arguments[0]}: {failure}", file=sys.stderr)


def _starts(executable: Path) -> bool:
    try:
        answer = subprocess.run(
            [executable, "--version"], capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def main() -> int:
    """Make sure that there is a browser, or say that there is none."""
    if find_chromium() is None and shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing Chromium for the browser tests")
        install_chromium()
    if find_chromium() is None:
        print(f"The browser tests will be skipped: {WHAT_TO_DO}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
