"""SBP mutants."""

from targets.mutants.sbp import codec, peer
from targets.mutants.sbp.shelf import shelf

__all__ = ["MUTANTS", "codec", "peer"]
MUTANTS = shelf.mutants
