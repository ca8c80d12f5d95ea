"""BCCN mutants: the codec's in `envelope`, `integrity` and `body`, the node's in `node` and `tracker`, both in `addressing`."""

from targets.mutants.bccn import addressing, body, envelope, integrity, node, tracker
from targets.mutants.bccn.shelf import shelf

__all__ = ["MUTANTS", "addressing", "body", "envelope", "integrity", "node", "tracker"]
MUTANTS = shelf.mutants
