"""Sisters of the server under test: those that dial it, and those that it dials; all are played by the harness."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Self

from harness.errors import TargetUnsupported
from harness.judging.clock import CAPABILITY, clock_of
from harness.judging.inbox import Inbox
from harness.judging.trial import Broken, Trial
from harness.targets import Instance
from reference_impl.frog.codec import Direction
from reference_impl.frog.frames import (
    Frame,
    Hangup,
    SisterAuth,
    SisterChal,
    SisterErr,
    SisterFind,
    SisterHello,
    SisterList,
    SisterLookup,
    SisterOk,
    SisterServers,
)
from reference_impl.io.websocket import WebSocket
from suites.common.connect import WebSocketPort, dial_websocket
from suites.common.played import Played
from suites.frog.line import FrogLine
from suites.frog.server.under_test import ROLE, PeerLine, ServerUnderTest, TimedServer
from suites.frog.wire import SUBPROTOCOL, Peer, an_id, base32, cid, message, server_proof

LONG_MS = 20_000  # for pending floods, where a case is not about their time


@dataclass(frozen=True)
class Sibling:
    """Who a sister is: a key, and the URI that she says is hers."""

    key: Peer
    uri: str

    @property
    def id(self) -> str:
        return self.key.fingerprint

    def elsewhere(self, uri: str) -> Sibling:
        return Sibling(self.key, uri)


def sibling(smaller_than: str = "", larger_than: str = "") -> Sibling:
    """A new one, at a URI where nobody is."""
    while True:
        key = Peer("SISTER", secrets.token_bytes(32))
        if larger_than <= key.fingerprint and (not smaller_than or key.fingerprint < smaller_than):
            return Sibling(key, f"wss://{key.fingerprint.lower()}.example.org/")


class SisterLine(FrogLine):
    """One connection between a sister and the server under test, whoever dialled."""

    other, speaks_as = "server", "sister"
    direction = Direction.SISTER

    def __init__(self, trial: Trial, server: Federation, carrier: WebSocket, label: str, who: Sibling) -> None:
        super().__init__(trial, carrier, label)
        self.server, self.who, self.nonce = server, who, ""
        self.greeted_us = False
        self.gossips = False  # its @LIST is for the case; else it hears that we know nobody

    @property
    def id(self) -> str:
        return self.who.id

    def decoded(self, message: str | bytes) -> Frame:
        """Before it has a role on this connection, its errors may be of either family (AMB-09)."""
        if not self.greeted_us and isinstance(message, bytes) and message.startswith(b"ERR "):
            message = b"@" + message
        return super().decoded(message)

    async def any_next(self, what: str, clause: str) -> Frame | Hangup:
        """The next message or the end, but for a question that a server may ask at any time."""
        while isinstance(frame := await super().next(what, clause), SisterList) and not self.gossips:
            await self.send(SisterServers(frame.fcid))
        return frame

    async def next(self, what: str = "a message", clause: str = "") -> Frame | Hangup:
        """The next message or the end. A server that limits us is not judged."""
        frame = await self.any_next(what, clause)
        if isinstance(frame, SisterErr) and frame.code == "RATE_LIMITED":
            raise TargetUnsupported(f"the server limits us: {frame}; raise its limits, see suites/frog/README.md")
        return frame

    # -- the handshake, in the order of section 29 ----------------------------------------------------------------

    async def hello(self, id: str = "", uri: str = "") -> None:
        await self.raw(message(f"@HELLO FROG/1 {id or self.id} {uri or self.who.uri}"))

    async def greeted(self) -> None:
        """The server's greeting; it says who it is."""
        hello = await self.expect(SisterHello, "FROG-29-01")
        wanted = SisterHello(self.server.id or hello.server_id, self.server.uri)
        self.trial.expect(hello == wanted, str(wanted), hello, "FROG-29-01")
        self.server.id, self.greeted_us = hello.server_id, True

    async def challenged(self) -> str:
        self.nonce = (await self.expect(SisterChal, "FROG-29-03")).nonce
        return self.nonce

    async def auth(self, public_key: str = "", signature: str = "", **changes: str) -> None:
        """@AUTH over the right string, or over one with other lines."""
        signed = signature or base32(self.who.key.raw_signature(self.proof(**changes)))
        await self.raw(message(f"@AUTH {public_key or self.who.key.public_key} {signed}"))

    def proof(self, **changes: str) -> bytes:
        lines = {
            "nonce": self.nonce,
            "self_uri": self.who.uri,
            "self_id": self.id,
            "peer_uri": self.server.uri,
            "peer_id": self.server.id,
        }
        return server_proof(**(lines | changes))

    async def expect_proof(self, nonce: str) -> None:
        """The server's own @AUTH: it is `self`, and we are `peer` (FROG-12.2-01)."""
        auth = await self.expect(SisterAuth, "FROG-29-03")
        text = server_proof(nonce, self.server.uri, self.server.id, self.who.uri, self.id)
        self.trial.expect(proves(auth, self.server.id, text), f"a proof of {text!r}", auth, "FROG-12.2-01")

    async def dial_until(self, step: str, since: str = "new") -> None:
        """As who dialled, from one of the STEPS to another."""
        acts = (self._greet, self._prove, self._challenge, self._acknowledge)
        for act in acts[STEPS.index(since) : STEPS.index(step)]:
            await act()

    async def accept_until(self, step: str) -> None:
        """As who was dialled, up to one of the ACCEPTING."""
        await self.greeted()
        acts = (self.hello, self._challenge, self._acknowledge_first, self._prove)
        for act in acts[: ACCEPTING.index(step)]:
            await act()

    async def _greet(self) -> None:
        await self.hello()
        await self.greeted()
        await self.challenged()

    async def _prove(self) -> None:
        await self.auth()
        await self.expect(SisterOk, "FROG-29-03")

    async def _challenge(self) -> None:
        await self.send(SisterChal(nonce := an_id()))
        await self.expect_proof(nonce)

    async def _acknowledge(self) -> None:
        await self.send(SisterOk())

    async def _acknowledge_first(self) -> None:
        await self.send(SisterOk())
        await self.challenged()

    async def proves_anyhow(self, last: bool = True) -> bool:
        """As far as a server lets somebody come whom it need not take: it may end it at any step (AMB-01, AMB-38). Without
        the last word it is no sister yet."""
        await self.hello()
        if await self.refused():
            return False
        await self.greeted()
        if await self.refused():
            return False
        await self.challenged()
        await self.auth()
        if await self.refused():
            return False
        await self.expect(SisterOk, "FROG-29-03")
        await self.send(SisterChal(nonce := an_id()))
        if await self.refused():
            return False
        await self.expect_proof(nonce)
        if last:
            await self._acknowledge()
        return True

    async def refused(self) -> bool:
        """Is the next thing an error, or the end?"""
        heard = await self.next("the next step of the handshake, or a refusal", "FROG-29-03")
        self.inbox.put_back([heard])
        return isinstance(heard, SisterErr | Hangup)

    # -- asking, and hearing nothing ------------------------------------------------------------------------------

    async def answer(self) -> Frame | Hangup:
        """The answer to a question that each state has one for: whether servers or a refusal. All before it was processed."""
        await self.send(SisterList(asked := cid("G"), 1))
        return await self.answer_to(asked, "an answer to @LIST, or the end", "FROG-33-01")

    async def fence(self) -> bool:
        """All that was sent here is processed; false where that ended the connection."""
        return not isinstance(await self.answer(), Hangup)

    async def listed(self, limit: int = 7) -> tuple[tuple[str, str], ...]:
        """The servers that it names."""
        await self.send(SisterList(asked := cid("G"), limit))
        answer = await self.expect(SisterServers, "FROG-33-01")
        self.trial.expect(answer.fcid == asked, f"@SERVERS {asked}", answer, "FROG-33-01")
        return answer.servers

    async def expect_silence(self, clause: str) -> None:
        """Nothing was said here, and the connection is open."""
        open = await self.fence()
        waiting = [item for item in self.inbox.drain() if not isinstance(item, SisterList)]
        if not open or waiting:
            raise Broken(clause, "nothing", str(waiting[0] if waiting else "the end"))

    async def expect_frame(self, wanted: Frame, clause: str) -> None:
        """Exactly this comes next."""
        heard = await self.next(str(wanted), clause)
        self.trial.expect(heard == wanted, str(wanted), heard, clause)

    async def expect_lookup(self, clause: str = "FROG-36-05") -> SisterLookup:
        return await self.expect(SisterLookup, clause)

    async def expect_find(self, clause: str = "FROG-35-08") -> SisterFind:
        return await self.expect(SisterFind, clause)

    async def expect_error(self, id: str, codes: str | tuple[str, ...], clause: str) -> SisterErr:
        """The next message is this error; where an id should be echoed, the dash is a warning."""
        codes = (codes,) if isinstance(codes, str) else codes
        wanted = f"@ERR {id} {' or '.join(codes)}"
        err = await self.next(wanted, clause)
        if not isinstance(err, SisterErr) or err.code not in codes:
            raise Broken(clause, wanted, str(err))
        if err.id not in (id, "-"):
            raise Broken("FROG-38-02", wanted, str(err))
        if err.id != id:
            self.trial.warn("FROG-38-03", f"the error's id is {err.id}, not {id}")
        return err

    async def expect_no_effect(self, clause: str) -> None:
        """An answer that does not count is ignored or refused, and does nothing else (AMB-31, AMB-32)."""
        if await self.fence():
            heard = [item for item in self.inbox.drain() if not isinstance(item, SisterErr | SisterList)]
            if heard:
                raise Broken(clause, "nothing, or an error", str(heard[0]))

    async def expect_no_sister(self, clause: str, *answers: type) -> None:
        """None of these came, nor an answer to a sister's question: a refusal, or the end."""
        last = await self.answer()
        heard = [item for item in (*self.inbox.drain(), last) if isinstance(item, (*answers, SisterServers))]
        if heard:
            raise Broken(clause, "no federation", str(heard[0]))


