"""The model compared with direct calculations, and with histories generated from known parameters."""

from __future__ import annotations

import numpy as np
import pytest

from spark_jobs.forecast import breaks, noise, structural
from spark_jobs.forecast.breaks import breaks_of
from spark_jobs.forecast.design import Break, Design
from spark_jobs.forecast.noise import MOST_CORRELATION, NOISES, Distances, Lasting
from spark_jobs.forecast.structural import PRIOR_DAYS
from tests.spark_jobs.forecast.histories import MONDAY, busy

DEVIATION = 0.1
AHEAD = 60
GAPS = np.r_[0:40, 45:90]
"""Days measured: five are missing."""
WALKS = Lasting(0.6, 0.8, 0.1, 0.004)


def long_way(days: np.ndarray, other: np.ndarray, lasting: Lasting) -> np.ndarray:
    """Return the covariance of the days, calculated one by one, in units of the noise variance."""
    found = np.empty((len(days), len(other)))
    for row, one in enumerate(days.tolist()):
        for column, two in enumerate(other.tolist()):
            apart, early, late = abs(one - two), min(one, two), max(one, two)
            noise = lasting.share * lasting.correlation**apart if apart else 1.0
            level = lasting.level_walk**2 * early
            # The integral of (early - u)(late - u) over u from 0 to early.
            pace = lasting.pace_walk**2 * (early**2 * late / 2 - early**3 / 6)
            found[row, column] = noise + level + pace
    return found


def logs(days: np.ndarray) -> np.ndarray:
    random = np.random.default_rng(4)
    found: np.ndarray = (
        0.004 * days + np.where(days % 7 == 4, 0.3, 0.0) + random.normal(0, DEVIATION, len(days))
    )
    return found


def fitter(
    days: np.ndarray, *, changes: tuple[Break, ...] = ()
) -> tuple[structural._Fitter, Distances, Design]:
    last = int(days[-1])
    shared, design = structural._Shared(days, last=last), Design(days, last=last, breaks=changes)
    return (
        structural._Fitter(logs(days), shared, design.of(days), design.priors(), deviation=DEVIATION),
        shared.distances,
        design,
    )


@pytest.mark.parametrize(
    "days", [np.arange(200), GAPS, np.r_[0, 1, 30, 31, 32, 80:95], np.array([0]), np.r_[0, 4]]
)
@pytest.mark.parametrize("pace_walk", [0.0, 0.006])
@pytest.mark.parametrize("level_walk", [0.0, 0.2])
@pytest.mark.parametrize(("correlation", "share"), [*NOISES, (0.6, 0.8)])
def test_root_matches_a_direct_calculation(
    days: np.ndarray, correlation: float, share: float, level_walk: float, pace_walk: float
) -> None:
    lasting = Lasting(correlation, share, level_walk, pace_walk)
    distances, covariance = Distances(days, last=int(days[-1])), long_way(days, days, lasting)
    columns = np.random.default_rng(5).normal(size=(len(days), 3))
    expected = np.linalg.solve(np.linalg.cholesky(covariance), columns)
    assert distances.whiten(lasting, columns) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert distances.log_det(lasting) == pytest.approx(np.linalg.slogdet(covariance)[1], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    "values",
    [
        (-0.5, 1.0, 0.0, 0.0),
        (0.91, 0.5, 0.0, 0.0),
        (1.0, 1.0, 0.1, 0.0),
        (np.nan, 1.0, 0.0, 0.0),
        (0.5, 0.0, 0.0, 0.0),
        (0.5, 1.1, 0.0, 0.0),
        (0.5, 1.0, -0.1, 0.0),
        (0.5, 1.0, 0.0, np.nan),
        (0.5, 1.0, 0.0, np.inf),
    ],
)
def test_combination_without_an_accurate_root_is_rejected(values: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match=r"the correlation must be from 0 to 0\.9,"):
        Lasting(*values)


@pytest.mark.parametrize("share", [1e-3, 0.1, 1.0])
def test_root_of_the_largest_correlation_is_accurate(share: float) -> None:
    days = np.r_[0:50, 349, 350 + np.arange(8, 80, 8)]
    for level_walk in (0.0, 1e-3, 1.0):
        for pace_walk in (1e-8, 1e-5, 10.0):
            lasting = Lasting(MOST_CORRELATION, share, level_walk, pace_walk)
            found = Distances(days, last=int(days[-1])).log_det(lasting)
            assert found == pytest.approx(np.linalg.slogdet(long_way(days, days, lasting))[1], abs=1e-4)


def test_root_of_correlations_is_symmetric() -> None:
    made, distances, _ = fitter(GAPS)
    root = structural._root(made._both(WALKS, steps=3)[0], distances)
    scale = np.sqrt(np.diag(root @ root.T))
    correlations = root / scale[:, None]
    assert correlations == pytest.approx(correlations.T, abs=1e-9)


