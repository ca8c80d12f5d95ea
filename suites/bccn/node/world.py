"""The node as a world to tour: senders whose names are alike, numbers at the bound, names that come and go, and time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from harness.touring.tours import Tours
from harness.touring.world import Letter, Say, Stimulus, World
from reference_impl.bccn import frames
from reference_impl.bccn.codec import Codec
from reference_impl.bccn.node import API, WIRE, Config, NodeMachine, State
from reference_impl.bccn.tracker import Senders, Tracker
from reference_impl.core import Step, Tick
from reference_impl.core.machine import CLOCK
from suites.bccn.node.under_test import ELSEWHERE, HERE
from suites.bccn.wire import SECRET, body, datagram, framed, signed

SANITY, TTL_S, BEAT_S = 1000, 100.0, 100.0
TOP, HALF = 2**64 - 1, 2**63  # without a known SANITY, only a gap of HALF is surely a restart
FIRST = HALF + 5000
EDGES = (2**31 - 1, 2**32 - 1, HALF - 1)
"""Of counters that are narrower than they should be."""

ANN, KIN = "a", ("A", "a/1", "x?", "a/", "?")  # none of them a name of the node's own: it may hear itself
NAMES = ("h/p/12", "h/q/w-3", "12345", "h/p/12/3", "??", "h//p")
LIKE_WILDCARDS = ("a*b", "a/", "*", "*/*", "!*", "a/*", "#/")
"""Which a node may refuse as a name of its own (BCCN-SRC-09)."""

PLAIN = ("a/b", "c!", "a/x/e", "a/b/c", "A/b", "c" * 1024)
PATTERNS = ("a/b", "a/*/e", "a/>")
PAYLOADS = (b"\0say\xff\x80 ", b"", b"|:|[3]", "\u20ac".encode(), b"\r\n", b"x" * 300)
TO_NOBODY = ("?", "?/*", "x", "*", "/*", "h/p/12", "?/x")
CHOOSING = (
    ("?", 1, "c", HERE), ("?", 1, "c", ELSEWHERE), ("z", 4, "c", HERE), ("z", 6, "!other/z", HERE), ("z", 5, "c", HERE),
)  # fmt: skip
"""Shows how a node tells unknown senders apart (BCCN-DUP-07), and whether it counts what is for others."""

ABILITIES = frozenset({"sanity", "clock", "conventions", "patterns", "heartbeat"})


@dataclass(frozen=True)
class Open:
    """The node is started, and told where its counter begins."""

    key: bytes


@dataclass(frozen=True)
class Datagram:
    data: bytes
    ip: str = HERE


class PatientTracker(Tracker):
    """Sweeps nobody: whether a node has forgotten somebody is seen when that one speaks again (BCCN-DUP-11)."""

    def swept(self, senders: Senders, at: float) -> Senders:
        return senders


def node_machine(key: bytes) -> NodeMachine:
    return NodeMachine(Config(key=key), tracker=PatientTracker(SANITY, TTL_S, TTL_S))


@dataclass(frozen=True)
class NodeWorld(World[State]):
    """What the others said last, and how late it is."""

    opened: bool = False
    key: bytes = b""
    now: float = 0.0
    turn: int = 0  # of what may be said in several ways, the next one each time
    abilities: frozenset[str] = ABILITIES

    def abstract(self) -> Hashable:
        return self.opened, bool(self.key), self.named, self.heard_ann

    def label(self) -> str:
        if not self.opened:
            return "start"
        return f"{'key' if self.key else 'open'}.{'named' if self.named else 'nameless'}{'.heard' * self.heard_ann}"

    @property
    def named(self) -> bool:
        return self.state.name != frames.UNKNOWN

    @property
    def heard_ann(self) -> bool:
        """Does the node know her still?"""
        last = self.state.senders.get(ANN)
        return bool(last and self.now - last.at <= TTL_S)

    @property
    def last(self) -> int:
        """The number of hers that the node knows."""
        return self.state.senders[ANN].seq if ANN in self.state.senders else FIRST

    def of(self, variants: Sequence[str]) -> str:
        return variants[self.turn % len(variants)]

    def step(self, said: Say) -> Step[State]:
        match said.event:
            case Open():
                return Step(self.machine.initial())
            case Datagram(data=data, ip=ip):
                read, peer = Codec().decode(data, self.key), (ip, 0)
                if isinstance(read, frames.Garbage):
                    return super().step(Say(WIRE, frames.Noise(read, peer, self.now)))
                return super().step(Say(WIRE, frames.Heard(read, peer, self.now)))
        return super().step(said)


Saying = Callable[[NodeWorld], tuple[Sequence[Stimulus], NodeWorld]]
Possible = Callable[[NodeWorld], bool]


# -- the node ----------------------------------------------------------------------------------------------------------


def opens(key: bytes) -> Saying:
    """Its counter is near its end, and its host listens; under a key it beats too."""

    def saying(world: NodeWorld) -> tuple[Sequence[Stimulus], NodeWorld]:
        calls: list[frames.Input] = [frames.SetSeq(TOP - 20), *map(frames.Listen, patterns(world))]
        chosen = (Say(WIRE, Datagram(datagram(src, seq, chan, b"", key), ip)) for src, seq, chan, ip in CHOOSING)
        opened = [Say(API, Open(key)), *chosen, *(Say(API, call) for call in calls)]
        if key and {"heartbeat", "clock"} <= world.abilities:
            opened += [Say(API, frames.StartHeartbeat(BEAT_S, world.now)), Say(CLOCK, Tick(world.now))]
        return opened, replace(world, opened=True, key=key, machine=node_machine(key))

    return saying


def patterns(world: NodeWorld) -> Sequence[str]:
    """What is listened for; a binding may know exact patterns alone (L932)."""
    if "conventions" not in world.abilities:
        return ()
    return PATTERNS if "patterns" in world.abilities else PATTERNS[:1]


def asks(*make: Callable[[NodeWorld], frames.Input]) -> Saying:
    """Calls of the host."""

    def saying(world: NodeWorld) -> tuple[Sequence[Stimulus], NodeWorld]:
        return [Say(API, made(world)) for made in make], replace(world, turn=world.turn + 1)

    return saying


def passes(world: NodeWorld) -> tuple[Sequence[Stimulus], NodeWorld]:
    """Enough for one heartbeat, and for every sender to be forgotten."""
    now = world.now + BEAT_S + 0.001
    return [Say(CLOCK, Tick(now))], replace(world, now=now)


def sends(world: NodeWorld) -> frames.Input:
    """Under the node's own name, where it has one, and under another by turns; never as "?", which others are."""
    src = "" if world.named and world.turn % 2 else "me/myself"
    chan = ("c", "!", "!h/p/12", "!x/*", "a/b")[world.turn % 5]
    return frames.Send(chan, b"sent %d" % world.turn, src)


