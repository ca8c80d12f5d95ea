"""The harness: reaches targets, runs cases against them, judges and records."""

__version__ = "0.1.0"
"""The version of the package, of the harness in every run, and of the reference: it stands nowhere else."""
