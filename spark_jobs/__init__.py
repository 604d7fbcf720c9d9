"""The nightly jobs, which read histories and write fitted curves and forecasts."""

from __future__ import annotations

import os

# Fits and forecasts solve many small systems, which threads of the linear algebra library only slow down: on a busy
# machine a forecast took ten times the processor time. numpy reads the variable when it is loaded, so it is set before
# any job loads numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
