"""Collecting data: the records that are missing, and the kit with the settings and jobs that collect them."""
