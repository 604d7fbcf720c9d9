"""Benchmarks: ratios measured in one run on one machine, because absolute times depend on the machine."""

from __future__ import annotations

import spark_jobs  # noqa: F401 - must come before numpy, whose linear algebra then uses one thread, as in the jobs
