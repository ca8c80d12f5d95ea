"""TrueSeal mutants, by role: `codec_`, `relay_` and `client_`."""

from targets.mutants import import_all
from targets.mutants.trueseal.shelf import shelf

import_all(__name__)
MUTANTS = shelf.mutants
