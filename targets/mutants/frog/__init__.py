"""FROG mutants, by role: `codec_`, `server_`, `client_`; faults that several roles share: `framing_`, `writing`, `identity_`."""

from targets.mutants import import_all
from targets.mutants.frog.shelf import shelf

import_all(__name__)
MUTANTS = shelf.mutants
