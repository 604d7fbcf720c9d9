"""The pictures of the documentation in docs/images: drawings, shown as a part of the page, and screenshots."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from functools import cache

from markupsafe import Markup

from app.web.rendering import ROOT

IMAGES_DIR = ROOT / "docs" / "images"
_STYLE = re.compile(r"<style>.*?</style>\s*", re.DOTALL)


@cache
def _drawings() -> Mapping[str, str]:
    return {path.name: path.read_text(encoding="utf-8").strip() for path in IMAGES_DIR.glob("*.svg")}


@cache
def _screenshots() -> Mapping[str, bytes]:
    return {f"{IMAGES_DIR.name}/{path.name}": path.read_bytes() for path in IMAGES_DIR.glob("*.png")}


def screenshot(slug: str) -> bytes | None:
    """Return the PNG file at an address below /docs; None if there is none."""
    return _screenshots().get(slug)


def inline_picture(src: str, *, alt: str) -> Markup | None:
    """Return a drawing as a part of the page, with the alternative text as its name; None for other images.

    As a part of the page, a drawing has the colors of the theme that the reader chose. Its own style sheet, for readers
    of the repository, is left out: the security policy of the pages forbids it.
    """
    drawing = _drawings().get(posixpath.basename(src))
    if drawing is None:
        return None
    named = Markup('<svg class="picture" role="img" aria-label="{}" ').format(alt)
    return named + Markup(_STYLE.sub("", drawing).removeprefix("<svg "))  # noqa: S704 - a file of this project
