"""SIGINT and SIGTERM end a run in the same order. One is enough: it is raised again until somebody has heard it.

Python drops an exception that is raised inside of a destructor or a callback of the collector, a KeyboardInterrupt too: of some
thirty runs that were ended at a random moment one went on to its end.
"""

from __future__ import annotations

import signal
import sys
import warnings

AGAIN_S = 5.0


class Interrupted(KeyboardInterrupt):
    """Python remembers a plain one that ended an `exec` of a text, as dataclasses have, and then dies of SIGINT."""


class Interrupts:
    """The code to exit with says which signal it was."""

    code = 130

    def expect(self) -> None:
        """From now on; who was started to ignore one goes on to."""
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._end)
        signal.signal(signal.SIGALRM, self._again)

    def _end(self, number: int, frame: object) -> None:
        if number == signal.SIGTERM:  # one is enough: what was begun is put in order
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.code = 128 + number
        sys.unraisablehook = _is_ending
        warnings.simplefilter("ignore")
        self._again(number, frame)

    def _again(self, number: int, frame: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
        raise Interrupted


def _is_ending(_: object) -> None:
    """What is ended in its middle complains of it, or drops the interrupt in a destructor: nobody is told, it comes again."""


def heard() -> None:
    """Somebody puts things in order, and is not to be interrupted in that."""
    signal.setitimer(signal.ITIMER_REAL, 0)