def counts_on(world: NodeWorld) -> frames.Input:
    """From just below the next edge: up, or so far down that it is surely a restart to whoever hears the node, itself as well."""
    return frames.SetSeq(next((edge for edge in edges(world) if edge > world.state.seq), EDGES[0]))


def counts_to_its_end(world: NodeWorld) -> frames.Input:
    """The next number that it says is the last there is (BCCN-SEQ-02)."""
    return frames.SetSeq(TOP)


def edges(world: NodeWorld) -> Sequence[int]:
    """The last is less than HALF below where the counter begins: without a known SANITY that may be a restart or not."""
    return EDGES if "sanity" in world.abilities else EDGES[:-1]


BAD_SENDS = (("", 1), ("a b", 1), ("a:b", 1), ("a|b", 1), ("c" * 1025, 1), ("c" * 1000, 400), ("!a\n", 1), ("c", 1400))


def sends_badly(world: NodeWorld) -> frames.Input:
    chan, size = BAD_SENDS[world.turn % len(BAD_SENDS)]
    return frames.Send(chan, b"sent badly %d" % world.turn + b"x" * size, "me/myself")


# -- the others --------------------------------------------------------------------------------------------------------


def says(seq: Callable[[NodeWorld], int], chan: Callable[[NodeWorld], str], src: Callable[[NodeWorld], str]) -> Saying:
    """One datagram, from here and from elsewhere by turns."""

    def saying(world: NodeWorld) -> tuple[Sequence[Stimulus], NodeWorld]:
        payload = PAYLOADS[world.turn % len(PAYLOADS)]
        if len(chan(world)) > 1000:
            payload = payload[:1]
        data = datagram(src(world), seq(world), chan(world), payload, world.key)
        said = Datagram(data, (HERE, HERE, ELSEWHERE)[world.turn % 3])
        return [Say(WIRE, said)], replace(world, turn=world.turn + 1)

    return saying


