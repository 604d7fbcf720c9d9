"""CFRM policy statements: written from a result, and read from text."""
