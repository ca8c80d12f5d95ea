"""The client beside its oracle: servers welcome it, lie to it and drop it, and its host asks, as Hypothesis likes.

There is no expected frame in this file: whatever the client says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from harness.catalogue.cases import clauses
from harness.catalogue.vectors import load
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from harness.targets import Target
from harness.touring.tour import Tour, likeliest
from harness.touring.world import Letter, Say
from reference_impl.frog.host import AskPeers, SendSignal
from suites.frog.client.under_test import ROLE, ClientUnderTest
from suites.frog.client.watch import ClientGuide
from suites.frog.client.world import ENDING, LETTERS, TOURS, ClientWorld, an_id
from suites.frog.codec.under_test import wire_of
from suites.frog.wire import Peer, message, network

BROKEN = [
    wire_of(vector)
    for vector in load("frog/refused").within(["to_client"])
    if "fill_hex" not in vector.input and vector.result == "invalid"
]
WHICH = st.integers(0, 2**16)
"""Which of several; their number is the client's business, and what Hypothesis draws must not depend on it."""

PAYLOADS = st.binary(max_size=40) | st.sampled_from([1024, 1500, 1536, 4096, 65_507, 65_535, 65_536]).map(bytes)
KINDS = st.sampled_from(["OFFER", "ANSWER", "ICE"])
COMING = ("is welcomed", "is challenged", "is registered")
"""On the way to a registration half of the steps lead on: what is of interest happens behind it."""


class Frog(LoopMachine):
    """One client and four servers: two that it ships with, one that it may learn of, one that must stay unknown.

    A client is free to hang up at many a word, sooner or later. So every rule may be chosen at any time, and one for which there
    is no connection, request or route does nothing.
    """

    watch: ClientGuide

    def __init__(self, trial: Trial, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(trial, loop)
        self.wait(self._begin(trial))

    async def _begin(self, trial: Trial) -> None:
        target = trial.target
        client = ClientUnderTest(trial, await target.session(), await target.capabilities(ROLE))
        client.peer = Peer(network()[:15])  # so that another's name may begin alike
        uris = tuple([(await client.stage()).uri for _ in TOURS.start.uris])
        self.world = replace(TOURS.start, peer=client.peer, uris=uris)
        self.watch = ClientGuide(trial, client, self.world)

    @initialize(said=st.integers(0, 500))
    def come_online(self, said: int) -> None:
        self.world = replace(self.world, said=said)
        for name in ("starts", *COMING):
            self.wait(self._letter(LETTERS[name]))

    @rule(letters=st.lists(WHICH, min_size=4, max_size=12))
    def tour(self, letters: list[int]) -> None:
        """What the tours try in their order, in any order: each time one of those that are possible."""
        for which in letters:
            self.wait(self._one_of(which))

    async def _one_of(self, which: int) -> None:
        """Of its variants a later one: ids of routes are never used again."""
        self.world = replace(self._seen(), said=self.world.said + which // 16 % 61)
        possible = [letter for letter in LETTERS.values() if letter.possible(self.world)]
        possible += [letter for letter in possible if letter.name in COMING] * (len(possible) - 1)
        if possible:
            await self._letter(possible[which % len(possible)])

    def _seen(self) -> ClientWorld:
        """The world as it is now: the rules have spoken too."""
        return replace(self.world, state=likeliest(self.watch.oracle).state)

    async def _letter(self, letter: Letter[ClientWorld]) -> None:
        self.world = await Tour(self._seen()).lead(self.watch, [letter])

    @rule(wire=st.sampled_from(BROKEN))
    def say_something_broken(self, wire: bytes) -> None:
        self.wait(self._say(wire))

    @rule(text=st.sampled_from(["HELLO FROG/1 {}", "CHAL {}", "OK JOIN", "OK LEAVE", "TRY - 0", "ERR - AUTH_FAILED"]))
    def say_anything(self, text: str) -> None:
        self.world = replace(self.world, said=self.world.said + 1)
        self.wait(self._say(message(text.format(an_id(self.world.said)))))

    async def _say(self, said: bytes) -> None:
        if self.watch.line:
            await self.watch.perform(Say(self.watch.line.label, said))
        await self.watch.fence()

    @rule(which=WHICH, kind=KINDS, payload=PAYLOADS)
    def be_signalled(self, which: int, kind: str, payload: bytes) -> None:
        """By any of its peers, along a route that leads there or along a new one."""
        world = self._seen()
        self.world = replace(world, said=world.said + 1)
        routes = {**world.state.routes, an_id(world.said, "rule"): world.mate(which)}
        route = sorted(routes)[which % len(routes)]
        if self.watch.registered:
            self.wait(self._say(message(f"SIGNAL-FROM {route} {routes[route]} {kind} {len(payload)}", payload)))

    @rule(which=WHICH, kind=KINDS, payload=PAYLOADS)
    def signal(self, which: int, kind: str, payload: bytes) -> None:
        """On a route that it knows, or on none."""
        routes = [*self._seen().routes, "0" * 26]
        self.wait(self._wish(SendSignal(0, routes[which % len(routes)], kind, payload)))

    @rule(limit=st.integers(0, 8))
    def find(self, limit: int) -> None:
        self.wait(self._wish(AskPeers(0, limit)))

    async def _wish(self, wish: AskPeers | SendSignal) -> None:
        """With a ticket of its own."""
        self.world = replace(self.world, asks=self.world.asks + 1)
        await self.watch.wish(replace(wish, ticket=self.world.asks))

    @rule(politely=st.booleans())
    def hang_up(self, politely: bool) -> None:
        if self.watch.line:
            self.wait(self.watch.hang_up(politely))

    async def finish(self) -> None:
        """What it remembers shows when it comes back, and when it leaves."""
        for letter in ENDING:
            await self._letter(letter)

    async def free(self) -> None:
        await self.watch.end()
        await self.watch.client.close()


@clauses("FROG-46-01", "FROG-16-01", "FROG-12.1-01", "FROG-20-04", "FROG-22-11", "FROG-18-06", "FROG-44-01")
async def test_client_follows_its_machine(target: Target, trial: Trial) -> None:
    """Whatever its servers do, the client says what the machine owes, and nothing else."""
    if "backoff_ms" not in await target.capabilities(ROLE):
        trial.info("its backoff cannot be set: it is watched by the other cases only")
        return
    await explore(functools.partial(Frog, trial), steps=15, examples=trial.random_runs(12, slow=40))
