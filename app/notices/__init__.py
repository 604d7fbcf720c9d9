"""Notices by email and webhook: dates of limits that move, full structures, failed nightly runs."""
