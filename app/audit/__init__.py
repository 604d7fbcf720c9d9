"""The audit trail: who did what, when and from where; entries are only added, never changed or removed."""
