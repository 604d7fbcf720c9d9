"""The software bill of materials in the format CycloneDX: the same installation gives the same bytes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.dependency import Dependency
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from inventory.carried import Carried, carried_by
from inventory.packages import PARTS, Package
from planner_core import CORE_VERSION

VERSION = SchemaVersion.V1_6
NAMESPACE = uuid.UUID("6f1d1f4e-51a9-5c0b-9a0e-2b9c6b1f7d33")
"""Namespace of the serial numbers, which are made of the contents."""


class SbomInvalid(Exception):
    """The result does not conform to the schema of CycloneDX."""


def sbom(packages: Sequence[Package]) -> str:
    """Return the document, which conforms to the schema.

    Raises:
        SbomInvalid: It does not conform to the schema.
    """
    # Importing the validator takes seconds, because it builds parsers of URLs; every worker of the tests imports this module.
    from cyclonedx.validation.json import JsonStrictValidator

    bom = Bom()
    # The only value that would differ between two runs; the library's own command leaves it out in the same way.
    bom.metadata.timestamp = None  # type: ignore[assignment]
    bom.metadata.component = Component(
        type=ComponentType.APPLICATION, name="cfplan", version=CORE_VERSION, bom_ref="cfplan",
        licenses=[LicenseExpression("Apache-2.0")],
    )  # fmt: skip
    by_name = {package.name: _component(package) for package in packages}
    bom.components.update(by_name.values())
    for package in packages:
        known = [by_name[name].bom_ref for name in package.requirements if name in by_name]
        bom.dependencies.add(Dependency(by_name[package.name].bom_ref, [Dependency(ref) for ref in known]))
    required = {name for package in packages for name in package.requirements}
    roots = [component.bom_ref for name, component in by_name.items() if name not in required]
    bom.dependencies.add(Dependency(bom.metadata.component.bom_ref, [Dependency(ref) for ref in roots]))
    bom.serial_number = uuid.uuid5(NAMESPACE, _text(bom, serial=NAMESPACE))
    text = _text(bom, serial=bom.serial_number)
    if error := JsonStrictValidator(VERSION).validate_str(text):
        raise SbomInvalid(str(error))
    return text


def write(packages: Sequence[Package], path: Path) -> None:
    """Write the document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sbom(packages), encoding="utf-8")


def _text(bom: Bom, *, serial: uuid.UUID) -> str:
    bom.serial_number = serial
    return make_outputter(bom, OutputFormat.JSON, VERSION).output_as_string(indent=2) + "\n"


def _component(package: Package) -> Component:
    references = [
        # pip accepts any of these files: the source, and wheels for each platform. One reference for all of them, because
        # checking the syntax of each address takes a quarter of a second.
        ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(package.purl),
            hashes=[
                HashType(alg=HashAlgorithm.SHA_256, content=pinned.removeprefix("--hash=sha256:"))
                for pinned in package.pin.hashes
            ],
        )
    ]
    if package.home:
        references.append(ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(package.home)))
    return Component(
        type=ComponentType.LIBRARY, name=package.name, version=package.pin.version, bom_ref=package.purl,
        purl=PackageURL.from_string(package.purl), licenses=[LicenseExpression(package.license)],
        external_references=references, properties=[Property(name="cfplan:part", value=PARTS[package.part])],
        components=[_carried(number, part) for number, part in enumerate(carried_by(package))],
    )  # fmt: skip


def _carried(number: int, part: Carried) -> Component:
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=part.sha256)] if part.sha256 else []
    return Component(
        type=ComponentType.LIBRARY, name=part.name, version=part.version,
        bom_ref=f"{part.package}#{number}-{part.name}", hashes=hashes,
        purl=PackageURL.from_string(part.purl) if part.purl else None,
        licenses=[LicenseExpression(part.license)] if part.license else [],
    )  # fmt: skip
