"""The files of pins in requirements/, for tests."""

from inventory.pins import FILES, ROOT, Pin, parse_pins, read_pins

__all__ = ["FILES", "ROOT", "Pin", "parse_pins", "read_pins"]
