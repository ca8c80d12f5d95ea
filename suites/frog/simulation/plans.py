"""Plans of FROG worlds: small ones that are to be broken, large ones to measure in."""

from __future__ import annotations

from random import Random

from harness.simulation.graphs import SHAPES
from harness.simulation.plan import Event, Outcome, Plan, Row
from reference_impl.frog.sisters import Mesh
from suites.frog.simulation.calls import NETWORKS, Call

RECOMMENDED = {name: getattr(Mesh(), name) for name in ("lookup_ttl", "lookup_fanout", "find_ttl", "find_fanout")}
"""Of section 39."""
TTLS = tuple(range(1, 8))
FANOUTS = (2, 3, 5, 7, 14)
APART_S = 0.05
"""Between two lookups of a measurement; between two settings long enough for the last ones to end."""
ROUND_S = 4.0
CALM, WHAT_BEFALLS = ("lookup", "lookup", "find", "intrude"), ("leave", "move", "cut", "restart")


def draw(seed: int) -> Plan:
    """A small world. Every other one is calm: in those more is certain."""
    random = Random(seed)
    shape, count, calm = random.choice(list(SHAPES)), random.randint(2, 9), seed % 2 == 0
    peers = tuple((n, random.randrange(count)) for n in range(random.randint(4, 14)))
    links = SHAPES[shape](count, random)
    events = [event(random, calm, count, len(peers), links, at) for at in range(random.randint(6, 24))]
    settings = {
        **{name: random.choice((1, 2, 3, 5, 7)) for name in ("lookup_ttl", "find_ttl")},
        **{name: random.choice((2, 3, 7, 7, 9)) for name in ("lookup_fanout", "find_fanout")},
    }
    return Plan(
        protocol="frog",
        seed=seed,
        shape=shape,
        servers=tuple(range(count)),
        links=links,
        peers=peers,
        events=tuple(events),
        settings=settings,
        loss=0.0 if calm else random.choice((0.0, 0.02, 0.1)),
        jitter=0.0 if calm else random.choice((0.0, 1.0, 10.0)),
    )


def event(
    random: Random, calm: bool, servers: int, peers: int, links: tuple[tuple[int, int], ...], place: int
) -> Event:
    what = random.choice(CALM if calm or place % 3 else WHAT_BEFALLS)
    peer, at = random.randrange(peers), place * random.choice((0.2, 1.0))
    match what:
        case "lookup":
            mates = [n for n in range(peers) if n % NETWORKS == peer % NETWORKS and n != peer]
            return Event(at, what, (peer, random.choice(mates if random.random() < 0.85 else range(peers))))
        case "find":
            return Event(at, what, (peer, random.randint(1, 7)))
        case "move":
            return Event(at, what, (peer, random.randrange(servers)))
        case "cut":
            return Event(at, what, random.choice(links))
        case "restart":
            return Event(at, what, (random.randrange(servers),))
    return Event(at, what, (peer,))


def large(
    seed: int,
    shape: str,
    servers: int,
    peers: int,
    samples: int,
    loss: float = 0.0,
    jitter: float = 0.0,
    churn: int = 0,
) -> Plan:
    """One world in which each TTL is tried with each fanout; of `churn` peers and links something befalls each round."""
    random = Random(seed)
    links, events, at = SHAPES[shape](servers, random), list[Event](), 0.0
    apart = 2 * NETWORKS  # the first ones are on two servers, so that there is a pair in each network
    where = tuple((n, n // NETWORKS if n < apart else random.randrange(servers)) for n in range(peers))
    for fanout in FANOUTS:
        for ttl in TTLS:
            events.append(Event(at, "tune", (ttl, fanout)))
            events += [Event(at + n * APART_S, "lookup", pair(random, where)) for n in range(samples)]
            for _ in range(churn):
                moment = at + random.random() * samples * APART_S
                events.append(Event(moment, "move", (random.randrange(peers), random.randrange(servers))))
                events.append(Event(moment, "cut", random.choice(links)))
            at += samples * APART_S + ROUND_S
    return Plan(
        protocol="frog",
        seed=seed,
        shape=shape,
        servers=tuple(range(servers)),
        links=links,
        peers=where,
        events=tuple(events),
        settings=RECOMMENDED,
        loss=loss,
        jitter=jitter,
    )


def pair(random: Random, where: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """Two of one network on two servers: who is on the same one is found for nothing."""
    while True:
        (one, here), (two, there) = random.sample(where, 2)
        if here != there and one % NETWORKS == two % NETWORKS:
            return one, two


def rows(plan: Plan, outcome: Outcome) -> list[Row]:
    """What the lookups of each setting bought."""
    by_setting: dict[tuple[int, int], list[Call]] = {}
    for call in outcome.calls:
        if call.target is not None:
            by_setting.setdefault((call.fanout, call.ttl), []).append(call)
    return [row(plan, *setting, calls) for setting, calls in sorted(by_setting.items())]


def row(plan: Plan, fanout: int, ttl: int, calls: list[Call]) -> Row:
    count, found = len(calls), [call for call in calls if call.is_found]
    return Row(
        ttl=ttl,
        fanout=fanout,
        lookups=count,
        reached=sum(len(call.reached) for call in calls) / count / len(plan.servers),
        found=len(found) / count,
        messages=sum(call.messages for call in calls) / count,
        most_messages=max(call.messages for call in calls),
        answered_s=sum(call.answered_at - call.at for call in found) / len(found) if found else 0.0,
    )
