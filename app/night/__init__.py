"""The night: fitted curves, forecasts and findings, made by a job from the usage history and kept here."""
