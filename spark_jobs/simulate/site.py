"""The fictitious site: its systems, queue managers, coupling facilities and structures, all drawn from a seed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from planner_core.errors import PlannerError
from planner_core.names import ADMIN_STRUCTURE, OWN_STRUCTURES, SYSTEM_STRUCTURE, cfrm_structure_name
from planner_core.simulated import QSG
from planner_core.sizing.offload import default_rules
from planner_core.sizing.structure_size import elements_held, model_constant
from planner_core.units import GIB, KIB, MIB, round_up
from spark_jobs.simulate.series import DAYS_A_YEAR, FIRST_DAY, INITIAL_RATIO, WEEK, autocorrelated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MINUTES_A_DAY: Final = 1440
MOST_DAYS, MOST_STRUCTURES, MOST_MANAGERS = 3_660, 62, 32
"""The largest simulation: ten years, the 64 structures of a group without CSQ_ADMIN and CSQSYSAPPL, its 32 queue
managers."""
LARGEST_SEED: Final = 2**63 - 1
UTC_OFFSET_MINUTES: Final = 60
RELEASE: Final = "930"
"""The release of the records, which does not contain the group of a queue manager; the map does."""
FACILITY_BYTES: Final = 256 * GIB
RULES: Final = tuple((rule.threshold / 100, rule.size_bytes) for rule in default_rules())
"""IBM's default offload rules: usage thresholds, and the sizes above which messages are offloaded."""
ALWAYS_OFFLOADED_ABOVE: Final = model_constant("largest_message_in_cf_bytes")
OFFLOADED_ELEMENTS: Final = model_constant("offloaded_message_elements")
BLOCK_BYTES: Final = 256 * KIB
HOURS: Final = 24
_FIRST_NAMES = (
    "PAYMENTS", "ORDERS", "TRADES", "BILLING", "CLAIMS", "CARDS", "FRAUD", "LEDGER", "STOCK", "PRICES",
    "BOOKINGS", "PAYROLL", "INVOICES", "SHIPMENTS", "QUOTES", "ALERTS",
)  # fmt: skip
_HEADERS = (372, 372, 404, 468)
"""Bytes of the header of each message in a structure."""
RATIOS: Final = (INITIAL_RATIO, (1, 2))
"""The ratios used in turn by the structures in the first coupling facility; in the second, all have 1:6."""


class OptionsInvalid(PlannerError):
    """An invalid option, which the message names."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a simulation; equal options give equal files."""

    days: int
    structures: int
    queue_managers: int
    interval_minutes: int
    seed: int
    first_day: dt.date = FIRST_DAY

    def checked(self) -> Options:
        """Return the options if they are valid.

        Raises:
            OptionsInvalid: One of them is out of range.
        """
        for name, value, most in (
            ("days", self.days, MOST_DAYS),
            ("structures", self.structures, MOST_STRUCTURES),
            ("queue-managers", self.queue_managers, MOST_MANAGERS),
        ):
            if not 1 <= value <= most:
                message = f"--{name}: {value} is not between 1 and {most}."
                raise OptionsInvalid(message)
        if not 0 <= self.seed <= LARGEST_SEED:
            message = f"--seed: {self.seed} is not between 0 and {LARGEST_SEED}."
            raise OptionsInvalid(message)
        if self.interval_minutes < 1 or MINUTES_A_DAY % self.interval_minutes:
            message = f"--interval-minutes: {self.interval_minutes} does not divide a day evenly; use 5, 10, 15, 30, 60 or 1440."
            raise OptionsInvalid(message)
        if not dt.date(2000, 1, 1) <= self.first_day <= dt.date(2040, 1, 1) - dt.timedelta(days=self.days):
            # The hardware clock of the records ends in 2042, and nothing shared was allocated in 1999.
            message = f"--last-day: {self.days} days from {self.first_day} are not all between 2000 and 2040."
            raise OptionsInvalid(message)
        return self

    @property
    def intervals(self) -> int:
        """Return the number of intervals in a day."""
        return MINUTES_A_DAY // self.interval_minutes


@dataclass(frozen=True, slots=True)
class Facility:
    """A coupling facility and its storage costs."""

    name: str
    cfcc_level: int
    base_bytes: float
    entry_bytes: float
    element_bytes: float


@dataclass(frozen=True, slots=True)
class Manager:
    """A queue manager."""

    name: str
    system_id: str