def ann_says(seq: Callable[[NodeWorld], int], chan: Callable[[NodeWorld], str] | None = None) -> Saying:
    return says(seq, chan or (lambda world: world.of(PLAIN)), lambda world: ANN)


def new(world: NodeWorld) -> int:
    """The next, but for one: the next may have been said to somebody else."""
    return world.last + 2 if world.last < TOP - 1 else 0


def older(world: NodeWorld) -> int:
    gaps = (1, SANITY - 1, 5) if "sanity" in world.abilities else (1, 5, 3)
    return world.last - gaps[world.turn % 3]


def restarted(world: NodeWorld) -> int:
    """As little behind herself as makes it a restart, or far."""
    if "sanity" not in world.abilities:
        return world.last - HALF
    return (world.last - SANITY, world.last % SANITY, world.last - SANITY - 1)[world.turn % 3]


def ahead(world: NodeWorld) -> int:
    leaps = (world.last + SANITY, 2**53 + 1, HALF + 1, TOP - 1, TOP)
    above = [leap for leap in leaps if world.last < leap <= TOP]
    return above[world.turn % len(above)]


def kin(world: NodeWorld) -> str:
    """An unknown node hears its own heartbeats as those of "?": then nobody else is "?"."""
    return world.of(KIN if "sanity" in world.abilities and not world.state.beat else KIN[:-1])


def like_hers(world: NodeWorld) -> int:
    """Her number; where SANITY is not known, no gap that might be a restart or not."""
    last = world.state.senders.get(kin(world))
    near = last is None or "sanity" in world.abilities or last.seq - world.last <= 5 or last.seq - world.last >= HALF
    return world.last if near or last is None else last.seq


def to_it(world: NodeWorld) -> str:
    """By its name, or by what it begins with; a node without a name is nobody."""
    name = world.state.name
    if not world.named:
        return f"!{world.of(TO_NOBODY)}"
    stem = name.partition("/")[0]
    return "!" + world.of((name, f"{name}/*", stem, f"{stem}/*", name, name.rpartition("/")[0] or name))


def to_others(world: NodeWorld) -> str:
    name = world.state.name if world.named else "me"
    stem = name.partition("/")[0]
    near = (
        f"{name}/9",
        name.upper() + "x",
        name[:-1] or "y",
        f"!{name}",
        f"{name}#a",
        f"{name}1",
        f"{name}//",
        f"{stem}/",
    )
    return "!" + world.of((*near, "*", "/*", "?", "other/p/1", "h/p/1/*"))


def noise(world: NodeWorld) -> tuple[Sequence[Stimulus], NodeWorld]:
    """What is no message, with a number that would be news; under a key what is not signed, or not with it."""
    content = body(ANN, new(world), "a/b", b"noise")
    forged = (framed(content), signed(content, SECRET + b"!"), framed(content, ":sig=a1b2c3d4e5f60718"))
    wrapped = signed if world.key else framed
    fields = (b"a:9:c:d|x", b"a:-1:c|x", b":9:c|x", b"a:9:|x", b"a:9:c", b"a b:9:c|x", b"a:18446744073709551616:c|x")
    envelopes = (b"", b"BCCN1[", wrapped(content) + b"\n", wrapped(content)[:-1], wrapped(content, magic="BCCN2"))
    every = (*(forged if world.key else ()), *envelopes, *map(wrapped, fields))
    return [Say(WIRE, Datagram(every[world.turn % len(every)]))], replace(world, turn=world.turn + 1)


