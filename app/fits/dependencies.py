"""Fitted curves as a dependency of routes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from app.fits.kept import Curves, curves_in


def curves_of(request: Request) -> Curves:
    """Return the fitted curves of this service, for documents that name one."""
    return curves_in(request.app.state.database)


CurvesDep = Annotated[Curves, Depends(curves_of)]
