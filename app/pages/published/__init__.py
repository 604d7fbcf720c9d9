"""The reference pages: every published table with its source, its basis and what there is to say about its rows."""
