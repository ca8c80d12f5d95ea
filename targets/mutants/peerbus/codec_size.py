"""Codecs that do not live through what is larger than they expect."""

from __future__ import annotations

from reference_impl.peerbus.codec import LineDecoder
from reference_impl.peerbus.frames import Frame, Garbage
from targets.mutants.peerbus.codec_lines import reads_lines_wrongly

LONGEST = 1024 * 1024


@reads_lines_wrongly("PB-1-07")
class LongLinesAreTheEnd(LineDecoder):
    """Ends the whole program at a line of more than 1 MiB."""

    def line(self, line: bytes) -> Frame | Garbage:
        if len(line) > LONGEST:
            raise SystemExit(f"a line of {len(line)} bytes")
        return super().line(line)
