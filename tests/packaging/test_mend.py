"""An interrupted installation is detected and repeated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from requirements.mend import mend
from tests.packaging.pins import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

RECORD = """\
thing/__init__.py,sha256=x,5
"thing/a,b.py",sha256=x,3
thing/__pycache__/__init__.cpython-311.pyc,,
thing-1.dist-info/METADATA,sha256=x,2
thing-1.dist-info/RECORD,,
"""


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    """Return a folder with one completely installed package."""
    for name, content in {
        "thing/__init__.py": "12345",
        "thing/a,b.py": "123",
        "thing-1.dist-info/METADATA": "12",
        "thing-1.dist-info/RECORD": RECORD,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


def test_complete_package_is_not_changed(site_packages: Path) -> None:
    assert mend(site_packages) == []
    assert (site_packages / "thing-1.dist-info").is_dir()


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "thing-1.dist-info" / "RECORD").unlink(),
        lambda folder: (folder / "thing" / "a,b.py").unlink(),
        lambda folder: (folder / "thing" / "__init__.py").write_text("123", encoding="utf-8"),
        lambda folder: (folder / "thing-1.dist-info" / "METADATA").unlink(),
    ],
    ids=["no list of files", "a file is missing", "a file is too short", "no metadata"],
)
def test_incomplete_package_is_removed_for_reinstallation(
    site_packages: Path, damage: Callable[[Path], object]
) -> None:
    damage(site_packages)
    assert mend(site_packages) == ["thing-1"]
    assert not (site_packages / "thing-1.dist-info").exists()
    assert mend(site_packages) == []


def test_leftovers_of_a_replaced_package_are_removed(site_packages: Path) -> None:
    (site_packages / "~hing").mkdir()
    (site_packages / "~hing-1.dist-info").mkdir()
    assert mend(site_packages) == []
    assert sorted(path.name for path in site_packages.iterdir()) == ["thing", "thing-1.dist-info"]


def test_complete_environment_needs_no_repair() -> None:
    finished = subprocess.run(
        [sys.executable, ROOT / "requirements" / "mend.py"], capture_output=True, text=True, check=True
    )
    assert finished.stdout == ""
