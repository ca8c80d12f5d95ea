"""What holds in every world, whatever is lost in it. Each message is looked at as it is said; the first wrong one ends the world.

- loop: no server passes a request or a signal on twice, or back to where it came from.
- bounded: a request costs no more than its TTL and fanout allow; a message begets at most one answer, a request exactly one.
- leak: nothing of a network is told in another.
- route: a signal is heard at most once, as it was sent, at the very peer that was looked up; and if nothing broke, it is heard.
- reach: a lookup finds nobody beyond its TTL, and in a calm world everybody within whom the fanout does not leave out.
- crash: no server falls over what it reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from harness.simulation.graphs import distances
from harness.simulation.plan import Broken, Plan
from reference_impl.frog.frames import (
    MOST_LISTED,
    Err,
    Find,
    Found,
    Lookup,
    Peers,
    SignalFrom,
    SisterErr,
    SisterFind,
    SisterFound,
    SisterLookup,
    SisterPeers,
    SisterSignal,
)
from reference_impl.frog.identifiers import network_of
from reference_impl.frog.limits import Timers
from reference_impl.frog.sisters import Key, Request
from reference_impl.frog.sisters import key_of as name_of
from suites.frog.simulation.calls import Call, Ledger, Peer, Sent
from suites.frog.simulation.servers import BOUNDED

LOOP, LEAK, ROUTE, REACH = "loop", "leak", "route", "reach"
ANSWERS = (SisterFound, SisterPeers, SisterErr, SisterSignal)
MOST_TTL = 7
SLACK_S = 1e-6
TIMERS = Timers()
FAULTS = {"leave", "move", "cut", "restart"}
"""Events after which a world is not calm."""


@dataclass(slots=True)
class Flood:
    """One request on its way: who read it first from whom, and who passed it on in which turn to whom."""

    call: Call
    request: Request
    read: dict[int, int] = field(default_factory=dict)
    passed: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    found: set[int] = field(default_factory=set)


class Invariants:
    """`passing` for each message between servers, `told` for each to a client, `finish` at the end."""

    def __init__(self, plan: Plan, ledger: Ledger, near: dict[int, set[int]]) -> None:
        self.plan, self.ledger, self.near = plan, ledger, near
        self.floods: dict[Key, Flood] = {}
        self._answered_in = -1  # the turn in which an answer was passed last
        self._far: dict[int, dict[int, int]] = {}

    def require(self, holds: bool, invariant: str, what: str, *given: Any) -> None:
        if not holds:
            raise Broken(invariant, what.format(*given))

    def forgot(self, server: int) -> None:
        """It was restarted, and knows of no request."""
        for flood in self.floods.values():
            for table in (flood.read, flood.passed):
                table.pop(server, None)
            flood.found.discard(server)

    # -- between servers ------------------------------------------------------------------------------------------------

    def passing(
        self, server: int, other: int, frame: Any, cause: Any, sender: int | None, client: Any, turn: int
    ) -> None:
        """`server` says it to `other` because of `cause`, which `sender` said or a client on that channel."""
        if isinstance(frame, SisterLookup | SisterFind):
            self.copied(server, other, frame, cause, sender, client, turn)
        elif isinstance(frame, ANSWERS):
            self.require(
                turn != self._answered_in, BOUNDED, "server {} answers one {} twice", server, type(cause).__name__
            )
            self._answered_in = turn
            if isinstance(frame, SisterFound):
                self.found(server, other, frame, cause, sender)
            elif isinstance(frame, SisterPeers):
                self.named(frame)
            elif isinstance(frame, SisterSignal):
                self.relayed(server, frame)

    def copied(
        self, server: int, other: int, frame: Request, cause: Any, sender: int | None, client: Any, turn: int
    ) -> None:
        key = name_of(frame)
        flood = self.floods.get(key) or self.begun(server, frame, cause, client)
        flood.call.messages += 1
        if sender is not None and isinstance(cause, SisterLookup | SisterFind):
            flood.read.setdefault(server, sender)
            self.require(other != sender, LOOP, "server {} sends {} back to server {}", server, key, other)
            self.require(
                frame.ttl == cause.ttl - 1,
                BOUNDED,
                "{} came with TTL {} and goes on with {}",
                key,
                cause.ttl,
                frame.ttl,
            )
            self.same(flood.request, frame)
        since, others = flood.passed.setdefault(server, (turn, []))
        self.require(since == turn, LOOP, "server {} passes {} on a second time", server, key)
        self.require(other not in others, LOOP, "server {} sends {} twice to server {}", server, key, other)
        others.append(other)
        flood.call.reached.add(other)
        most = flood.call.fanout
        self.require(len(others) <= most, BOUNDED, "server {} sends {} to more than {} sisters", server, key, most)

    def begun(self, server: int, frame: Request, cause: Any, client: Any) -> Flood:
        call = self.ledger.open.get((server, client, cause.cid)) if isinstance(cause, Lookup | Find) else None
        if call is None:
            raise Broken(BOUNDED, f"server {server} begins {frame} though no client asked for it")
        self.require(frame.ttl <= min(MOST_TTL, call.ttl), BOUNDED, "{} begins with TTL {}", frame, frame.ttl)
        asker = frame.source if isinstance(frame, SisterLookup) else frame.peer_key
        self.require(asker == call.peer.key, ROUTE, "{} was asked by {}", frame, call.peer.key)
        if isinstance(frame, SisterLookup):
            self.require(network_of(frame.source) == network_of(frame.target), LEAK, "{} crosses networks", frame)
            assert call.target, "a lookup"
            self.require(frame.target == call.target.key, ROUTE, "{} is not for {}", frame, call.target.key)
        flood = self.floods[name_of(frame)] = Flood(call, frame, {server: server})
        return flood

    def same(self, one: Request, two: Request) -> None:
        if isinstance(one, SisterLookup) and isinstance(two, SisterLookup):
            alike = (one.server_id, one.source, one.target) == (two.server_id, two.source, two.target)
        elif isinstance(one, SisterFind) and isinstance(two, SisterFind):
            alike = (one.server_id, one.peer_key, one.limit) == (two.server_id, two.peer_key, two.limit)
        else:
            alike = False
        self.require(alike, ROUTE, "{} became {} on its way", one, two)

    def found(self, server: int, other: int, frame: SisterFound, cause: Any, sender: int | None) -> None:
        flood = self.floods.get(frame.route_id)
        if flood is None or not isinstance(flood.request, SisterLookup):
            raise Broken(ROUTE, f"server {server} says {frame}, which nobody looks up")
        flood.call.messages += 1
        target = flood.request.target
        self.require(frame.peer_key == target, ROUTE, "{} answers a lookup of {}", frame, target)
        self.require(server not in flood.found, BOUNDED, "server {} says {} twice", server, frame)
        flood.found.add(server)
        if isinstance(cause, SisterFound):
            asked = flood.passed.get(server, (0, []))[1]
            self.require(
                sender in asked, ROUTE, "server {} takes {} of server {}, whom it did not ask", server, frame, sender
            )
            asker = flood.read.get(server)
        else:
            has = target in self.ledger.here.get(server, ())
            self.require(has, ROUTE, "server {} says {} and has no such peer", server, frame)
            asker = sender
        self.require(asker == other, ROUTE, "server {} says {} to server {}, not to who asked", server, frame, other)
        flood.call.path.add(frozenset((server, other)))

    def named(self, frame: SisterPeers) -> None:
        flood = self.floods.get((frame.server_id, frame.fcid))
        if flood is None or not isinstance(flood.request, SisterFind):
            raise Broken(BOUNDED, f"{frame} answers nothing that was asked")
        flood.call.messages += 1
        self.mates(frame.peer_keys, flood.call.peer, str(frame))
        self.require(len(frame.peer_keys) <= flood.request.limit, BOUNDED, "{} names more than were wanted", frame)

    def relayed(self, server: int, frame: SisterSignal) -> None:
        sent = self.signal(frame.payload)
        self.require(
            sent.receiver is not None, ROUTE, "server {} passes on {} of a stranger to the route", server, frame
        )
        self.require(server not in sent.seen, LOOP, "server {} passes {} on a second time", server, frame)
        sent.seen.add(server)

    def mates(self, keys: tuple[str, ...], peer: Peer, where: str) -> None:
        for key in keys:
            self.require(network_of(key) == peer.network, LEAK, "{} of {} is told to {}", key, where, peer.key)

    def signal(self, payload: bytes) -> Sent:
        """Each has its number for a payload."""
        known = payload.isdigit() and payload == b"%d" % int(payload) and int(payload) < len(self.ledger.sent)
        self.require(known, ROUTE, "nobody sent a signal with the payload {}", payload)
        return self.ledger.sent[int(payload)]

    # -- to a client ----------------------------------------------------------------------------------------------------

    def told(self, peer: Peer, frame: Any, now: float) -> Call | Sent | None:
        """Which call it answers, or which signal it brings."""
        if isinstance(frame, SignalFrom):
            return self.heard(peer, frame)
        if not isinstance(frame, Found | Peers | Err):
            return None
        cid = frame.id if isinstance(frame, Err) else frame.cid
        call = self.ledger.open.pop((peer.server, peer.channel, cid), None)
        if call is None:
            self.require(isinstance(frame, Err), BOUNDED, "{} hears {} and has no such request open", peer.key, frame)
            return None
        wait = TIMERS.find_s if call.limit else TIMERS.lookup_s
        self.require(
            now <= call.at + wait + SLACK_S, BOUNDED, "{} comes {:.3f} s after the request", frame, now - call.at
        )
        call.answered_at = now
        call.answer = f"ERR {frame.code}" if isinstance(frame, Err) else type(frame).__name__.upper()
        if isinstance(frame, Found):
            self.opened(call, frame)
        elif isinstance(frame, Peers):
            self.mates(frame.peer_keys, peer, str(frame))
            count = call.count = len(set(frame.peer_keys) - {peer.key})
            fits = count == len(frame.peer_keys) <= min(call.limit, MOST_LISTED)
            self.require(fits, BOUNDED, "{} is not up to {} others, each once", frame, call.limit)
        return call

    def opened(self, call: Call, frame: Found) -> None:
        self.require(call.target is not None, ROUTE, "{} answers no lookup", frame)
        assert call.target, "a lookup"
        self.require(network_of(frame.peer_key) == call.peer.network, LEAK, "{} is told to {}", frame, call.peer.key)
        self.require(frame.peer_key == call.target.key, ROUTE, "{} answers a lookup of {}", frame, call.target.key)
        self.require(frame.route_id not in self.ledger.by_route, ROUTE, "{} has the id of another route", frame)
        call.route = frame.route_id
        self.ledger.by_route[frame.route_id] = call

    def heard(self, peer: Peer, frame: SignalFrom) -> Sent:
        sent = self.signal(frame.payload)
        crossing = peer.network != sent.sender.network
        self.require(not crossing, LEAK, "{} of {} is heard by {}", frame, sent.sender.key, peer.key)
        meant = sent.receiver.key if sent.receiver else "nobody"
        self.require(sent.receiver is peer, ROUTE, "{} is heard by {} and was meant for {}", frame, peer.key, meant)
        self.require(not sent.heard, ROUTE, "{} hears {} twice", peer.key, frame)
        true = (frame.route_id, frame.peer_key) == (sent.call.route, sent.sender.key)
        self.require(true, ROUTE, "{} came from {} on {}", frame, sent.sender.key, sent.call.route)
        sent.heard = True
        return sent

    # -- at the end -----------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        calm = not self.plan.loss and not self.plan.jitter and not any(e.what in FAULTS for e in self.plan.events)
        for call in self.ledger.calls:
            answered = bool(call.answer) or not self.ledger.undisturbed(call, call.peer)
            self.require(answered, BOUNDED, "{} of {} was never answered", call.cid, call.peer.key)
            if calm and call.answer:
                self.within_reach(call)
        for sent in self.ledger.sent:
            certain = sent.receiver is not None and self.ledger.undisturbed(sent.call, sent.sender, sent.receiver)
            meant = sent.receiver.key if sent.receiver else ""
            self.require(
                sent.heard or not certain, ROUTE, "{} of {} never came to {}", sent.call.route, sent.sender.key, meant
            )

    def within_reach(self, call: Call) -> None:
        far = self._far.get(call.server)
        if far is None:
            far = self._far[call.server] = distances(self.near, call.server)
        wide = all(len(near) <= call.fanout for near in self.near.values())
        if call.target is None:
            mates = [p for p in self.ledger.peers.values() if p.network == call.peer.network and p is not call.peer]
            near = sum(far.get(peer.server, MOST_TTL + 2) <= call.ttl + 1 for peer in mates)
            self.require(call.count <= near, REACH, "{} names {} peers of {} within reach", call.cid, call.count, near)
            enough = call.count >= min(near, call.limit) or not wide
            self.require(enough, REACH, "{} names {} peers of {} within reach", call.cid, call.count, near)
            return
        if call.target.network != call.peer.network or call.target is call.peer:
            self.require(not call.is_found, LEAK, "{} finds {} for {}", call.cid, call.target.key, call.peer.key)
            return
        hops, most = far.get(call.target.server, MOST_TTL + 2), call.ttl + 1
        self.require(
            hops <= most or not call.is_found,
            REACH,
            "{} finds a peer {} links away with TTL {}",
            call.cid,
            hops,
            call.ttl,
        )
        self.require(
            hops > most or call.is_found or not wide,
            REACH,
            "{} misses a peer {} links away with TTL {}",
            call.cid,
            hops,
            call.ttl,
        )
