"""The harness: reaches targets, runs cases against them, judges and records."""

__version__ = "0.1.0"