STEPS = ("new", "sa1", "sa2", "sa3", "sister")
"""How far a sister that dials may be; `sa` as in the sheet's matrix."""
ACCEPTING = ("d0", "d1", "d2", "d3", "sister")


def proves(auth: SisterAuth, server_id: str, text: bytes) -> bool:
    """By hand: the key has that name and signed that text."""
    return Peer.signed_by(auth.public_key, auth.signature, server_id, text)


class Listening(Played[SisterLine]):
    """A port where a sister waits to be dialled."""

    def __init__(self, server: Federation, port: WebSocketPort, who: Sibling) -> None:
        self.server, self.who = server, who
        super().__init__(server.trial, port, Inbox())

    def line(self, carrier: WebSocket, number: int) -> SisterLine:
        return SisterLine(
            self.trial, self.server, carrier, f"{self.server.name_of(self.who)}-dialled{number}", self.who
        )

    async def dialled(self, clause: str = "FROG-33-08") -> SisterLine:
        """The next connection that comes."""
        return await self.trial.next_of(self.arrivals, "a dial", clause)


class Federation(TimedServer):
    """A server of the case's own with sisters around it; `family` may dial it."""

    def __init__(self, trial: Trial, family: int = 3, timed: str = "", **config: Any) -> None:
        super().__init__(trial)
        self.id = Peer("SISTER", bytes.fromhex(self.config["seed"])).fingerprint
        self.family = [sibling() for _ in range(family)]
        self.config |= config
        self.listening: list[Listening] = []
        self.timed = timed  # `fast`: for minutes, perhaps on short timers; `real`: for the seconds of a flood
        self._names: list[str] = []

    def name_of(self, who: Sibling) -> str:
        if who.id not in self._names:
            self._names.append(who.id)
        return f"sister{self._names.index(who.id) + 1}"

    async def listen(
        self,
        who: Sibling | None = None,
        expected: str = "",
        seed: bool = True,
        selects: tuple[str, ...] = (SUBPROTOCOL,),
    ) -> Listening:
        """Before the start: a sister at a port of her own, which is one of the server's seeds."""
        port = WebSocketPort(self.trial, selects)
        at = await port.url() + "/"
        listening = Listening(self, port, (who or sibling()).elsewhere(at))
        self.listening.append(listening)
        if seed:
            self.config["seeds"] = [*self.config["seeds"], f"{expected}@{at}" if expected else at]
        return listening

    async def start(self) -> Self:
        capabilities = await self.trial.capabilities()
        self.config["sisters"] = [*self.config["sisters"], *(who.id for who in self.family)]
        if "seed" not in capabilities:
            self.id = ""  # it says it with its first word
        if self.timed == "fast":
            return await super().start()
        await ServerUnderTest.start(self)
        if CAPABILITY in capabilities:
            self._clock = await clock_of(self.trial, self.instance)
        return self

    async def begun(self) -> Instance:
        """No flood is over before we have answered it, but where a case is about that."""
        if self.timed != "real" and not (self.timed and self._scale == 1):
            self.config |= {"lookup_timeout_ms": LONG_MS, "find_timeout_ms": LONG_MS}
        session = await self.trial.target.session()
        return await session.start(ROLE, self.config | {"state_dir": str(self.trial.target.new_folder("own"))})

    async def line(self, who: Sibling | int = 0) -> SisterLine:
        """A sister's connection on which nothing was said; by number one of the family."""
        who = self.family[who] if isinstance(who, int) else who
        carrier = await dial_websocket(self.trial, self.instance.address, subprotocols=(SUBPROTOCOL,))
        line = SisterLine(self.trial, self, carrier, self.name_of(who), who)
        self.lines.append(line)  # type: ignore[arg-type]  # whoever it is, it is ended with the case
        return line

    async def sister(self, who: Sibling | int = 0) -> SisterLine:
        """One that dialled, and is live."""
        line = await self.line(who)
        await line.dial_until("sister")
        if not await line.fence():
            raise Broken("FROG-29-03", "a live sister", "the end")
        return line

    async def second(self, who: Sibling | int) -> SisterLine | None:
        """One more connection of hers, where the server lets her have it: it may refuse it at any step."""
        line = await self.line(who)
        return line if await line.proves_anyhow() and await line.fence() else None

    async def returned(self, who: Sibling | int) -> SisterLine:
        """She comes back, as soon as the server knows that she was gone."""
        for _ in self.trial.patiently():
            if line := await self.second(who):
                return line
        raise Broken("FROG-31-06", "a sister that comes back is one", "she is refused")

    async def sisters(self, count: int = 2) -> list[SisterLine]:
        return [await self.sister(n) for n in range(count)]

    async def met(self, listening: Listening) -> SisterLine:
        """One that the server dialled, and is live."""
        line = await listening.dialled()
        await line.accept_until("sister")
        return line

    async def asker(self) -> PeerLine:
        """A client of the case's own network."""
        return await self.peer()

    async def close(self) -> None:
        await super().close()
        try:
            for listening in self.listening:
                await listening.close()
        finally:
            if hasattr(self, "instance"):
                await self.instance.stop()
