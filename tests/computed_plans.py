"""The contents of saved plans, computed once for each document in the processes of tests.

Hundreds of tests save the same examples before they test something else; the calculation of their explanations and z/OS
texts took half of the CPU time of the tests of plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace

import pytest

from app.fits.kept import Curves
from app.plans import computed
from app.plans.computed import ComputedPlan, DocumentText
from planner_core.document.model import FittedCurve, PlanDocument

_PARTS = ("evaluate", "written_explanations", "render_output")
"""The functions that `app.plans.computed` calls, and that tests replace."""
_MOST_KEPT = 64
_LONGEST_KEPT_CHARACTERS = 100_000

compute_really: Callable[[PlanDocument, DocumentText, Curves], ComputedPlan] = computed._compute
"""The function of the service."""


class ComputedOnce:
    """Replaces `app.plans.computed._compute`: keeps the contents of the last documents without a fitted curve.

    The contents depend only on the document, unless a test replaces a function, so these are the key. A fitted curve is in
    the database, and can change.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], ComputedPlan] = {}

    def compute(self, document: PlanDocument, written: DocumentText, curves: Curves) -> ComputedPlan:
        """Return the contents of a version with this document and its canonical text."""
        if isinstance(document.curve, FittedCurve) or len(written.text) > _LONGEST_KEPT_CHARACTERS:
            return compute_really(document, written, curves)
        key = (written.text, *(getattr(computed, name) for name in _PARTS))
        found = self._kept.get(key)
        if found is None:
            found = compute_really(document, written, curves)
            while len(self._kept) >= _MOST_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[key] = found
        return replace(found, accepted=deepcopy(found.accepted))


@pytest.fixture(scope="session", autouse=True)
def plans_are_computed_once() -> Iterator[None]:
    """Compute the contents of equal plans once in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computed, "_compute", ComputedOnce().compute)
        yield
