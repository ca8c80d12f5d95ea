"""Peerbus mutants, by role: `broker_`, `client_` and `codec_`."""

from targets.mutants import import_all
from targets.mutants.peerbus.shelf import document, shelf

import_all(__name__)
MUTANTS = [*shelf.mutants, *document.mutants]
