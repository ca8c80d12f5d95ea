"""A whole world: servers, the peers on them, what befalls them, and the invariants that look at each message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.simulation.plan import Broken, Event, Outcome, Plan
from reference_impl.frog.frames import (
    Auth,
    Chal,
    Find,
    Found,
    Hangup,
    Hello,
    Join,
    Joined,
    Lookup,
    Opened,
    Signal,
    SignalFrom,
    SisterAuth,
    SisterChal,
    SisterHello,
    SisterOk,
    Welcome,
)
from reference_impl.frog.identifiers import fingerprint_of
from reference_impl.frog.identity import ClientProof
from reference_impl.frog.server import ServerMachine
from suites.frog.simulation.calls import Call, Ledger, Peer, Sent, key_of
from suites.frog.simulation.invariants import Invariants
from suites.frog.simulation.servers import Servers, Unsigned, server_id, uri_of

SETTLED_S = 2.0
"""After this all sisters have met, and the first event comes."""
REST_S = 8.0
"""After the last event: longer than any request waits for its answer."""
REJOIN_S = 0.5
QUIET = (Welcome, SisterHello, SisterChal, SisterAuth, SisterOk)
"""What a history does without."""
OFFER, ANSWER = "OFFER", "ANSWER"


class World(Servers):
    """A plan, played. Clients are where their server is: what they say is read at once."""

    def __init__(self, plan: Plan, machine: type[ServerMachine]) -> None:
        self.ledger = Ledger()
        self._proofs = Unsigned()
        super().__init__(plan, machine)
        self.invariants = Invariants(plan, self.ledger, self.near)

    def play(self) -> Outcome:
        breach = None
        try:
            for number, server in self.plan.peers:
                self.ledger.peers[number] = Peer(number, key_of(number))
                self.come(number, server)
            for event in self.plan.events:
                self.agenda.put(SETTLED_S + event.at, self.happen, event)
            last = max((event.at for event in self.plan.events), default=0.0)
            self.agenda.run(SETTLED_S + last + REST_S)
            self.invariants.finish()
        except Broken as broken:
            breach = broken.breach
        return Outcome(breach, self.turns, [told(*said) for said in self.said], self.ledger.calls)

    # -- what happens ---------------------------------------------------------------------------------------------------

    def happen(self, event: Event) -> None:
        """Whoever is not there is not asked: a shortened plan has events without their people."""
        acts: dict[str, Callable[..., None]] = {
            "lookup": self.look_up,
            "find": self.find,
            "intrude": self.intrude,
            "leave": self.leave,
            "move": self.move,
            "cut": self.cut_between,
            "restart": self.restart,
            "tune": lambda ttl, fanout: self.tune(lookup_ttl=ttl, lookup_fanout=fanout),
        }
        acts[event.what](*event.whom)

    def present(self, number: int) -> Peer | None:
        peer = self.ledger.peers.get(number)
        return peer if peer and peer.registered else None

    def look_up(self, number: int, target: int) -> None:
        peer, other = self.present(number), self.ledger.peers.get(target)
        if peer and other:
            call = self.called(peer, "lookup", other)
            self.say(peer, Lookup(call.cid, other.key))

    def find(self, number: int, limit: int) -> None:
        if peer := self.present(number):
            call = self.called(peer, "find", None, limit)
            self.say(peer, Find(call.cid, limit))

    def called(self, peer: Peer, kind: str, target: Peer | None, limit: int = 0) -> Call:
        ttl, fanout = self.settings[f"{kind}_ttl"], self.settings[f"{kind}_fanout"]
        call = Call(f"C{len(self.ledger.calls)}", peer, peer.server, self.now, ttl, fanout, target, limit)
        call.reached.add(peer.server)
        self.ledger.calls.append(call)
        self.ledger.open[peer.server, peer.channel, call.cid] = call
        return call

    def intrude(self, number: int) -> None:
        """A peer uses a route of others that it has heard of."""
        peer = self.present(number)
        routed = (call for call in reversed(self.ledger.calls) if call.route)
        call = next((c for c in routed if peer not in (c.peer, c.target)), None)
        if peer and call:
            self.signal(call, peer, None, "INTRUSION")

    def signal(self, call: Call, sender: Peer, receiver: Peer | None, kind: str) -> None:
        self.ledger.sent.append(Sent(call, sender, receiver, self.now))
        self.say(sender, Signal(call.route, kind, b"%d" % (len(self.ledger.sent) - 1)))

    # -- coming and going -----------------------------------------------------------------------------------------------

    def come(self, number: int, server: int) -> None:
        peer = self.ledger.peers[number]
        if server not in self.players or peer.server >= 0:
            return
        self.ledger.placed(peer, server, self.line(), self.now)
        for frame in (Opened(), Hello(), Join(peer.key)):
            self.turn(peer.server, peer.channel, frame)

    def leave(self, number: int) -> None:
        """Its connection ends."""
        peer = self.ledger.peers.get(number)
        if peer and peer.server >= 0:
            server, channel = peer.server, peer.channel
            self.ledger.gone(peer, self.now)
            self.turn(server, channel, Hangup())

    def move(self, number: int, server: int) -> None:
        if number in self.ledger.peers:
            self.leave(number)
            self.come(number, server)

    def restart(self, server: int) -> None:
        if server not in self.players:
            return
        lost = list(self.ledger.residents(server))
        for peer in lost:
            self.ledger.gone(peer, self.now)
            self.agenda.put(self.now + REJOIN_S, self.come, peer.number, server)
        super().restart(server)
        self.invariants.forgot(server)

    # -- what is said ---------------------------------------------------------------------------------------------------

    def say(self, peer: Peer, frame: Any) -> None:
        self.said.append((self.now, peer.key, f"server {peer.server}", frame))
        self.turn(peer.server, peer.channel, frame)

    def passing(self, server: int, other: int, frame: Any, channel: Any, cause: Any) -> None:
        if not isinstance(frame, QUIET):
            self.said.append((self.now, f"server {server}", f"server {other}", frame))
        sender = self.beyond(server, channel)
        self.invariants.passing(server, other, frame, cause, sender, channel, self.turns)

    def disturbed(self, one: int, two: int) -> None:
        self.said.append((self.now, f"server {one}", f"server {two}", "the connection ends"))
        self.ledger.cuts[frozenset((one, two))] = self.now

    def told(self, server: int, channel: Any, frame: Any) -> None:
        peer = self.ledger.at.get((server, channel))
        if peer is None:
            return
        match frame:
            case Chal(nonce):
                proof = ClientProof(nonce, uri_of(server), peer.key, server_id(server))
                auth = Auth(*self._proofs.sign(fingerprint_of(peer.key).encode(), proof))
                self.agenda.put(self.now, self.turn, server, channel, auth)
                return
            case Joined():
                self.ledger.joined(peer, self.now)
                return
            case Welcome():
                return
        self.said.append((self.now, f"server {server}", peer.key, frame))
        meant = self.invariants.told(peer, frame, self.now)
        if isinstance(frame, Found) and isinstance(meant, Call):
            assert meant.target, "a lookup"
            self.agenda.put(self.now, self.signal_if_there, meant, peer, meant.target, OFFER)
        elif isinstance(frame, SignalFrom) and isinstance(meant, Sent) and frame.kind == OFFER:
            self.agenda.put(self.now, self.signal_if_there, meant.call, peer, meant.sender, ANSWER)

    def signal_if_there(self, call: Call, sender: Peer, receiver: Peer, kind: str) -> None:
        if sender.registered:
            self.signal(call, sender, receiver, kind)


def told(at: float, sender: str, receiver: str, frame: Any) -> str:
    return f"{at:9.3f}  {sender} -> {receiver}  {frame}"
