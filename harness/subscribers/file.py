"""A report that is one file, written when the run ends."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.files import make_room, write_whole
from harness.judging.result import CaseResult, Event, Footer, Header


class FileReport:
    """Collects a run and writes it whole at the footer. Subclasses say how it looks."""

    def __init__(self, path: Path) -> None:
        """Takes away what is there: a path that cannot be written fails before the run, no old report outlives it."""
        self.path = path
        self._header: Header | None = None
        self._results: list[CaseResult] = []
        try:
            make_room(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None

    def __call__(self, event: Event) -> None:
        match event:
            case Header():
                self._header = event
            case CaseResult():
                self._results.append(event)
            case Footer():
                assert self._header, "a run begins with its header"
                write_whole(self.path, self.render(self._header, self._results, event))

    def render(self, header: Header, results: list[CaseResult], footer: Footer) -> bytes:
        """The whole file."""
        raise TypeError(type(self))
