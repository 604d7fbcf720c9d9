"""Backups of everything that the service stores, in one archive, and restoring them."""
