"""Data with teeth for random runs: what is spelled oddly, stands at a limit, or is nearly something else."""

from __future__ import annotations

from hypothesis import strategies as st

from suites.peerbus.codec.strategies import bodies as tokens

SPELLED = (
    b'{"z":1,"a":2}', b'{"a":2,"z":1}', b'{"a":1,"a":2}', b'"text"', rb'"te\u0078t"', rb'"\/"', b'"/"', b"null", b'""',
    rb'{"t":"\/\u0041"}', b"[1.0,1e5,-0]", b"[1,100000,0]", b'"\xef\xbb\xbf"',
)  # fmt: skip
"""Bodies that differ from one another in spelling only, or hardly at all."""

EDGES = tuple(
    b"%d" % (sign * (2**bits + near)) for bits in (31, 32, 53, 63, 64) for near in (-1, 0, 1) for sign in (1, -1)
)
"""Numbers around what 32, 53, 63 and 64 bits hold."""

SIZES = tuple(
    b'"%s"' % (b"x" * (size + near - 2)) for size in (125, 126, 1024, 4096, 65535, 65536) for near in (-1, 0, 1)
)
"""Bodies as long as the buffers that people choose, and as WebSocket's own lengths."""

bodies = st.one_of(
    st.sampled_from(SPELLED),
    st.sampled_from(EDGES),
    st.sampled_from(SIZES),
    tokens.map(lambda parts: "".join(parts).encode()),
)


def related(name: str) -> list[str]:
    """Four names: one the beginning of others, one that sorts before `*`, one in another case."""
    return [name, f"{name}a", f"!{name}", name.upper()]
