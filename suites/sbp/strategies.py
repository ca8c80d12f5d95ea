"""Data with teeth for SBP: at the limits of the clauses and of the sizes that people choose for buffers, and what looks alike."""

from __future__ import annotations

from hypothesis import strategies as st

EDGES = [0, 1, -1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
TIMES = st.one_of(st.none(), st.sampled_from(EDGES), st.integers(-(2**63), 2**63 - 1))
"""Timestamps: none, where 32, 53 and 64 bits end, and any."""

ODD_TEXTS = [
    "\u00e9",
    "e\u0301",
    "\ufeff",
    "\u200b",
    "\u202e",
    "\u2028",
    "\U0001f600",
    "\ud7ff\ue000",
    " ",
    "A",
    "a",
    "/",
]
TEXTS = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.lists(st.sampled_from(ODD_TEXTS), max_size=6).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
)

LONGEST = ["app/" + "y" * 252, "app/" + "\u00e9" * 126, "app/" + "\U0001f600" * 63, "app/" + "y" * 251]
SUBJECTS = st.one_of(
    st.sampled_from(["app/x", "app/x/", "app/x/y", "app/X", *LONGEST]), TEXTS.map(lambda t: f"app/x{t}")
)
"""Of at most 256 bytes, in the one namespace that everybody takes; some are the beginning of others."""

SIZES = [
    0,
    1,
    15,
    16,
    17,
    125,
    126,
    127,
    255,
    256,
    1023,
    1024,
    1025,
    1500,
    1536,
    4095,
    4096,
    4097,
    65_507,
    65_535,
    65_536,
]
DATA = st.one_of(
    st.binary(max_size=30),
    st.builds(
        lambda size, fill: fill * size, st.sampled_from(SIZES), st.sampled_from([b"\x00", b"\xff", b"{", b"\xc3"])
    ),
)

IDS = st.one_of(
    st.binary(min_size=16, max_size=16),
    st.builds(lambda n, at: (bytes(at) + n + bytes(16))[:16], st.binary(min_size=1, max_size=2), st.integers(0, 14)),
)
"""Any, and such as differ from others in a byte or two."""