def test_roots_kept_for_the_same_days_give_the_same_paths() -> None:
    def paths(days: np.ndarray, last: int, level: float) -> np.ndarray:
        random = np.random.default_rng(7)
        peaks = np.exp(level + logs(days - days[0]))
        drawn = structural.structural(
            days, peaks, last=last, deviation=DEVIATION, ahead=AHEAD, count=50, random=random
        )
        return drawn.ordinary

    def forget() -> None:
        noise._distances_of.cache_clear()
        breaks._candidates_of.cache_clear()
        structural._shared_of.cache_clear()

    # More sets of days than are kept, and two histories of each set. The last day has no peak if it is exceptional or empty.
    sets = [MONDAY + GAPS, MONDAY + np.arange(90), MONDAY + np.arange(0, 120, 2), MONDAY + 1 + GAPS]
    several = [(days, int(days[-1]) + later) for days in sets for later in (0, 3)]
    assert len(several) > noise.KEPT_DAY_SETS
    apart = []
    for days, last in several:
        for level in (3.0, 7.0):
            forget()
            apart.append(paths(days, last, level))
    forget()
    together = [paths(days, last, level) for days, last in several for level in (3.0, 7.0)]
    assert noise._distances_of.cache_info().hits >= len(several)
    assert structural._shared_of.cache_info().hits >= len(several)
    assert all(np.array_equal(one, other) for one, other in zip(apart, together, strict=True))
    # In another order, other sets of days are kept.
    again = [paths(days, last, level) for level in (3.0, 7.0) for days, last in several]
    assert all(np.array_equal(one, other) for one, other in zip(apart[::2] + apart[1::2], again, strict=True))


def test_history_that_ends_later_has_its_own_roots_and_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    days, last = MONDAY + GAPS, MONDAY + int(GAPS[-1]) + 3
    noise.distances_of(days, last=int(days[-1]))
    asked = []
    candidates = breaks._candidates_of

    def recorded(of_days: bytes, of_last: int) -> breaks._Candidates:
        asked.append(of_last)
        return candidates(of_days, of_last)

    monkeypatch.setattr(breaks, "_candidates_of", recorded)
    distances = noise.distances_of(days, last=last)
    breaks.breaks_of(days, logs(GAPS), distances, last=last, deviation=DEVIATION)

    assert distances.last == last - int(days[0])
    assert asked == [last]


@pytest.mark.parametrize("changes", [(), (Break(30, "level"), Break(60, "pace"))])
def test_evidence_matches_the_joint_distribution_of_the_days(changes: tuple[Break, ...]) -> None:
    made, _, design = fitter(GAPS, changes=changes)
    columns = design.of(GAPS)
    prior = np.diag((design.priors() / DEVIATION) ** 2)
    known = logs(GAPS)
    ours, theirs = [], []
    for lasting in (WALKS, Lasting(0.0, 1.0), Lasting(0.85, 1.0)):
        covariance = long_way(GAPS, GAPS, lasting) + columns @ prior @ columns.T
        squares = known @ np.linalg.solve(covariance, known) + PRIOR_DAYS * DEVIATION**2
        determinant = np.linalg.slogdet(covariance)[1]
        theirs.append(-determinant / 2 - (len(known) + PRIOR_DAYS) / 2 * np.log(squares))
        ours.append(made._both(lasting, steps=3)[0].log_evidence - lasting.log_prior())
    assert np.diff(ours) == pytest.approx(np.diff(theirs), abs=1e-6)


@pytest.mark.parametrize("lasting", [WALKS, Lasting(0.0, 1.0), Lasting(0.85, 1.0, 0.2)])
def test_paths_have_the_mean_and_spread_of_the_predictive_distribution(lasting: Lasting) -> None:
    made, distances, design = fitter(GAPS)
    fit = made._both(lasting, steps=3)[0]
    coming = 90 + np.arange(AHEAD)
    paths, _ = structural._drawn(fit, distances, design.of(coming), 20_000, np.random.default_rng(2))

    columns, later = design.of(GAPS), design.of(coming)
    prior = np.diag((design.priors() / DEVIATION) ** 2)
    seen = long_way(GAPS, GAPS, lasting) + columns @ prior @ columns.T
    between = long_way(coming, GAPS, lasting) + later @ prior @ columns.T
    ahead = long_way(coming, coming, lasting) + later @ prior @ later.T
    known = logs(GAPS)
    mean = between @ np.linalg.solve(seen, known)
    spread = np.diag(ahead - between @ np.linalg.solve(seen, between.T))
    freedom = len(known) + PRIOR_DAYS
    squares = known @ np.linalg.solve(seen, known) + PRIOR_DAYS * DEVIATION**2
    deviation = np.sqrt(spread * squares / (freedom - 2))
    assert paths.mean(axis=0) == pytest.approx(mean, abs=0.03 * deviation.max())
    assert paths.std(axis=0) == pytest.approx(deviation, rel=0.05)


