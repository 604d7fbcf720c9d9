"""This version compared with the checkout of another one, measured alternately: `python -m bench.versions --before FOLDER`.

Both versions run in their own processes with their own packages (`.venv` of each folder), data folders and settings. They
are compared by commands and addresses that both have, or by functions of `bench` that both have; `probes` calls these. A
line that a version does not have is `-`, with the reason below the table. The time of `make test` is not measured.

The figures of one line come from the same run, one round of each version after the other, so that other load on the
machine affects both. The load of many users takes minutes; it is measured once for each version.
"""
