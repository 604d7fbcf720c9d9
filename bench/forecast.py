"""Accuracy of forecasts of structures with known futures, compared with simple rules and other models.

Forecasts are scored by the outcome: the first day on which the drawn peak, including noise, is above 85 % of the structure's
total, not the day on which the truth without noise would be. Exceptional days (backlogs of a stopped consumer) are excluded
from the outcome, as they are from the days of the forecast.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.forecast_world import HORIZON, world
from bench.simulated_peaks import daily_peaks
from spark_jobs.forecast import DailyPeaks, Forecast, Level, forecast
from spark_jobs.forecast.baselines import baselines_of, last_value, seasonal_naive, straight_line
from spark_jobs.forecast.crossings import day_quantiles, first_days
from spark_jobs.forecast.figures import NAMES
from spark_jobs.forecast.scoring import pinball, wape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Days = NDArray[np.int64]

BEYOND = HORIZON + 1
NEVER = 10_000
SEED = 5
FIRST = 0
"""Number of the first structure."""
UNSEEN = 400
"""First structure that the model never saw: its settings were chosen on structures before this one."""
OURS = "cfplan"
PATHS = 500
MS = 1000.0
ORDINARY = 5.0
"""Number of standard deviations of the noise within which a day without a backlog stays."""


@dataclass(frozen=True)
class Case:
    """A structure: the history to forecast from, and the outcome."""

    days: Days
    peaks: Floats
    level: float
    coming: Days
    came: Floats
    """The peaks of the days in `coming`, without exceptional days; nan if not measured."""
    came_with_exceptional: Floats | None
    crossed: int
    """The day on which the level was crossed, even if it is beyond the horizon."""
    crossed_without_noise: int


def simulated(seed: int, history: int = 270) -> Case:
    """Return a structure of the simulator of daily peaks."""
    sample = daily_peaks(seed, days=history, horizon_days=2 * HORIZON)
    level = sample.levels["full_threshold"]
    expected = sample.truth.expected[history:]
    return Case(
        sample.days,
        sample.peaks,
        level,
        sample.future_days[:HORIZON],
        sample.future_peaks[:HORIZON],
        None,
        _first(np.nan_to_num(sample.future_peaks), level),
        _first(expected, level),
    )


def other(seed: int) -> Case:
    """Return a structure of `bench.forecast_world`."""
    found = world(seed)
    return Case(
        found.days,
        found.peaks,
        found.level,
        found.future_days[:HORIZON],
        found.future_ordinary[:HORIZON],
        found.future_peaks[:HORIZON],
        _first(found.future_ordinary, found.level),
        _first(found.noise_free, found.level),
    )


WORLDS: dict[str, Callable[[int], Case]] = {"simulated": simulated, "other": other}


def _first(path: Floats, level: float) -> int:
    above = np.flatnonzero(path > level)
    return int(above[0]) + 1 if len(above) else NEVER


# ---- forecasts and their errors -------------------------------------------------------------------------------------


@dataclass
class Tally:
    """The scores of one forecasting method over many structures."""

    errors: list[int] = field(default_factory=list)
    usual_errors: list[int] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)
    early: list[bool] = field(default_factory=list)
    late: list[bool] = field(default_factory=list)
    open_cases: list[bool] = field(default_factory=list)
    said_beyond: int = 0
    said_within: int = 0
    wape: list[float] = field(default_factory=list)
    pinball: list[float] = field(default_factory=list)
    days_covered: list[float] = field(default_factory=list)
    probabilities: list[float] = field(default_factory=list)
    happened: list[bool] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def crossing(self, case: Case, days: Sequence[int | None], usual: int | None = None) -> None:
        """Compare p10, p50 and p90 of the crossing with the outcome.

        `usual` is the day on which p50 of the peak crosses, which is compared with the truth without noise. An error is
        counted if the level was crossed within the horizon, or was forecast to be. A crossing that came within the
        horizon but was forecast beyond it counts as larger than any other error.
        """
        low, middle, high, usual = (BEYOND if day is None else day for day in (*days, usual))
        came = min(case.crossed, BEYOND)
        if came <= HORIZON or middle <= HORIZON:
            # The median of errors needs a value for a missed crossing as well, one that is larger than any other.
            self.errors.append(abs(middle - case.crossed) if middle <= HORIZON else NEVER)
            self.said_beyond += middle > HORIZON
            self.said_within += came > HORIZON
        # Structures that cross in neither view would count as perfect forecasts.
        if usual <= HORIZON or case.crossed_without_noise <= HORIZON:
            self.usual_errors.append(abs(usual - case.crossed_without_noise) if usual <= HORIZON else NEVER)
        self.covered.append(low <= came <= high)
        self.early.append(came < low)
        self.late.append(came > high)
        self.open_cases.append(low <= HORIZON)

    def usage(self, case: Case, quantiles: Floats) -> None:
        """Compare p10, p50 and p90 of each day's peak with the outcome."""
        measured = np.isfinite(case.came)
        actual, said = case.came[measured], quantiles[:, measured]
        self.wape.append(wape(actual, said[1]) or 0.0)
        self.pinball.append(pinball(actual, said) or 0.0)
        self.days_covered.append(float(((actual >= said[0]) & (actual <= said[2])).mean()))