@dataclass(frozen=True, slots=True)
class QueueModel:
    """A shared queue: its share of the backlog, and its message sizes with their shares."""

    name: str
    share: float
    sizes: tuple[tuple[int, float], ...]
    is_persistent: bool
    managers: tuple[int, ...]
    """Numbers of the queue managers that use it."""

    @property
    def mean_bytes(self) -> float:
        """Return the mean message size."""
        return sum(size * share for size, share in self.sizes)


@dataclass(frozen=True, slots=True)
class StructureModel:
    """A structure: its facility and first size, its messages, and their growth."""

    number: int
    name: str
    facility: int
    ratio: tuple[int, int]
    size_bytes: int
    header_bytes: int
    queues: tuple[QueueModel, ...]
    usage_at_start: float
    """Usage of the larger pool at the first day's peak, from the trend alone."""
    growth_kind: str
    growth_per_year: float
    week: tuple[float, ...]
    month_end: float
    noise: float
    noise_autocorrelation: float
    profile: tuple[float, ...]
    """Backlog by the hour (UTC) as a share of the day's peak."""
    offload: bool
    smds_blocks: int
    """Blocks of each queue manager's data set."""

    @property
    def xcf_structure(self) -> str:
        """Return the name of the structure in XCF."""
        return cfrm_structure_name(qsg_name=QSG, cfstruct_name=self.name)

    @property
    def peak_hour(self) -> int:
        """Return the hour of the day's peak."""
        return int(np.argmax(self.profile))

    @property
    def is_application(self) -> bool:
        """Return whether the structure belongs to applications, not to MQ itself."""
        return self.name not in OWN_STRUCTURES

    def classes(self) -> tuple[Floats, Floats, Floats]:
        """Return messages by queue and size: share of the backlog, bytes, elements in the structure."""
        parts = [(queue.share * share, size) for queue in self.queues for size, share in queue.sizes]
        shares, sizes = (np.array(column, dtype=np.float64) for column in zip(*parts, strict=True))
        elements = [elements_held(size, header_bytes=self.header_bytes) for _, size in parts]
        return shares, sizes, np.array(elements, dtype=np.float64)


