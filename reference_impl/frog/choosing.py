"""Holes: what a speaker of FROG chooses itself, and draws at random where it plays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable
from typing import Any

from reference_impl.core.expectation import Entropy, Hole
from reference_impl.frog.identifiers import encode, is_id, is_request_id, new_id


def an_id(label: str, used: Container[str], shared: Hashable = None) -> Any:
    """A random id of 26 characters that was not used before."""

    def admits(got: Any, _: Any) -> bool:
        return isinstance(got, str) and is_id(got) and got not in used  # FROG-17-03, FROG-24-10

    return Hole(label, admits, lambda entropy, _: new_id(entropy), shared)


def an_fcid(outstanding: Callable[[str], bool] = lambda _: False, shared: Hashable = None) -> Any:
    """An FCID of 104 random bits of which no request is outstanding (FROG-7.10-05, FROG-7.10-06)."""

    def admits(got: Any, _: Any) -> bool:
        return isinstance(got, str) and is_request_id(got) and not outstanding(got)

    return Hole("an FCID", admits, lambda entropy, _: f"F_{encode(entropy(13))}", shared)


def a_cid(outstanding: Collection[str]) -> Any:
    """A CID of which no request is outstanding (FROG-7.9-03, FROG-20-05)."""

    def admits(got: Any, _: Any) -> bool:
        return isinstance(got, str) and is_request_id(got) and got not in outstanding

    return Hole("a CID", admits, lambda entropy, _: f"C_{encode(entropy(10))}")  # never a route id (AMB-46)


def some_of(candidates: Collection[Any], most: int, least: int = 0) -> Any:
    """Different ones of these, no more than that many; the player draws as many as it may."""
    wanted = sorted(candidates)
    allowed = frozenset(wanted)

    def admits(got: tuple[Any, ...], _: Any) -> bool:
        """Of these alone (FROG-22-03), and no more, each once (FROG-22-06)."""
        return least <= len(got) <= most and len(set(got)) == len(got) and allowed.issuperset(got)

    return Hole(f"{least} to {most} of {wanted}", admits, lambda entropy, _: drawn(entropy, wanted, most))


def drawn(entropy: Entropy, candidates: list[Any], most: int) -> tuple[Any, ...]:
    """A random choice in a random order (FROG-22-07)."""
    left, chosen = list(candidates), list[Any]()
    while left and len(chosen) < most:
        chosen.append(left.pop(int.from_bytes(entropy(8), "big") % len(left)))
    return tuple(chosen)


def signed_by(label: str, valid: Callable[[str, str], bool], key: str, signature: str) -> tuple[Any, Any]:
    """Somebody's public key, and a signature that holds under it; ours are these."""
    return (
        Hole(f"{label}: a key", lambda got, _: isinstance(got, str), lambda _, __: key),
        Hole(label, lambda got, frame: valid(frame.public_key, got), lambda _, __: signature),
    )


def proven(label: str, valid: Callable[[str], bool], value: str) -> Any:
    """A signature that holds; ours is this one."""
    return Hole(label, lambda got, _: isinstance(got, str) and valid(got), lambda _, __: value)


def words(value: str) -> Any:
    """Any words; ours are these."""
    return Hole("any words", lambda got, _: isinstance(got, str), lambda _, __: value)


def jitter() -> Any:
    """A number from 0 to 1, drawn at random and seen by nobody."""
    return Hole("jitter", lambda _, __: True, lambda entropy, _: int.from_bytes(entropy(4), "big") / 2**32)
