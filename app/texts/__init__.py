"""Texts from users: plan documents in YAML or JSON, example files, compressed text."""
