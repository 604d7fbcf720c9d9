"""Stored plans: saving, versions, deletion and restoration."""
