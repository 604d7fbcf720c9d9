"""Forget the packages whose installation was cut short, so that pip installs them again.

An installer that is killed can leave a package that looks installed and is not: its metadata is there, files are
missing. pip writes RECORD, the list of a package's files, last, so a package without one, or with files missing from
it, was not installed to the end. Removing its metadata is enough: pip then installs over what is left.
"""

from __future__ import annotations

import csv
import shutil
import sys
import sysconfig
from pathlib import Path


def is_complete(dist_info: Path) -> bool:
    """Say whether every file that the package lists is there, with its size."""
    record = dist_info / "RECORD"
    if not record.is_file():
        return False
    with record.open(newline="", encoding="utf-8") as lines:
        for name, _digest, size in csv.reader(lines):
            if name.endswith(".pyc"):
                continue
            try:
                found = (dist_info.parent / name).stat().st_size
            except FileNotFoundError:
                return False
            if size and found != int(size):
                return False
    return True


def mend(site_packages: Path) -> list[str]:
    """Remove the metadata of incomplete packages; return their names."""
    # pip renames a package to ~name while it replaces it.
    leftovers = sorted(site_packages.glob("~*"))
    packages = sorted(site_packages.glob("[!~]*.dist-info"))
    broken = [path for path in packages if not is_complete(path)]
    for path in [*broken, *leftovers]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return [path.name.removesuffix(".dist-info") for path in broken]


if __name__ == "__main__":
    for forgotten in mend(Path(sysconfig.get_path("purelib"))):
        sys.stdout.write(f"{forgotten} was not installed to the end: installing it again\n")
