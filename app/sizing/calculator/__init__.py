"""The quick calculator: the few questions CFSizer asked, with the answer on the same page."""
