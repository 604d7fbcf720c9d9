"""Forecasts are stored and shown like fits."""

from tests.app.fits.conftest import app as app
