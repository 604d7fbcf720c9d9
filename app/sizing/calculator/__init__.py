"""The quick calculator: the few inputs that CFSizer asks for, with the answer on the same page."""
