"""Pages from templates: one strict Jinja environment, one function to render, filters for figures.

A page is a frozen dataclass (its context) and a template that uses exactly the fields of that
dataclass. Nothing is sized or computed in a template; the filters in this module convert figures to text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeGuard
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.runtime import Context
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from app.actor import Actor, ActorKind, Role, current_actor
from app.texts.places import in_the_text
from app.web.axes import grouped as grouped  # re-exported, because pages use it together with these filters
from app.web.chart_svg import layouts
from app.web.form_words import with_labels
from planner_core import CORE_VERSION
from planner_core.provenance import Source, read_source
from planner_core.simulated import has_simulated_name
from planner_core.units import KIB, MIB, ceil_fraction, kib_to_bytes

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES_DIR = ROOT / "templates"
STATIC_DIR = ROOT / "static"


class NavItem(NamedTuple):
    """One entry of the main navigation."""

    section: str
    path: str
    title: str


class NavGroup(NamedTuple):
    """A group of the main navigation: a link if it has one entry, otherwise a menu."""

    title: str
    items: tuple[NavItem, ...]

    def has(self, section: str) -> bool:
        """Return whether a section of the site belongs to this group."""
        return any(item.section == section for item in self.items)


class Site(NamedTuple):
    """The name, version and navigation of the site, available to every page."""

    name: str
    version: str
    nav: tuple[NavGroup, ...]


SITE = Site(
    name="cfplan",
    version=CORE_VERSION,
    nav=(
        NavGroup("Overview", (NavItem("overview", "/", "Overview"),)),
        NavGroup("Plans", (NavItem("plans", "/plans", "Plans"),)),
        NavGroup(
            "Measurements",
            (
                NavItem("usage", "/usage", "Usage"),
                NavItem("forecasts", "/forecasts", "Forecasts"),
                NavItem("curves", "/curves", "Fitted curves"),
                NavItem("levels", "/cf-levels", "CFCC levels"),
                NavItem("nights", "/nights", "Nightly runs"),
                NavItem("notices", "/notices", "Notices"),
                NavItem("uploads", "/uploads", "Uploads"),
            ),
        ),
        NavGroup(
            "Tools",
            (
                NavItem("calculator", "/calculator", "Quick calculator"),
                NavItem("whatif", "/whatif", "What if"),
                NavItem("lint", "/lint", "Check a policy, MQSC or displays"),
                NavItem("merge", "/merge", "Merge a plan into a policy"),
                NavItem("running", "/running", "Compare with the running system"),
                NavItem("import", "/import", "Import tables"),
                NavItem("events", "/events/simulate", "Queue depth events"),
                NavItem("cluster", "/cluster/decide", "Clusters"),
            ),
        ),
        NavGroup(
            "Help",
            (
                NavItem("docs", "/docs", "Documentation"),
                NavItem("reference", "/reference", "Published tables"),
                NavItem("api", "/api/docs", "REST API"),
            ),
        ),
    ),
)


def nearest_item(path: str) -> NavItem | None:
    """Return the entry of the navigation whose page is at this path or above it; None if there is none.

    >>> nearest_item("/forecasts/SQ03/TINY").title, nearest_item("/nothing/here")
    ('Forecasts', None)
    """
    items = [item for group in SITE.nav for item in group.items if item.path != "/"]
    return next((item for item in items if f"{path}/".startswith(f"{item.path}/")), None)


class Frame(NamedTuple):
    """Who sees a page, for the bar at its top and the line at its foot."""

    user: str
    """Name of the signed-in user; empty for none."""
    role: str
    is_single_user: bool
    """Whether the installation works without sign-in."""
    is_anonymous: bool
    """Whether the page is shown to someone who has not signed in, so that it offers no navigation."""


def frame_of(actor: Actor) -> Frame:
    """Return the frame for an actor."""
    is_user = actor.kind in (ActorKind.USER, ActorKind.TOKEN)
    return Frame(
        user=actor.name if is_user else "",
        role=actor.role.label if actor.role else "",
        is_single_user=actor.kind == ActorKind.LOCAL,
        is_anonymous=actor.kind == ActorKind.ANONYMOUS,
    )


def may(role: str) -> bool:
    """Return whether the reader of the page has a role, or one that includes it: `may("planner")`."""
    return current_actor().may(Role.of(role))


MOST_SEARCHED = 100
"""Maximum number of characters in the search box of every page."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """The context of the layout of every page; page contexts add their own fields."""

    title: Annotated[str, "Title in the browser window and history"]
    section: Annotated[str, "Which entry of the main navigation the page belongs to; empty for none"]


PROVIDED = frozenset({"site", "url", "static", "most_searched", "frame", "may"})
"""Names that every template may use in addition to the fields of its context."""


def render(
    request: Request,
    name: str,
    context: Page,
    *,
    status_code: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """Render a template with the fields of a page context."""
    return HTMLResponse(
        render_text(name, context, root_path=root_path(request)), status_code=status_code, headers=headers
    )


def render_text(name: str, context: Page, *, root_path: str = "") -> str:
    """Return the page as text; `root_path` precedes every address of the application."""
    values: dict[str, Any] = {item.name: getattr(context, item.name) for item in fields(context)}

    def url(path: str) -> str:
        return root_path + path

    def static(path: str) -> str:
        return f"{root_path}/static/{path}?v={static_version(path)}"

    values |= {
        "site": SITE,
        "url": url,
        "static": static,
        "most_searched": MOST_SEARCHED,
        "frame": frame_of(current_actor()),
        "may": may,
    }
    contexts: list[Context] = []
    values[_CONTEXTS] = contexts
    try:
        return environment().get_template(name).render(values)
    finally:
        # Macros refer to the contexts that refer to them. Otherwise the values of a page would remain in memory until the next
        # garbage collection, which for the answer about a large plan takes a quarter of a second.
        for each in contexts:
            each.parent.clear()
            each.vars.clear()


_CONTEXTS = "_contexts_of_page"


class _PageContext(Context):
    """The names of a template, which can be removed when its page is complete."""

    def __init__(self, environment: Environment, parent: dict[str, Any], *rest: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(environment, parent, *rest, **named)
        # A template that imports another one passes its names on.
        parent.get(_CONTEXTS, []).append(self)


def root_path(request: Request) -> str:
    """Return the path under which a proxy serves the application; empty for the root."""
    return str(request.scope.get("root_path", "")).rstrip("/")


_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


class _WithoutIndentation(Extension):
    """Removes the indentation of a template when it is loaded, since browsers ignore it and pages would contain it.

    Line breaks stay, so that errors name the right line. Values keep all their blanks.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _INDENTATION.sub("", source)


