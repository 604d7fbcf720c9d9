"""Stored plans: saved, versioned, deleted and restored."""
