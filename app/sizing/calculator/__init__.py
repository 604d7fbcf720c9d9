"""The quick calculator: the few inputs of CFSizer, with the answer on the same page."""
