"""Stored plans over REST."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(prefix="/api/v1/plans", tags=["stored plans"])
