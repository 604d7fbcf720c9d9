"""The published tables on which every figure is based."""
