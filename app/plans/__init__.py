"""Plans that are kept: saved, versioned, deleted and brought back."""
