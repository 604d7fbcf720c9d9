"""The filters of the Ansible role, loaded from the file that Ansible loads."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.packaging.pins import ROOT

ROLE = ROOT / "deploy" / "ansible" / "roles" / "cfplan_structures"


def load_filters() -> ModuleType:
    """Return the module with the filters."""
    spec = importlib.util.spec_from_file_location(
        "cfplan_filters", ROLE / "filter_plugins" / "cfplan_structures.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