# -- the alphabet ------------------------------------------------------------------------------------------------------


def closed(world: NodeWorld) -> bool:
    return not world.opened


def ever(world: NodeWorld) -> bool:
    return world.opened


def knows_ann(least: int, most: int = TOP) -> Possible:
    return lambda world: ANN in world.state.senders and least <= world.last <= most


def can(ability: str) -> Possible:
    return lambda world: world.opened and ability in world.abilities


def can_count_on(world: NodeWorld) -> bool:
    """No edge twice: its numbers would come again."""
    return world.opened and not edges(world)[-1] <= world.state.seq < TOP - HALF // 2


def can_restart(world: NodeWorld) -> bool:
    return knows_ann(2 * SANITY if "sanity" in world.abilities else HALF)(world)


ALPHABET: dict[str, tuple[Possible, Saying]] = {
    "it opens": (closed, opens(b"")),
    "it opens with a key": (closed, opens(SECRET)),
    "it is named": (ever, asks(lambda world: frames.SetName(world.of(NAMES)), lambda world: frames.GetName())),
    "it is named like a wildcard": (  # and then otherwise again: whether it took the name is its own choice
        lambda world: world.named,
        asks(
            lambda world: frames.SetName(world.of(LIKE_WILDCARDS)),
            lambda world: frames.GetName(),
            lambda world: frames.SetName(world.of(NAMES)),
            lambda world: frames.GetName(),
        ),
    ),
    "it loses its name": (
        lambda world: world.named,
        asks(lambda world: frames.SetName(""), lambda world: frames.GetName()),
    ),
    "ann says": (ever, ann_says(new)),
    "ann again": (knows_ann(0), ann_says(lambda world: world.last)),
    "ann as before": (knows_ann(SANITY), ann_says(older)),
    "ann restarts": (can_restart, ann_says(restarted)),
    "ann leaps": (knows_ann(0, TOP - 1), ann_says(ahead)),
    "ann to all": (ever, ann_says(new, lambda world: "!")),
    "ann to it": (ever, ann_says(new, to_it)),
    "ann to others": (ever, ann_says(lambda world: min(TOP, world.last + 1), to_others)),
    "her kin says": (ever, says(like_hers, lambda world: "a/b", kin)),
    "noise": (ever, noise),
    "it sends": (ever, asks(sends, lambda world: frames.GetSeq())),
    "it counts on": (can_count_on, asks(counts_on, sends, sends, lambda world: frames.GetSeq())),
    "it counts to its end": (lambda world: world.opened and world.state.seq < TOP, asks(counts_to_its_end)),
    "it sends badly": (ever, asks(sends_badly, lambda world: frames.GetSeq())),
    "time passes": (can("clock"), passes),
}
LETTERS = {name: Letter(name, possible, saying) for name, (possible, saying) in ALPHABET.items()}
ENDING = tuple(
    LETTERS[name] for name in ("ann again", "her kin says", "ann to it", "it sends", "time passes", "ann again")
)
"""Whose numbers it knows, its name, its counter, its heartbeat, and that it forgets."""

TOURS = Tours(
    NodeWorld(node_machine(b""), State()),
    tuple(LETTERS.values()),
    ENDING,
    depth=8,
    length=80,
    foul=("noise", "it sends badly"),
    left_out={
        "names that no datagram can carry": "they are refused when set or when sent (BCCN-SRC-04); `names` has both",
        "datagrams at the limit of 1400 bytes": "a ceiling; `size` has every byte around it",
        "senders that beat": "when they are forgotten needs another configuration (BCCN-DUP-12); `tracker` has it",
        "a check, at a node without a key": "may be delivered or dropped (BCCN-INT-18); `reading` has it",
        "several datagrams under way at once": "walks are one after the other; `machine` and `transport` have them",
        "less time than makes a sender forgotten": "where heartbeats fall then is an implementation's own; `tracker` has it",
        "a listener that comes later": "every walk would need a node of its own for it; `conventions` and `machine` have it",
        "a heartbeat, at a node without a clock to push": "an interval would have to be waited for; `heartbeat` does",
    },
)
