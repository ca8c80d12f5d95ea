"""The server beside its oracle: peers come, prove themselves, search, signal and go as Hypothesis likes.

There is no expected frame in this file: whatever the server says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from harness.catalogue.cases import clauses
from harness.catalogue.vectors import load
from harness.judging.clock import CAPABILITY, Clock
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from harness.targets import Target
from harness.touring.tour import Tour, likeliest
from harness.touring.world import Letter
from reference_impl.frog.frames import Auth, Find, Hello, Join, Leave, Lookup, Signal
from suites.frog.codec.under_test import wire_of
from suites.frog.server.under_test import ROLE, ServerUnderTest
from suites.frog.server.watch import OPEN, ServerGuide
from suites.frog.server.world import LETTERS, TOURS, ServerWorld, folk
from suites.frog.wire import Peer, an_id, cid, network, proof

BROKEN = [
    wire_of(vector)
    for vector in load("frog/refused").within(["to_server"])
    if "fill_hex" not in vector.input and len(vector.given("wire")) < 300
]
WHICH = st.integers(0, 2**16)
OWN = Peer("X").seed.hex()
"""Of a server that nobody else uses: its time passes as the letters like."""

WELL_KNOWN = ("residents come", "ann connects", "ann greets", "ann claims her key", "ann proves it")
PEERS = st.integers(0, 4)
PAYLOADS = st.binary(max_size=40) | st.sampled_from([1024, 1500, 1536, 4096, 65_507, 65_535, 65_536]).map(bytes)
KINDS = st.sampled_from(["OFFER", "ANSWER", "ICE"])
LOOKUP = st.tuples(st.just("lookup"), PEERS, PEERS)
SIGNAL = st.tuples(st.just("signal"), PEERS, WHICH, KINDS, PAYLOADS)
ACTS = st.one_of(
    LOOKUP,
    SIGNAL,
    st.tuples(st.just("find"), PEERS, st.integers(1, 7)),
    st.tuples(st.just("join"), PEERS),
    st.tuples(st.just("forge"), PEERS, st.sampled_from(["nonce", "server_id", "uri"])),
    st.tuples(st.just("linger"), PEERS),
    st.tuples(st.just("end"), PEERS, st.sampled_from(["close", "cut", "leave", "text"])),
    st.tuples(st.just("broken"), PEERS, st.sampled_from(BROKEN)),
    LOOKUP,
    SIGNAL,
    SIGNAL,
)
"""Who does what, more than half of it talk; what a peer does that is not there is that it comes."""


class Frog(LoopMachine):
    """Four peers in one network, one of them also in another; a connection each, or more. Beside them those of the tours."""

    watch: ServerGuide

    def __init__(self, trial: Trial, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(trial, loop)
        self.wait(self._begin(trial))

    async def _begin(self, trial: Trial) -> None:
        ticks = CAPABILITY in await trial.capabilities()
        server = await ServerUnderTest(trial, seed=OWN).start()
        line = await server.connect()
        here, there = network()[:15], network()
        self.world = replace(TOURS.start, people=folk(here, f"{here}0"), ticks=ticks)
        clock = Clock(server.instance if ticks else None)
        self.watch = ServerGuide(trial, server, (await line.hello()).server_id, clock, self.world)
        first = Peer(here)
        self.peers = [first, Peer(here), Peer(here), Peer(here), first.elsewhere(there)]
        self.last: dict[int, int] = {}  # peer -> the connection on which it speaks

    @initialize(said=WHICH)
    def everybody_comes(self, said: int) -> None:
        """And those of the tours, with one or the other variant of what they say next."""
        self.world = replace(self.world, said=said, odd=said // 7)
        for name in WELL_KNOWN:
            self.wait(self._letter(LETTERS[name]))
        for who in range(len(self.peers)):
            self.wait(self._join(who))

    @rule(letters=st.lists(WHICH, min_size=4, max_size=12))
    def tour(self, letters: list[int]) -> None:
        """What the tours try in their order, in any order: each time one of those that are possible."""
        for which in letters:
            self.wait(self._one_of(which))

    @rule(acts=st.lists(ACTS, min_size=4, max_size=12))
    def peers_act(self, acts: list[tuple[Any, ...]]) -> None:
        for act, who, *given in acts:
            self.wait(self._act(act, who, *given))

    async def _act(self, act: str, who: int, *given: Any) -> None:
        if act in ("join", "forge", "linger") or self._line(who) not in self.watch.registered:
            return await (self._forge(who, *given) if act == "forge" else self._join(who, lingering=act == "linger"))
        match act, given:
            case "lookup", (int(whom),):
                await self._ask(who, Lookup(cid("L"), self.peers[whom].key))
            case "find", (int(limit),):
                await self._ask(who, Find(cid("F"), limit))
            case "signal", (int(which), str(kind), bytes(payload)):
                routes = [*self.watch.routes[-12:], "0" * 26]  # its own, of others, or of nobody
                await self._ask(who, Signal(routes[which % len(routes)], kind, payload))
            case "broken", (bytes(wire),):
                await self.watch.raw(self._line(who), wire)
                await self._fence(self._line(who))
            case "end", (str(how),):
                await self._end(self._line(who), how)

    async def _end(self, channel: int, how: str) -> None:
        match how:
            case "leave":
                await self.watch.say(channel, Leave())
                await self._drop(channel)
            case "text":
                await self.watch.text(channel, "LEAVE\n")
                await self.watch.settle()
            case _:
                await self.watch.hang_up(channel, politely=how == "close")

    async def _one_of(self, which: int) -> None:
        """With any of its variants."""
        said, odd = self.world.said + which // 16 % 61, self.world.odd + which // 16 % 67
        self.world = replace(self._seen(), said=said, odd=odd)
        possible = [letter for letter in LETTERS.values() if letter.possible(self.world)]
        await self._letter(possible[which % len(possible)])

    def _seen(self) -> ServerWorld:
        """The world as it is now: the rules have spoken too."""
        return replace(self.world, state=likeliest(self.watch.oracle).state, opened=self.watch.opened)

    async def _letter(self, letter: Letter[ServerWorld]) -> None:
        self.world = await Tour(self._seen()).lead(self.watch, [letter])

    async def _join(self, who: int, lingering: bool = False) -> None:
        """For the first time, again, or in the place of a connection that still is there, and then perhaps goes on talking."""
        before = self._line(who)
        channel = await self._challenged(who)
        await self._answer(channel, self.peers[who])
        if lingering and before in self.watch.lines:
            await self.watch.say(before, Find(cid("X"), 7))
            await self._drop(before)

    async def _challenged(self, who: int) -> int:
        channel = self.last[who] = await self.watch.connect(self.peers[who])
        await self.watch.say(channel, Hello())
        await self.watch.say(channel, Join(self.peers[who].key))
        await self.watch.settle()
        return channel

    async def _answer(self, channel: int, peer: Peer, **changes: str) -> None:
        watch = self.watch
        lines = {
            "nonce": watch.nonces.get(channel, an_id()),
            "uri": watch.server.uri,
            "peer_key": peer.key,
            "server_id": watch.server_id,
        }
        await watch.say(channel, Auth(peer.public_key, peer.sign(proof(**(lines | changes)))))
        await self._fence(channel)

    async def _fence(self, channel: int) -> None:
        """Behind what may be refused in several ways: the answer shows which, and no choice is left open for later."""
        await self.watch.settle()
        if likeliest(self.watch.oracle).state.phase(channel) in OPEN:
            await self.watch.ask(channel)
        else:
            await self._drop(channel)

    async def _drop(self, channel: int) -> None:
        """It left, or was replaced: whether the server goes on with it is the server's choice, and of no interest."""
        await self.watch.settle()
        if channel in self.watch.lines:
            await self.watch.hang_up(channel, politely=True)

    async def _forge(self, who: int, wrong: str) -> None:
        channel = await self._challenged(who)
        await self._answer(channel, self.peers[who], **{wrong: an_id()})
        await self._answer(channel, self.peers[who])

    def _line(self, who: int) -> int:
        return self.last.get(who, 0)

    async def _ask(self, who: int, frame: Find | Lookup | Signal) -> None:
        await self.watch.say(self._line(who), frame)
        await self._fence(self._line(who))

    async def finish(self) -> None:
        for channel in list(self.watch.lines):
            await self._fence(channel)

    async def free(self) -> None:
        await self.watch.server.close()


@clauses(
    "FROG-15-01", "FROG-17-11", "FROG-22-02", "FROG-23-05", "FROG-26-03", "FROG-17.1-02", "FROG-25-05", "FROG-39-06"
)
async def test_server_follows_its_machine(target: Target, trial: Trial) -> None:
    """Whatever the peers do, the server says what the machine owes, and nothing else."""
    await target.capabilities(ROLE)
    await explore(functools.partial(Frog, trial), steps=12, examples=trial.random_runs(12, slow=40))