class Site:
    """All parts of the site that do not depend on the day."""

    def __init__(self, options: Options) -> None:
        """Draw the site from the seed."""
        self.options = options.checked()
        self.random = np.random.default_rng((options.seed, 10))
        systems = min(4, -(-options.queue_managers // 2))
        self.systems = tuple(f"SIM{letter}" for letter in "ABCD"[:systems])
        self.managers = tuple(
            Manager(f"SM{number + 1:02}", self.systems[number % systems])
            for number in range(options.queue_managers)
        )
        self.facilities = self._facilities()
        own = [self._own(0, ADMIN_STRUCTURE, 64 * MIB), self._own(1, SYSTEM_STRUCTURE, 96 * MIB)]
        self.structures = (*own, *(self._application(number + 2) for number in range(options.structures)))

    @cached_property
    def daily_noise(self) -> list[Floats]:
        """Return the factor of each structure and day."""
        return [
            np.exp(
                autocorrelated(
                    np.random.default_rng((self.options.seed, 30, model.number)),
                    self.options.days,
                    deviation=model.noise,
                    correlation=model.noise_autocorrelation,
                )
            )
            for model in self.structures
        ]

    def _facilities(self) -> tuple[Facility, ...]:
        bases = self.random.uniform((19, 12), (25, 16)) * MIB
        entries = self.random.uniform(560, 720, 2)
        elements = self.random.uniform(258, 285, 2)
        costs = zip(bases.tolist(), entries.tolist(), elements.tolist(), strict=True)
        return tuple(
            Facility(f"SIMCF{number + 1:02}", level, *cost)
            for number, (level, cost) in enumerate(zip((25, 24), costs, strict=True))
        )

    def _own(self, number: int, name: str, size_bytes: int) -> StructureModel:
        """Return one of MQ's own structures, with little use and no offloading."""
        queue = QueueModel(f"{name}.SIMULATED", 1.0, ((500, 1.0),), is_persistent=False, managers=())
        return StructureModel(
            number=number, name=name, facility=number % len(self.facilities), ratio=INITIAL_RATIO, size_bytes=size_bytes,
            header_bytes=_HEADERS[0], queues=(queue,), usage_at_start=0.04, growth_kind="linear", growth_per_year=0.0,
            week=(1.0,) * WEEK, month_end=0.0, noise=0.05, noise_autocorrelation=0.3, profile=(1.0,) * HOURS,
            offload=False, smds_blocks=0,
        )  # fmt: skip

    def _application(self, number: int) -> StructureModel:
        random = np.random.default_rng((self.options.seed, 20, number))
        place = number - 2
        facility = place % len(self.facilities)
        offload = place % 3 == 1
        queues = self._queues(random, _name(place), offload=offload)
        growth, usage = self._growth(random, place)
        week = random.uniform(0.9, 1.0, WEEK)
        week[5:] = random.uniform(0.25, 0.85, 2)
        return StructureModel(
            number=number,
            name=_name(place),
            facility=facility,
            ratio=RATIOS[place // 2 % len(RATIOS)] if facility == 0 else INITIAL_RATIO,
            size_bytes=round_up(int(128 * MIB * 32.0 ** random.uniform()), multiple=MIB),
            header_bytes=int(random.choice(_HEADERS)),
            queues=queues,
            usage_at_start=usage,
            growth_kind="compounding" if random.random() < 0.5 else "linear",  # noqa: PLR2004 - half of them
            growth_per_year=growth,
            week=tuple((week / week.max()).tolist()),
            month_end=float(random.uniform(0, 0.12)),
            noise=float(random.uniform(0.02, 0.07)),
            noise_autocorrelation=float(random.uniform(0.2, 0.7)),
            profile=_profile(random),
            offload=offload,
            smds_blocks=int(random.integers(6_000, 12_000)) if offload else 0,
        )

    def _growth(self, random: np.random.Generator, place: int) -> tuple[float, float]:
        """Return yearly growth and usage at the start: three of five grow, so that some fill within the next year."""
        if place == 0:  # one that is soon full
            growth = float(random.uniform(0.9, 1.4))
            crossed = self.options.days + float(random.uniform(20, 70))
            return growth, float(np.clip(0.85 / (1 + growth) ** (crossed / DAYS_A_YEAR), 0.05, 0.75))
        if place % 5 in (0, 1, 3):
            growth = float(random.uniform(0.25, 1.2))
            crossed = self.options.days + float(random.uniform(20, 400))
            usage = 0.85 / (1 + growth) ** (crossed / DAYS_A_YEAR)
            return growth, float(np.clip(usage, 0.05, 0.75))
        if place % 5 == 2:  # noqa: PLR2004
            return float(random.uniform(-0.3, -0.1)), float(random.uniform(0.3, 0.6))
        return float(random.uniform(-0.03, 0.03)), float(random.uniform(0.1, 0.5))

    def _queues(self, random: np.random.Generator, name: str, *, offload: bool) -> tuple[QueueModel, ...]:
        count = int(random.integers(1, 4))
        shares = random.dirichlet(np.full(count, 4.0))
        made = []
        for number in range(count):
            size = int(200 * 60.0 ** random.uniform())
            sizes: tuple[tuple[int, float], ...] = ((size, 1.0),)
            if random.random() < 0.4:  # noqa: PLR2004 - two of five have messages of several sizes
                sizes = ((size // 2 + 50, 0.5), (size, 0.3), (size * 2, 0.2))
            if (
                offload and number == 0
            ):  # some that the first rule takes, some that are never in the structure
                sizes = ((size, 0.9), (40_000, 0.08), (100_000, 0.02))
            managers = random.permutation(len(self.managers))[:2].tolist()
            is_persistent = bool(random.random() < 0.5)  # noqa: PLR2004
            made.append(
                QueueModel(
                    f"SIM.{name}.Q{number + 1}",
                    float(shares[number]),
                    sizes,
                    is_persistent,
                    tuple(sorted(managers)),
                )
            )
        return tuple(made)


def _name(place: int) -> str:
    turn, first = divmod(place, len(_FIRST_NAMES))
    return f"{_FIRST_NAMES[first]}{turn + 1 if turn else ''}"


def _profile(random: np.random.Generator) -> tuple[float, ...]:
    """Return the backlog by hour: most queues follow office hours, some have a nightly batch."""
    hours = np.arange(HOURS)
    middle, width = random.uniform(10, 15), random.uniform(2.5, 4.5)
    found = 0.15 + np.exp(-(((hours - middle) / width) ** 2))
    if random.random() < 0.3:  # noqa: PLR2004
        found += random.uniform(0.3, 1.2) * np.exp(-(((hours - random.integers(1, 5)) / 1.2) ** 2))
    return tuple((found / found.max()).tolist())
