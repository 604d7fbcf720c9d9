"""z/OSMF workflow definitions."""
