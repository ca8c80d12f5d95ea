"""SBP mutants, by role: `codec_` and `peer_`."""

from targets.mutants import import_all
from targets.mutants.sbp.shelf import shelf

import_all(__name__)
MUTANTS = shelf.mutants
