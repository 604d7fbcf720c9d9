"""Names of browsers and systems, read from the descriptions that browsers send."""

from __future__ import annotations

from typing import Final

# The first mark that occurs names it: Edge and Opera also name Chrome, and Chrome also names Safari.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome without a window"),
    ("Chrome/", "Chrome"),
    ("Version/", "Safari"),
    ("curl/", "curl"),
)
# Android also names Linux, and iPhones and iPads also name Mac OS X.
_SYSTEMS: Final = (
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser_and_system(description: str) -> str:
    """Return the browser and the system in words, or the description itself if it names no known browser.

    Args:
        description: The header User-Agent of a request.

    >>> browser_and_system("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    >>> browser_and_system("")
    'unknown browser'
    """
    browser = next((name for mark, name in _BROWSERS if mark in description), None)
    if browser is None:
        return description or "unknown browser"
    system = next((name for mark, name in _SYSTEMS if mark in description), None)
    return browser if system is None else f"{browser} on {system}"
