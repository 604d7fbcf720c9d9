"""Pages of the nights: runs, one run, what the newest one found, and simulated data to look around with."""
