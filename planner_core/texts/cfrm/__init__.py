"""CFRM policy statements: rendered from a result, parsed back from text."""
