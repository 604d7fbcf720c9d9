"""Pages about forecasts: which structure runs out first, and one structure's outlook."""