@cache
def environment() -> Environment:
    """Return the template environment, which escapes all values and refuses unknown names."""
    env = Environment(
        loader=FileSystemLoader(TEMPLATES_DIR),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        extensions=[_WithoutIndentation],
        auto_reload=False,  # otherwise, each page would check the template's modification time
    )
    env.context_class = _PageContext
    env.filters.update(
        count=count,
        sentence=sentence,
        in_the_text=in_the_text,
        mib=mib,
        kib=kib,
        kib_as_mib=kib_as_mib,
        mib_bare=mib_bare,
        mib_signed=mib_signed,
        kib_bare=kib_bare,
        kib_signed=kib_signed,
        when=when,
        breakable=breakable,
        compact=compact,
        path=quote,
        as_source=read_source,
        number=number,
        short=short,
        signed=signed,
        percent=percent,
        percent_bare=percent_bare,
        telling_digits=telling_digits,
        own_page=own_page,
        finding_page=finding_page,
        layouts=layouts,
    )
    env.tests["simulated"] = has_simulated_name  # tests the name of a group
    return env


@cache
def static_version(path: str) -> str:
    """Return characters that change with the content of the file, so that browsers can cache it indefinitely."""
    return hashlib.sha256((STATIC_DIR / path).read_bytes()).hexdigest()[:10]


_LONG_NAME = re.compile(r"\S*@\S*|\S{17,}")
"""Email addresses, and names that do not fit into 8rem, the narrowest column of names."""
_ENDS_OF_PARTS = re.compile(r"(?=@)|(?<=[^.]\.)(?=[^.])|(?<=[^_]_)(?=[^_])")
_MIB = Markup(' <span class="u">MiB</span>')
_PERCENT = Markup(' <span class="u">%</span>')


