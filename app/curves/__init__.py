"""Curves fitted to this site: plans evaluated with them, what is said about them, the levels of coupling facilities."""
