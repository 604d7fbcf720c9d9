"""Snapshots of everything that users see, to prove that a redesign changes none of it.

`python -m tests.nets write FOLDER` writes every answer, page and command output of the checkout that it is run in as text
files. `python -m tests.nets compare A B` compares two such folders. `python -m tests.nets data FOLDER` builds a data
folder through the public interfaces, which `write --data FOLDER` opens a copy of.

The package exists for the duration of the redesign and is deleted at its end. It uses public interfaces only, so that it
can be copied into an older commit and run there.
"""