def group_digits(digits: str) -> Markup:
    """Return a formatted decimal number with its integer part in groups of three.

    The style sheet separates the groups instead of a character, so that readers copy the bare number.

    >>> group_digits("1234567.5")
    Markup('<span class="n">1<i>234</i><i>567.5</i></span>')
    >>> group_digits("1234.5")
    Markup('1234.5')
    """
    sign, digits = ("\N{MINUS SIGN}", digits[1:]) if digits.startswith("-") else ("", digits)
    whole, point, rest = digits.partition(".")
    if len(whole) > 4:  # noqa: PLR2004 - four digits read well as they are
        head = len(whole) % 3 or 3
        groups = "</i><i>".join(whole[at : at + 3] for at in range(head, len(whole), 3))
        # Assembled as plain text: a page has hundreds of numbers, and Markup.format would escape each of their groups.
        return Markup(f'<span class="n">{sign}{whole[:head]}<i>{groups}{point}{rest}</i></span>')  # noqa: S704 - a formatted number has nothing to escape
    return Markup(sign + digits)  # noqa: S704 - as above


_QUANTITY = re.compile(r"(?<![\w.,:/-])(?<!\w\()\d{5,}(?:\.\d+)?(?![\w:/(-]|[.,]\d)", re.ASCII)
"""A number in a sentence. Parts of names, dates, sizes such as 451584K, and values of MQSC keywords are none."""
_FRACTION = re.compile(r"-?\d+/[1-9]\d*", re.ASCII)
_DECIMALS = 4
"""Decimals with which fractions are shown."""
_DATE = r"(?<![\w-])\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?(?![\w-])"
"""A day, or a time without blanks: browsers would end a line at its hyphens."""
_MARKED = re.compile(rf"`(?P<code>[^`]+)`|(?P<date>{_DATE})|{_QUANTITY.pattern}", re.ASCII)
"""A number, a date, or code between backticks."""


def sentence(text: str) -> Markup:
    """Return a sentence, such as the message of a finding, with numbers in groups of three, whole dates and marked code.

    >>> sentence("Q1 holds 220742 messages: MAXDEPTH(220742) & INITSIZE 451584K.")
    Markup('Q1 holds <span class="n">220<i>742</i></span> messages: MAXDEPTH(220742) &amp; INITSIZE 451584K.')
    >>> sentence("Run `cfplan whatif smds-job`.")
    Markup('Run <code>cfplan whatif smds-job</code>.')
    >>> sentence("Full since 2026-11-24.")
    Markup('Full since <span class="keep">2026-11-24</span>.')
    """
    # Texts of the core have plain digits, so that they can be searched, compared and acknowledged word for word.
    text = with_labels(text)
    parts: list[Markup] = []
    end = 0
    for found in _MARKED.finditer(text):
        if found["code"]:
            marked = Markup("<code>{}</code>").format(found["code"])
        elif found["date"]:
            marked = Markup('<span class="keep">{}</span>').format(found["date"])
        else:
            marked = group_digits(found[0])
        parts += (escape(text[end : found.start()]), marked)
        end = found.end()
    parts.append(escape(text[end:]))
    return Markup("").join(parts)


def breakable(text: str | Markup) -> Markup | str:
    """Return a text whose long names, such as email addresses and data set names, can end a line after their parts.

    >>> breakable("anna@mq.example.com"), breakable("anna"), breakable("PAYMENTS.IN, 2.5 MiB")
    (Markup('anna<wbr>@mq.<wbr>example.<wbr>com'), 'anna', 'PAYMENTS.IN, 2.5 MiB')
    >>> breakable("SYS1.SMF.D2026324.NIGHT, byte 99"), breakable("offloaded_elements_in_phase_2")
    (Markup('SYS1.<wbr>SMF.<wbr>D2026324.<wbr>NIGHT, byte 99'), Markup('offloaded_<wbr>elements_<wbr>in_<wbr>phase_<wbr>2'))
    """
    if isinstance(text, Markup) or not _LONG_NAME.search(text):
        return text
    parts: list[Markup] = []
    end = 0
    for found in _LONG_NAME.finditer(text):
        name = (part for part in _ENDS_OF_PARTS.split(found[0]) if part)
        parts += (escape(text[end : found.start()]), Markup("<wbr>").join(name))
        end = found.end()
    return Markup("").join((*parts, escape(text[end:])))


def count(value: int) -> Markup:
    """Return a whole number: `200 000`."""
    return group_digits(str(int(value)))


