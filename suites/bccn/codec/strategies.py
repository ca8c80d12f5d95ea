"""Messages of every legal shape."""

from __future__ import annotations

from hypothesis import strategies as st

from suites.bccn.wire import SECRET

NAME = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=":|"), min_size=1, max_size=40)
SEQ = st.integers(0, 2**64 - 1)
PAYLOAD = st.binary(max_size=300)
KEY = st.sampled_from([b"", SECRET])
MESSAGE = st.tuples(NAME, SEQ, NAME, PAYLOAD)
"""src, seq, chan and payload."""
