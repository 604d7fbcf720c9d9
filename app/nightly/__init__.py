"""The nightly run: starts the job that fits curves and forecasts, and stores and shows its results."""
