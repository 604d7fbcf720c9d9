"""Pages about fitted curves, and the CFCC levels of coupling facilities."""
