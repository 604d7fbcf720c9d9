"""The addresses of the what-if questions. A plan document in, an answer out; nothing is stored."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/api/v1/whatif", tags=["what if"])
