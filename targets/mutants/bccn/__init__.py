"""BCCN mutants.

The codec's are in `envelope`, `integrity`, `body`, `fields` and `addressing`, some of them once more inside a node; all
others are the node's.
"""

from targets.mutants import import_all
from targets.mutants.bccn.shelf import shelf

import_all(__name__)
MUTANTS = shelf.mutants
