"""Third-party notices: the license texts of everything that an installation contains."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from inventory.carried import carried_by
from inventory.packages import PARTS, Package

LINE = "=" * 100


def notices(packages: Sequence[Package]) -> Iterator[str]:
    """Return the text in pieces: each package with its license, and each license text once."""
    yield (
        "THIRD-PARTY NOTICES\n\ncfplan itself is under the Apache License 2.0 (LICENSE). An installation also contains the "
        "software below. Equal texts are printed once and then referred to.\n"
    )
    printed: dict[str, str] = {}
    for package in packages:
        heading = f"{package.name} {package.pin.version}"
        yield f"\n{LINE}\n{heading}\nLicense: {package.license}\nNeeded by: {PARTS[package.part]}\n"
        if package.home:
            yield f"Project: {package.home}\n"
        texts = [(name, text) for name, text in package.texts]
        if not texts:
            yield "The package contains no license text.\n"
        yield from _texts(heading, texts, printed)
        for part in carried_by(package):
            title = f"{part.name} {part.version or ''}".strip()
            stated = f", license: {part.license}" if part.license else ""
            yield f"\n  -- {heading} contains {title}{stated}\n"
            yield from _texts(f"{title} in {heading}", part.texts, printed)


def write(packages: Sequence[Package], path: Path) -> None:
    """Write the text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(notices(packages)), encoding="utf-8")


def _texts(owner: str, texts: Sequence[tuple[str, str]], printed: dict[str, str]) -> Iterator[str]:
    for name, text in texts:
        digest = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
        if digest in printed:
            yield f"\n[{name}: the same text as {printed[digest]}]\n"
            continue
        printed[digest] = f"{name} of {owner}"
        yield f"\n[{name}]\n\n{text}\n"
