"""BCCN mutants.

The codec's are in `envelope`, `integrity` and `body`, the node's in `node`, `conventions` and `tracker`, both in `addressing`.
"""

from targets.mutants.bccn import addressing, body, conventions, envelope, integrity, node, tracker
from targets.mutants.bccn.shelf import shelf

__all__ = ["MUTANTS", "addressing", "body", "conventions", "envelope", "integrity", "node", "tracker"]
MUTANTS = shelf.mutants
