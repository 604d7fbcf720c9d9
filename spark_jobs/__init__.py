"""The nightly jobs: histories in, fitted curves and forecasts out."""

from __future__ import annotations

import os

# Fits and forecasts solve many small systems. Threads of the linear algebra only take turns at them: on a busy machine
# a forecast took ten times the processor time. It is read when numpy is loaded, so it is set before any job loads it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
