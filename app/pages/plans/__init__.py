"""Plans that are kept: list, editor, result, versions, sheets of paper, files."""
