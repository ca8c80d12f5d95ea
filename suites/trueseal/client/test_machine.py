"""The client beside its oracle: relay and host do as Hypothesis likes, sessions come and go, and it is killed.

There is no expected frame in this file: whatever the client says is judged by the machine alone.
"""

from __future__ import annotations

import asyncio
import functools

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from harness.catalogue.cases import clauses, needs
from harness.judging.trial import Trial
from harness.judging.watch import LoopMachine, explore
from harness.targets import Target
from reference_impl.trueseal.frames import Ack, Error, PushSession
from suites.trueseal import wire
from suites.trueseal.client.under_test import ROLE, PrivateClient
from suites.trueseal.client.watch import ClientWatch
from suites.trueseal.client.world import ACK, ERROR, NO_FRAME, ODD, UNKNOWN, new_id
from suites.trueseal.relay.under_test import Device

SPELLINGS = st.sampled_from([*wire.ODD_ENVELOPES.values(), bytes(5_000)])
"""What an envelope ends with; it begins in its own way."""


class Client(LoopMachine):
    """One client; the relay knows a few messages, and delivers and repeats them."""

    def __init__(self, trial: Trial, capabilities: list[str], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(trial, loop)
        client = PrivateClient(trial, capabilities)
        self.watch: ClientWatch = ClientWatch(trial, client, "large_frames" in capabilities)
        self.mails: list[tuple[int, bytes]] = []
        self.beats = "heartbeat" in capabilities
        self.made = self.turned_away = self.dropped = self.answered = 0

    def waiting(self) -> list[PushSession]:
        return [session for session, count in self.watch.flying.items() if count]

    def few(self) -> bool:
        """Sessions that end all at once may be read in any order: the oracle would have to try them all."""
        return len(self.watch.names) - self.answered < 5

    def oldest(self) -> PushSession:
        """How blobs are shared out among sessions is the client's choice, and may be another one each time."""
        return self.waiting()[0]

    @initialize(spellings=st.lists(SPELLINGS, min_size=2, max_size=2))
    def start(self, spellings: list[bytes]) -> None:
        """Connected, with two messages: most of what can go wrong needs some."""
        self.wait(self.watch.start())
        self.wait(self.watch.accept())
        for spelling in spellings:
            self.deliver_one(spelling)

    # -- the Receive Session --------------------------------------------------------------------------------------

    @precondition(lambda self: self.watch.dialled)
    @rule()
    def accept(self) -> None:
        self.turned_away = 0
        self.wait(self.watch.accept())

    @precondition(lambda self: self.watch.dialled and self.turned_away < 3)
    @rule()
    def turn_away(self) -> None:
        """A few times in a row: each doubles the wait before the next."""
        self.turned_away += 1
        self.wait(self.watch.turn_away())

    def envelope(self, spelling: bytes) -> bytes:
        """The first of all is empty."""
        self.made += 1
        return wire.field(15, b"%d" % (self.made * 7919)) + spelling if self.made > 1 else b""

    @precondition(lambda self: self.watch.line)
    @rule(spelling=SPELLINGS)
    def deliver(self, spelling: bytes) -> None:
        self.deliver_one(spelling)

    def deliver_one(self, spelling: bytes) -> None:
        self.mails.append((new_id(len(self.mails)), self.envelope(spelling)))
        self.wait(self.watch.plain(wire.deliver(*self.mails[-1])))

    @precondition(lambda self: self.watch.line and self.mails)
    @rule(data=st.data())
    def deliver_again(self, data: st.DataObject) -> None:
        """The same id and the same envelope, in this session or a later one, in this life or a later one."""
        self.wait(self.watch.plain(wire.deliver(*data.draw(st.sampled_from(self.mails), label="mail"))))

    @precondition(lambda self: self.watch.line)
    @rule()
    def beat(self) -> None:
        self.wait(self.watch.plain(wire.BEAT))

    @precondition(lambda self: self.beats)
    @rule()
    def ask_for_a_beat(self) -> None:
        self.wait(self.watch.beat())

    @precondition(lambda self: self.watch.line)
    @rule(message=st.sampled_from([*ODD, ACK, ERROR]))
    def say_something_odd(self, message: bytes) -> None:
        """Passed over, or the end of the session."""
        self.wait(self.watch.odd(message))

    @precondition(lambda self: self.watch.line)
    @rule(message=st.sampled_from(NO_FRAME))
    def say_no_frame(self, message: bytes) -> None:
        """Nobody knows where the next frame begins, so nothing more is said in that session."""
        self.wait(self.watch.last(message))

    @precondition(lambda self: self.watch.line)
    @rule(message=st.sampled_from(UNKNOWN))
    def say_an_unknown_tag(self, message: bytes) -> None:
        self.wait(self.watch.plain(message))

    @precondition(lambda self: self.watch.line)
    @rule(politely=st.booleans(), beating=st.booleans())
    def hang_up(self, politely: bool, beating: bool) -> None:
        """Perhaps with a question on its lips: nobody is left who could be answered."""
        self.wait(self.watch.hang_up(politely, *[wire.BEAT] * beating))

    # -- Push Sessions --------------------------------------------------------------------------------------------

    @precondition(lambda self: self.few())
    @rule(spelling=SPELLINGS)
    def submit(self, spelling: bytes) -> None:
        self.wait(self.watch.submit(Device().public, self.envelope(spelling)))

    @precondition(lambda self: self.few())
    @rule()
    def submit_much(self) -> None:
        self.wait(self.watch.submit(Device().public, wire.envelope(size=wire.FITS)))

    @rule()
    def submit_too_much(self) -> None:
        self.wait(self.watch.submit(Device().public, wire.envelope(size=wire.LIMIT + 1)))

    @precondition(lambda self: self.waiting())
    @rule(good=st.booleans())
    def answer(self, good: bool) -> None:
        self.dropped = 0
        self.answered += 1
        self.wait(self.watch.answer(self.oldest(), Ack() if good else Error()))

    @precondition(lambda self: self.waiting() and self.dropped < 3)
    @rule(politely=st.booleans(), beating=st.booleans())
    def drop(self, politely: bool, beating: bool) -> None:
        """Before the answer: what had none comes again. A few times in a row: each doubles the wait before the next."""
        self.dropped += 1
        self.wait(self.watch.drop(self.oldest(), politely, *[wire.BEAT] * beating))

    @precondition(lambda self: self.waiting() and self.dropped < 3)
    @rule(message=st.sampled_from([*ODD, *NO_FRAME, *UNKNOWN]), politely=st.booleans())
    def drop_behind_something_odd(self, message: bytes, politely: bool) -> None:
        """None of it is an answer."""
        self.dropped += 1
        self.wait(self.watch.drop_behind(self.oldest(), message, politely))

    @precondition(lambda self: self.waiting())
    @rule()
    def beat_in_a_push_session(self) -> None:
        self.wait(self.watch.beat_in(self.oldest()))

    @precondition(lambda self: self.mails or self.watch.names)
    @rule()
    def crash(self) -> None:
        """SIGKILL, restart on the same folder."""
        self.wait(self.watch.crash())

    async def look(self) -> None:
        """A client may end a Push Session whenever it likes: what it carried comes again before the next rule is chosen."""
        await self.watch.rest()

    async def finish(self) -> None:
        """Killed; then all messages come again, all blobs are answered, and a last message is through: nothing else was said."""
        await self.watch.crash()
        if self.watch.dialled:
            await self.watch.accept()
        for mail in self.mails:
            if self.watch.line:
                await self.watch.plain(wire.deliver(*mail))
        while self.waiting():  # and those that wait until others are answered
            await self.watch.answer(self.oldest(), Ack())
        if self.watch.line:
            await self.watch.sentinel()

    async def free(self) -> None:
        await self.watch.close()


@clauses("TS-DLV-03", "TS-DLV-09", "TS-ACK-07", "TS-ERR-04", "TS-SES-06", "TS-HB-02", "TS-TYP-03", "TS-SIZE-03")
@needs("restart", "kill", "retry_ms")
async def test_client_follows_its_machine(target: Target, trial: Trial) -> None:
    """Whatever relay and host do, the client says what the machine owes, and nothing else."""
    make = functools.partial(Client, trial, await target.capabilities(ROLE))
    await explore(make, steps=25, examples=trial.random_runs(15, slow=40))
