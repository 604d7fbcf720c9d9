"""Curves fitted to the measurements of this site, the plans that use them, and the CFCC levels of coupling facilities."""