def mib(value_bytes: int | Fraction, digits: int = 1) -> Markup:
    """Return bytes as MiB with a fixed number of digits, rounded to nearest: `440.9 MiB`."""
    return mib_bare(value_bytes, digits) + _MIB


def kib(value_kib: int) -> Markup:
    """Return whole KiB, as the policy writes them: `451584K`."""
    return Markup('<span class="n">{}K</span>').format(value_kib)


def kib_as_mib(value_kib: int, digits: int = 1) -> Markup:
    """Return KiB as MiB: `441.0 MiB`."""
    return mib(kib_to_bytes(value_kib), digits)


def mib_bare(value_bytes: int | Fraction, digits: int = 1) -> Markup:
    """Return bytes as MiB without the unit, for columns that name it: `440.9`."""
    return group_digits(f"{float(value_bytes / MIB):.{digits}f}")


def mib_signed(value_bytes: float | Fraction, digits: int = 1) -> Markup:
    """Return a difference of bytes as MiB with its sign, without the unit: `+12.3`. A value that rounds to zero has no sign.

    >>> mib_signed(1048576)
    Markup('+1.0')
    """
    text = f"{float(value_bytes / MIB):.{digits}f}"
    # Decided on the rounded text: -0.04 would otherwise be shown as -0.0.
    if not float(text):
        return group_digits(text.removeprefix("-"))
    return group_digits(text) if text.startswith("-") else Markup("+{}").format(group_digits(text))


def kib_bare(value_kib: int, digits: int = 1) -> Markup:
    """Return KiB as MiB without the unit."""
    return mib_bare(kib_to_bytes(value_kib), digits)


def kib_signed(value_kib: int, digits: int = 1) -> Markup:
    """Return a difference of KiB as MiB with its sign, without the unit."""
    return mib_signed(kib_to_bytes(value_kib), digits)


def when(value: datetime) -> Markup:
    """Return a time in UTC, to the minute."""
    known = value.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        known.isoformat(timespec="seconds"), known.strftime("%Y-%m-%d %H:%M") + " UTC"
    )


