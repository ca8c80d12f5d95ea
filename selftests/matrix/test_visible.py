"""Which mutants a pair could meet is settled by fair walks alone."""

from __future__ import annotations

import pytest

from harness.matrix.pairing import paired_protocols, pairings
from harness.matrix.visible import wire_visible
from harness.mutation.mutant import mutants_of
from harness.touring.tours import tours_of

ROLES = sorted({seat.role for protocol in paired_protocols() for p in pairings(protocol) for seat in p.seats.values()})


@pytest.mark.parametrize("role", ROLES)
def test_a_fair_walk_has_no_foul_letter(role: str) -> None:
    """Nor has its ending; and what is foul is a letter that there is."""
    tours = tours_of(*role.split("/"))
    assert set(tours.foul) < {letter.name for letter in tours.letters}
    assert tours.fair_walks
    for walk in tours.fair_walks:
        assert not set(walk.letters) & set(tours.foul)
        assert not {letter.name for letter in tours._letters(walk)} & set(tours.foul)


@pytest.mark.parametrize("role", ROLES)
def test_fair_walks_say_every_letter_that_is_not_foul(role: str) -> None:
    tours = tours_of(*role.split("/"))
    fair = {letter.name for letter in tours.letters} - set(tours.foul)
    said = {name for walk in tours.fair_walks for name in walk.letters}
    assert said == fair & set(tours.atlas.letters)


def test_what_honest_peers_meet_is_visible_and_what_they_never_send_is_not() -> None:
    names = ("acks-twice", "takes-any-version", "never-pongs")
    found = wire_visible("sbp", [mutants_of("sbp")[name] for name in names], workers=1)
    assert found == {"acks-twice": "SBP-ACK-03"}, "another version is foul, and to answer a Ping is no MUST"
