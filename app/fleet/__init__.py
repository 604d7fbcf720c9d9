"""The overview: coupling facilities, structures by urgency, the latest nightly run, plans with open findings."""