def compact(value: object, most: int = 400) -> Markup | str:
    """Return a JSON value on one line: texts unchanged, numbers grouped, a dash for an empty value.

    >>> compact({"name": "Q", "message_bytes": {"mean": 300, "p95": 900}, "backlog": None, "persistent": True})
    'name Q, message_bytes (mean 300, p95 900), persistent yes'
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return group_digits(str(value))
    text = _in_a_line(value)
    return text if len(text) <= most else text[:most] + "..."


def _in_a_line(value: object) -> str:
    if value is None or value in ({}, []):
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        given = {key: each for key, each in value.items() if each is not None}
        return ", ".join(f"{key} {_within(each)}" for key, each in given.items()) or "\N{EN DASH}"
    if isinstance(value, list):
        return ", ".join(map(_within, value))
    return str(value)


def _within(value: object) -> str:
    text = _in_a_line(value)
    return f"({text})" if isinstance(value, (dict, list)) else text


def percent(value: float | Fraction) -> Markup:
    """Return a share in percent with one decimal, rounded up, so that a full structure is never shown as less."""
    return percent_bare(value) + _PERCENT


def percent_bare(value: float | Fraction, digits: int = 1) -> Markup:
    """Return a share in percent without the percent sign, rounded up."""
    return group_digits(f"{_rounded_up(value, digits):.{digits}f}")


def _rounded_up(value: float | Fraction, digits: int) -> float:
    return ceil_fraction(Fraction(value) * 10**digits) / 10**digits


def telling_digits(values: Sequence[object], unit: str | None) -> int:
    """Return the number of decimals that shows how values differ from the first of them.

    At least one decimal, and at most four: a smaller difference is not shown.

    Args:
        values: Values in a unit of scenarios; those that are no numbers are ignored.
        unit: The unit.

    >>> telling_digits((80.02, 80.04, 90), "percent")
    2
    """
    divisor = {"percent": 1, "bytes": MIB, "K": KIB}.get(unit or "")
    if divisor is None:
        return 1
    first, *others = (float(each) / divisor if _is_number(each) else None for each in values)
    needed = (_digits_between(first, each) for each in others if each is not None and first is not None)
    return max(filter(None, needed), default=1)


def _digits_between(first: float, other: float) -> int | None:
    """Return the smallest number of decimals that shows two numbers and their difference, or None for nearly equal ones."""
    return next(
        (
            digits
            for digits in range(1, _DECIMALS + 1)
            if round(other - first, digits)
            and round(first, digits) != round(other, digits)
            and _rounded_up(first, digits) != _rounded_up(other, digits)
        ),
        None,
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def number(value: int | float | Decimal | Fraction | str) -> Markup | str:
    """Return a number with its integer part grouped; other texts stay unchanged.

    Only a fraction such as `3482157/1024` is rounded, because its digits would fill the page; the exact one is the title.
    A fraction that would be rounded to 0 is shown with an exponent.

    >>> number("4/3")
    Markup('<span title="4/3">≈ 1.3333</span>')
    >>> number("1/2")
    Markup('<span title="1/2">0.5</span>')
    >>> number("-1/50000")
    Markup('<span title="-1/50000"><span class="n">-2e-5</span></span>')
    """
    if isinstance(value, str):
        if _FRACTION.fullmatch(value):
            exact = Fraction(value)
            shown, digits = round(exact, _DECIMALS), number(exact)
            if exact and not shown:
                scientific = f"{Decimal(exact.numerator) / exact.denominator:.{_DECIMALS}e}"
                mantissa, exponent = scientific.split("e")
                scientific = f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"
                shown, digits = Fraction(scientific), Markup('<span class="n">{}</span>').format(scientific)
            about = "" if shown == exact else "≈ "
            return Markup('<span title="{}">{}{}</span>').format(value, about, digits)
        return group_digits(value) if _is_decimal(value) else value
    if isinstance(value, Fraction):
        if value.denominator != 1:
            return group_digits(f"{float(value):.{_DECIMALS}f}".rstrip("0").rstrip("."))
        return count(value.numerator)
    return group_digits(format(value, "f") if isinstance(value, (float, Decimal)) else str(value))


def short(value: float, digits: int = 2) -> Markup:
    """Return a number with few decimals, without trailing zeros.

    >>> short(714.5), short(12.0)
    (Markup('714.5'), Markup('12'))
    """
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return group_digits("0" if text == "-0" else text)


def signed(value: float, digits: int = 2) -> Markup:
    """Return a number with its sign; a value that rounds to zero has none.

    >>> signed(0.4)
    Markup('+0.4')
    """
    shown = short(value, digits)
    return Markup("+{}").format(shown) if value > 0 and round(value, digits) else shown


def plain(value_bytes: int) -> str:
    """Return bytes without markup, for titles and labels: `440.9 MiB`."""
    if value_bytes < KIB:
        return f"{value_bytes} bytes"
    number = str(value_bytes // MIB) if value_bytes % MIB == 0 else f"{value_bytes / MIB:.1f}"
    whole, point, rest = number.partition(".")
    if len(whole) > 4:  # noqa: PLR2004 - four digits read well as they are
        whole = grouped(int(whole))
    return f"{whole}{point}{rest} MiB"


def slug(text: str) -> str:
    """Return the anchor of a heading as code hosts form it: lower case, hyphens for blanks, no punctuation."""
    kept = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return kept.replace(" ", "-") or "section"


def own_page(source: Source) -> str:
    """Return the address of a source that is a page of this project; empty for other documents.

    >>> own_page(Source("cfplan, docs/explanation/assumptions.md", "The element model", ""))
    '/docs/explanation/assumptions/the-element-model'
    """
    found = re.fullmatch(r"cfplan, docs/([\w/-]+)\.md", source.document)
    if not found:
        return ""
    return f"/docs/{found[1]}{'/' if _is_divided(found[1]) else '#'}{slug(source.section)}"


@cache
def _is_divided(page: str) -> bool:
    """Return whether the sections of a page of docs/ are pages of their own, in the folder with its name."""
    return (ROOT / "docs" / page).is_dir()


def finding_page(code: str) -> str:
    """Return the address of the page about a code of findings.

    >>> finding_page("DSGROUP_MISSING")
    '/docs/reference/findings/DSGROUP_MISSING'
    """
    return f"/docs/reference/findings/{code}"


def _is_decimal(text: str) -> bool:
    whole, _, rest = text.removeprefix("-").partition(".")
    return whole.isascii() and whole.isdigit() and (not rest or (rest.isascii() and rest.isdigit()))