def drawn(peaks: np.ndarray, ahead: int = 180) -> np.ndarray:
    days = MONDAY + np.arange(len(peaks))
    made = structural.structural(
        days,
        peaks,
        last=int(days[-1]),
        deviation=0.05,
        ahead=ahead,
        count=400,
        random=np.random.default_rng(1),
    )
    return made.ordinary


def test_compounding_growth_continues() -> None:
    growth = 0.003
    peaks = busy(300, growth=growth, noise=0.02)
    middle = np.median(drawn(peaks), axis=0)
    truth = 1000 * np.exp(growth * (300 + np.arange(180))) * np.where((300 + np.arange(180)) % 7 >= 5, 0.5, 1)
    assert np.abs(np.log(middle / truth)).max() < 0.08


def test_linear_growth_is_distinguished_from_compounding_growth() -> None:
    day = np.arange(480)
    truth = 200 + 5.0 * day
    peaks = truth[:300] * busy(300, level=1.0, noise=0.02, weekend=1.0)
    middle = np.median(drawn(peaks), axis=0)
    assert np.abs(np.log(middle / truth[300:])).max() < 0.06


def test_shares_of_trends_are_whole_numbers_that_add_up_to_100() -> None:
    # The sum of shares that add up to 1 may be rounded to more than 1.
    assert structural._trend_of(1 + 2**-52) == "structural, 0 % compounding, 100 % linear"
    assert structural._trend_of(0.0) == "structural, 100 % compounding, 0 % linear"
    assert structural._trend_of(0.625) == "structural, 38 % compounding, 62 % linear"


def test_level_shift_is_found_and_not_treated_as_growth() -> None:
    peaks = busy(200)
    peaks[120:] *= 1.5
    days = MONDAY + np.arange(200)
    found = breaks_of(
        days, np.log(peaks / 1000), Distances(days, last=int(days[-1])), last=int(days[-1]), deviation=0.05
    )
    assert found == [Break(MONDAY + 120, "level")]
    middle = np.median(drawn(peaks), axis=0)
    working = np.arange(200, 380) % 7 < 5
    assert middle[working] == pytest.approx(1500, rel=0.1)


def test_several_breaks_are_found() -> None:
    peaks = busy(300, noise=0.02)
    peaks[60:] *= 1.5
    peaks[150:] *= 1.3
    peaks[240:] /= 1.6
    days = MONDAY + np.arange(300)
    last = int(days[-1])
    found = breaks_of(days, np.log(peaks / 1000), Distances(days, last=last), last=last, deviation=0.02)
    assert found == [Break(MONDAY + day, "level") for day in (60, 150, 240)]


def test_search_for_breaks_leaves_out_what_the_design_explains() -> None:
    candidates = breaks._candidates_of((MONDAY + GAPS).tobytes(), MONDAY + 89)
    basis, explained = breaks._explained(candidates, DEVIATION)
    assert explained == pytest.approx(basis.T @ candidates.columns)


def test_start_of_growth_is_found_and_the_growth_continues() -> None:
    peaks = busy(300, noise=0.04) * np.exp(np.maximum(np.arange(300) - 200, 0) * 0.006)
    days = MONDAY + np.arange(300)
    (found,) = breaks_of(
        days, np.log(peaks / 1000), Distances(days, last=int(days[-1])), last=int(days[-1]), deviation=0.04
    )
    assert found.of == "pace"
    assert abs(found.day - (MONDAY + 200)) < 14


@pytest.mark.parametrize("growth", [0.0, 0.004, -0.004])
def test_steady_growth_and_persistent_noise_are_not_breaks(growth: float) -> None:
    random = np.random.default_rng(11)
    days = MONDAY + np.arange(300)
    for _ in range(10):
        noise = np.zeros(300)
        for day in range(1, 300):
            noise[day] = 0.6 * noise[day - 1] + random.normal(0, 0.05)
        last = int(days[-1])
        found = breaks_of(
            days, growth * np.arange(300) + noise, Distances(days, last=last), last=last, deviation=0.06
        )
        assert found == []


def test_unmeasured_weekdays_have_the_average_of_the_others() -> None:
    days = MONDAY + 7 * np.arange(60)
    design = Design(days, last=int(days[-1]))
    assert design.of(days).shape[1] == len(design.priors())
    coming = int(days[-1]) + 1 + np.arange(7)
    assert np.all(design.of(coming)[:, 2] == 0), "one weekday is its own average"
    two = Design(np.concatenate([days, days + 2]), last=int(days[-1]) + 2).of(coming)
    assert two[:, 2:4].sum(axis=1) == pytest.approx(np.zeros(7))
    assert not two[[0, 2, 3, 4, 5], 2:4].any(), "Tuesday, Thursday and after"
