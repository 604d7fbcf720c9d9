"""The nightly jobs: histories in, fitted curves and forecasts out."""
