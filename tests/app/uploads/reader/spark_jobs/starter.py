"""The real starter of jobs, without the packages that the stand-ins do not need."""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

LIMITS = ("MOST_JOBS", "MOST_MEMORY_KIB")
PATH = Path(__file__).parents[5] / "spark_jobs" / "starter.py"

if __name__ == "__main__":
    loader = SourceFileLoader("starter", str(PATH))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    real = module_from_spec(spec)
    loader.exec_module(real)
    vars(real).update(IMPORTED_ON_FIRST_USE=(), hide_pandas_from_arrow=lambda: None)
    vars(real).update({name: int(os.environ[name]) for name in LIMITS if name in os.environ})
    sys.exit(real.main(sys.argv[1:]))
