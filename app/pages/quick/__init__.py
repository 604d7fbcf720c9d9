"""The quick calculator: CFSizer's few questions, and the answer on the same page."""