def peaks_of(case: Case, number: int) -> DailyPeaks:
    """Return the history as input of a forecast."""
    return DailyPeaks("SIM1", f"APPL{number}", "entries", case.days, case.peaks, "entries")


def ours(case: Case, number: int) -> Forecast:
    """Return the forecast of the nightly run."""
    return forecast(
        peaks_of(case, number),
        levels=[Level("85 %", case.level)],
        seed=SEED,
        resizes=(),
        least_days=min(LENGTHS) // 2,
    )


def measure_ours(
    name: str, structures: int, *, history: int | None = None, first: int = FIRST
) -> tuple[Tally, dict[str, Tally]]:
    """Score the forecast of the nightly run, and the simple rules, on the structures of a simulated world."""
    tally, rules = Tally(), {rule: Tally() for rule in RULES}
    for number, case in cases(name, structures, history=history, first=first):
        begun = time.process_time()
        found = ours(case, number)
        tally.seconds.append(time.process_time() - begun)
        (crossing,) = found.crossings
        tally.crossing(case, (crossing.days.p10, crossing.days.p50, crossing.days.p90), crossing.usual_day)
        tally.usage(case, np.array([found.quantiles[quantile] for quantile in NAMES]))
        if case.came_with_exceptional is not None and crossing.probability_with_exceptional_days is not None:
            tally.probabilities.append(crossing.probability_with_exceptional_days)
            tally.happened.append(bool((case.came_with_exceptional > case.level).any()))
        for rule, quantiles in rules_of(case).items():
            rules[rule].usage(case, quantiles)
    return tally, rules


def cases(
    name: str, structures: int, *, history: int | None = None, first: int = FIRST
) -> Iterator[tuple[int, Case]]:
    """Yield structures of a world with their numbers; with `history`, simulated ones with that many days."""
    for number in range(first, first + structures):
        yield number, WORLDS[name](number) if history is None else simulated(number, history)


# ---- simple rules ----------------------------------------------------------------------------------------------------

RULES = ("last value", "seasonal naive", "straight line through all points")
SPREADS = {"p10": 0.1, "p90": 0.9}


