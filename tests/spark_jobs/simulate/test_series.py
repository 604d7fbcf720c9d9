"""Noise of simulated days."""

from __future__ import annotations

import numpy as np
import pytest

from spark_jobs.simulate.series import autocorrelated


def test_noise_has_the_requested_deviation_and_correlation() -> None:
    noise = autocorrelated(np.random.default_rng(1), 50_000, deviation=0.3, correlation=0.6)
    assert noise.std() == pytest.approx(0.3, rel=0.03)
    assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(0.6, abs=0.02)