def rules_of(case: Case) -> dict[str, Floats]:
    """Return p10, p50 and p90 by the simple rules, with intervals from their own errors in the history.

    The last value and the seasonal rule use ratios of peaks in the history that are as many days apart as the lead, or
    at most half of the history apart. The straight line uses its distances from the history.
    """
    known = np.isfinite(case.peaks)
    days, peaks = case.days[known], case.peaks[known]
    last = int(days[-1])
    simple = baselines_of(days, peaks, made_on=last)
    lead = case.coming - last
    said = {
        RULES[0]: last_value(simple, case.coming),
        RULES[1]: seasonal_naive(simple, case.coming),
        RULES[2]: straight_line(simple, case.coming, made_on=last),
    }
    line = straight_line(simple, days, made_on=last)
    off_line = np.quantile(peaks - line, (0.1, 0.9))
    spreads = {
        RULES[0]: _ratios(days, peaks, lead, week=1),
        RULES[1]: _ratios(days, peaks, lead, week=7),
    }
    found = {
        rule: np.stack([said[rule] * low, said[rule], said[rule] * high])
        for rule, (low, high) in spreads.items()
    }
    found[RULES[2]] = np.stack(
        [np.maximum(said[RULES[2]] + off_line[0], 0), said[RULES[2]], said[RULES[2]] + off_line[1]]
    )
    return found


def _ratios(days: Days, peaks: Floats, lead: Days, *, week: int) -> tuple[Floats, Floats]:
    """Return p10 and p90 of a later peak over an earlier one, for each lead (rounded up to multiples of `week`)."""
    span = int(days[-1] - days[0]) + 1
    series = np.full(span, np.nan)
    series[days - days[0]] = np.maximum(peaks, 1.0)
    low, high = np.ones(len(lead)), np.ones(len(lead))
    # Many leads share a lag, and each needs the ratios of the whole history.
    known: dict[int, tuple[float, float]] = {}
    for number, ahead in enumerate(lead.tolist()):
        # Beyond half of the history, too few pairs of days are left for quantiles.
        lag = min(-(-ahead // week) * week, span // 2 // week * week)
        if lag not in known:
            ratios = series[lag:] / series[:-lag]
            ratios = ratios[np.isfinite(ratios)]
            known[lag] = (float(np.quantile(ratios, 0.1)), float(np.quantile(ratios, 0.9)))
        low[number], high[number] = known[lag]
    # The interval of a rule always contains the rule's own value, even if the history only rose.
    return np.minimum(low, 1.0), np.maximum(high, 1.0)


# ---- other models ----------------------------------------------------------------------------------------------------


def measure_candidate(candidate: str, name: str, structures: int) -> Tally:
    """Score one of the other models on the structures of a world."""
    from bench.forecast_candidates import candidate_paths

    tally = Tally()
    for number, case in cases(name, structures, first=UNSEEN):
        random = np.random.default_rng((SEED, number))
        begun = time.process_time()
        paths = candidate_paths(candidate, case.days, case.peaks, ahead=HORIZON, count=PATHS, random=random)
        tally.seconds.append(time.process_time() - begun)
        tally.crossing(case, day_quantiles(first_days(paths, case.level, reached=False), HORIZON))
        tally.usage(case, np.quantile(paths, (0.1, 0.5, 0.9), axis=0))
    return tally


KNOWING = "ideal forecast"


def measure_all_knowing(structures: int, *, first: int = UNSEEN) -> Tally:
    """Score the best possible forecast: structures whose simulated truth is known, with only the noise unknown."""
    tally = Tally()
    for number, case in cases("simulated", structures, first=first):
        sample = daily_peaks(number, horizon_days=2 * HORIZON)
        random, truth = np.random.default_rng((SEED, number)), sample.truth
        begun = time.process_time()
        history = len(sample.days)
        noise = np.log(sample.peaks / truth.expected[:history])
        ordinary = np.isfinite(noise) & (np.abs(noise) < ORDINARY * truth.noise)
        # The noise of an exceptional day says nothing about the days after it.
        ordinary[list(truth.backlog_days)] = False
        last = int(np.flatnonzero(ordinary)[-1])
        lasting = truth.noise_autocorrelation
        now = np.full(PATHS, lasting ** (history - 1 - last) * noise[last])
        paths = np.empty((PATHS, HORIZON))
        for day in range(HORIZON):
            fresh = random.normal(0, truth.noise * np.sqrt(1 - lasting**2), PATHS)
            now = lasting * now + fresh
            paths[:, day] = truth.expected[history + day] * np.exp(now)
        tally.seconds.append(time.process_time() - begun)
        tally.crossing(case, day_quantiles(first_days(paths, case.level, reached=False), HORIZON))
        tally.usage(case, np.quantile(paths, (0.1, 0.5, 0.9), axis=0))
    return tally


# ---- tables ----------------------------------------------------------------------------------------------------------


def share(flags: Sequence[bool]) -> float:
    """Return the share of true flags in percent."""
    return 100 * float(np.mean(flags))


def crossing_table(tally: Tally, knowing: Tally | None = None) -> list[str]:
    """Return the table of crossings, with the best possible forecast for comparison."""
    open_cases = [
        covered for covered, is_open in zip(tally.covered, tally.open_cases, strict=True) if is_open
    ]
    rows = [
        ("structures", f"{len(tally.covered)}"),
        ("passed, or forecast to pass, within 180 days", f"{len(tally.errors)}"),
        ("median absolute error of p50", f"{np.median(tally.errors):.0f} days"),
        (
            "median absolute error for the usual peak, without noise",
            f"{np.median(tally.usual_errors):.0f} days",
        ),
        ("passed within 180 days, forecast beyond", f"{tally.said_beyond}"),
        ("passed beyond 180 days, forecast within", f"{tally.said_within}"),
        ("80 % intervals that contain the day", f"{share(tally.covered):.0f} %"),
        ("the same for intervals that begin within 180 days", f"{share(open_cases):.0f} %"),
        ("passed before the interval", f"{share(tally.early):.0f} %"),
        ("passed after the interval", f"{share(tally.late):.0f} %"),
    ]
    if tally.probabilities:
        rows += [
            (
                "mean probability to pass within 180 days, exceptional days included",
                f"{100 * np.mean(tally.probabilities):.0f} %",
            ),
            ("structures that did pass, exceptional days included", f"{share(tally.happened):.0f} %"),
        ]
    if knowing is not None:
        error = f"{np.median(knowing.errors):.0f} days"
        rows.insert(3, ("the same for the ideal forecast", error))
        rows.append(
            ("80 % intervals of the ideal forecast that contain the day", f"{share(knowing.covered):.0f} %")
        )
    return ["| crossing of 85 % | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]


def usage_table(tallies: dict[str, Tally]) -> list[str]:
    """Return the table of daily peaks."""
    lines = [
        "| daily peaks, 180 days | weighted absolute error | pinball loss | in the 80 % interval |",
        "|---|---|---|---|",
    ]
    for name, tally in tallies.items():
        lines.append(
            f"| {name} | {100 * np.mean(tally.wape):.1f} % | {100 * np.mean(tally.pinball):.2f} % "
            f"| {100 * np.mean(tally.days_covered):.0f} % |"
        )
    return lines


def candidate_table(tallies: dict[str, Tally]) -> list[str]:
    """Return the table of models side by side."""
    lines = [
        "| model | median error of the crossing | intervals that contain it | weighted absolute error | pinball loss |",
        "|---|---|---|---|---|",
    ]
    for name, tally in tallies.items():
        error = float(np.median(tally.errors))
        told = f"{error:.0f} days" if error < NEVER else "beyond"
        lines.append(
            f"| {name} | {told} | {share(tally.covered):.0f} % | {100 * np.mean(tally.wape):.1f} % "
            f"| {100 * np.mean(tally.pinball):.2f} % |"
        )
    return lines


def ms_each(tally: Tally) -> str:
    """Return the CPU time of one forecast as text."""
    return f"{MS * float(np.median(tally.seconds)):.0f} ms of processor time each, at most {MS * max(tally.seconds):.0f}"


def tables_of(
    name: str, tally: Tally, rules: dict[str, Tally], structures: int, *, first: int = FIRST
) -> list[str]:
    """Return both tables of a world for docs/explanation/forecasts.md."""
    knowing = measure_all_knowing(structures, first=first) if name == "simulated" else None
    return [*crossing_table(tally, knowing), "", *usage_table({OURS: tally, **rules})]


def candidates_of(name: str, structures: int) -> dict[str, Tally]:
    """Score all models on the same structures."""
    # Imported here, because importing statsmodels takes seconds, and most callers score only our model.
    from bench.forecast_candidates import CANDIDATES

    found = {OURS: measure_ours(name, structures, first=UNSEEN)[0]}
    if name == "simulated":
        found[KNOWING] = measure_all_knowing(structures)
    found.update({candidate: measure_candidate(candidate, name, structures) for candidate in CANDIDATES})
    return found


LENGTHS = (30, 42, 60, 90, 180, 365)


def length_table(structures: int) -> list[str]:
    """Return the table of accuracy by length of history, on simulated structures."""
    lines = [
        "| days of history | median error of the crossing | intervals that contain it | weighted absolute error | of seasonal naive |",
        "|---|---|---|---|---|",
    ]
    for length in LENGTHS:
        tally, rules = measure_ours("simulated", structures, history=length)
        error = float(np.median(tally.errors))
        lines.append(
            f"| {length} | {error:.0f} days | {share(tally.covered):.0f} % | {100 * np.mean(tally.wape):.1f} % "
            f"| {100 * np.mean(rules[RULES[1]].wape):.1f} % |"
        )
    return lines


BLOCK = re.compile(r"(<!-- forecasts: ([a-z, 0-9]+) -->)\n(.*?)(<!-- end -->)", re.DOTALL)


def world_block(name: str, structures: int, *, first: int = FIRST) -> tuple[str, list[str], str]:
    """Return the name, the lines and a remark for the table of a world."""
    tally, rules = measure_ours(name, structures, first=first)
    lines = tables_of(name, tally, rules, structures, first=first)
    unseen = "unseen, " if first == UNSEEN else ""
    return f"{name}, {unseen}{structures} structures", lines, ms_each(tally)


def model_block(name: str, structures: int) -> tuple[str, list[str], str]:
    """Return the name, the lines and a remark for the table of models."""
    tallies = candidates_of(name, structures)
    told = "\n".join(f"{candidate}: {ms_each(tally)}" for candidate, tally in tallies.items())
    return f"models, {name}, {structures} structures", candidate_table(tallies), told


def length_block(structures: int) -> tuple[str, list[str], str]:
    """Return the name and the lines of the table by length of history."""
    return f"histories, {structures} structures", length_table(structures), ""


def blocks(
    *, structures: int, unseen: int, models: int, lengths: int
) -> Iterator[tuple[str, list[str], str]]:
    """Yield the name, the lines and a machine-dependent remark for each table."""
    for name in WORLDS:
        yield world_block(name, structures)
    for name in WORLDS if unseen else ():
        yield world_block(name, unseen, first=UNSEEN)
    if lengths:
        yield length_block(lengths)
    if models:
        for name in WORLDS:
            yield model_block(name, models)


def print_tables(
    *, structures: int, unseen: int, models: int, lengths: int, page: Path | None = None
) -> None:
    """Print the tables of docs/explanation/forecasts.md, and write them into `page` if it is given."""
    made: dict[str, list[str]] = {}
    for name, lines, told in blocks(structures=structures, unseen=unseen, models=models, lengths=lengths):
        made[name] = lines
        print("\n".join(["", f"<!-- forecasts: {name} -->", *lines, "<!-- end -->", told]), flush=True)
    if page is not None:
        page.write_text(with_blocks(page.read_text("utf-8"), made), "utf-8")


def with_blocks(text: str, made: dict[str, list[str]]) -> str:
    """Return the text of a page with new tables."""
    # Without this check, a renamed table would disappear from the page unnoticed.
    missing = set(made) - set(blocks_of(text))
    if missing:
        message = f"the page has no place for {sorted(missing)}"
        raise ValueError(message)

    def block(match: re.Match[str]) -> str:
        return "\n".join([match[1], *made.get(match[2], match[3].splitlines()), match[4]])

    return BLOCK.sub(block, text)


def blocks_of(text: str) -> dict[str, str]:
    """Return the tables of a page by name."""
    return {match[2]: match[3].rstrip("\n") for match in BLOCK.finditer(text)}
