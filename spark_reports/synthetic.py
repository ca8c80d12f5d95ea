"""Synthetic run histories with the real schema: seeded, with known truths planted for the report to find.

A night is one check run per implementation and one matrix run of all pairs. What is planted, and must be stated by a
report of the whole history, comes back as `Truth`.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.judging.result import (
    CaseResult,
    Event,
    Failure,
    Footer,
    Header,
    TargetInfo,
    TimelineEntry,
    Verdict,
    encode,
)

Cell = tuple[str, str, str, str]  # protocol, target, peer, case

PREFIX = {"peerbus": "PB", "sbp": "SBP", "bccn": "BC", "frog": "FR", "trueseal": "TS"}
ROLES = {"peerbus": "broker", "sbp": "peer", "bccn": "node", "frog": "server", "trueseal": "relay"}
GROUPS = ("register", "deliver", "ack", "limits", "resume")
SCENARIOS = ("hello", "bulk", "takeover", "reconnect")
LOSSY = ("loss-5", "loss-20")
LANGUAGES = ("Python", "Go", "Rust", "Java", "C")


@dataclasses.dataclass(frozen=True)
class Plan:
    """How large a history, and how much goes wrong in it."""

    nights: int = 14
    start: dt.date = dt.date(2026, 9, 1)
    seed: int = 7
    implementations: tuple[str, ...] = ("reference", "heron", "osprey", "kestrel")
    protocols: tuple[str, ...] = ("peerbus", "sbp")
    cases: int = 20  # per protocol and check run
    repetitions: int = 25  # of each lossy cell
    planted: int = 3  # of each kind of change
    outage: bool = True  # in the middle of the history one implementation cannot be started for a night


@dataclasses.dataclass
class Truth:
    """What a report of the history must say."""

    regressions: set[Cell] = dataclasses.field(default_factory=set)
    fixes: set[Cell] = dataclasses.field(default_factory=set)
    flaky: set[Cell] = dataclasses.field(default_factory=set)
    older: dict[Cell, str] = dataclasses.field(default_factory=dict)  # steady failures and the date they began
    culprits: dict[Cell, tuple[str, str]] = dataclasses.field(default_factory=dict)
    lossy: dict[tuple[str, str, str, str, str], tuple[int, int]] = dataclasses.field(default_factory=dict)
    counts: Counter[str] = dataclasses.field(default_factory=Counter)  # verdicts of the last night's exact cells
    runs: int = 0
    events: int = 0


class History:
    """A planned history; `write` puts it below a folder, one run folder each."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.truth = Truth()
        self._random = random.Random(plan.seed)
        self._bad_nights: dict[Cell, set[int]] = {}
        self._plant_changes()
        self._plant_culprits()
        self._outage = (plan.implementations[-1], plan.nights // 2) if plan.outage else ("", -1)

    def write(self, folder: Path, nights: range | None = None) -> Truth:
        for night in nights if nights is not None else range(self.plan.nights):
            for run_id, events in self.runs_of(night):
                write_run(folder / run_id, events)
        return self.truth

    def runs_of(self, night: int) -> Iterator[tuple[str, list[Event]]]:
        date = (self.plan.start + dt.timedelta(days=night)).isoformat()
        for hour, name in enumerate(self.plan.implementations):
            # An outage: that implementation could not be started, so there is no run of it that night.
            if (name, night) != self._outage:
                run_id = f"{date}-check-{name}"
                yield run_id, self._run(run_id, night, hour, "check", [name], list(self._checks(run_id, name, night)))
        run_id = f"{date}-matrix"
        names = list(self.plan.implementations)
        yield run_id, self._run(run_id, night, 20, "matrix", names, list(self._pairs(run_id, night)))

    def _plant_changes(self) -> None:
        plan, truth, last = self.plan, self.truth, self.plan.nights - 1
        cells = [
            (protocol, name, "", case_id(protocol, number))
            for protocol in plan.protocols
            for name in plan.implementations[1:]
            for number in range(plan.cases)
            if usual_verdict(number) is Verdict.PASS
        ]
        chosen = self._random.sample(cells, 4 * plan.planted)
        broken, fixed, older, flaky = (chosen[index::4] for index in range(4))
        for cell in broken:
            self._bad_nights[cell] = {last}
        for cell in fixed:
            self._bad_nights[cell] = set(range(last))
        since = max(1, last - 3)
        for cell in older:
            self._bad_nights[cell] = set(range(since, plan.nights))
        for cell in flaky:
            start = self._random.randint(1, 3)
            self._bad_nights[cell] = {last - start - 2 * step for step in range(2) if last - start - 2 * step > 0}
        truth.regressions |= set(broken)
        truth.fixes |= set(fixed)
        truth.flaky |= set(flaky)
        truth.older |= dict.fromkeys(older, (plan.start + dt.timedelta(days=since)).isoformat())

    def _plant_culprits(self) -> None:
        """A client fault, a server fault, both in one scenario, and a pair that only fails together."""
        _, first, second, *_ = self.plan.implementations
        protocol = self.plan.protocols[0]
        hello, bulk, takeover, _ = (pair_case(protocol, name) for name in SCENARIOS)
        clients, servers = {(first, hello), (first, bulk)}, {(second, bulk), (second, takeover)}
        together = {(second, first, hello)}
        for client in self.plan.implementations:
            for server in self.plan.implementations:
                for case in (hello, bulk, takeover):
                    guilty = ((client, case) in clients, (server, case) in servers)
                    if any(guilty) or (client, server, case) in together:
                        self._blame((protocol, client, server, case), guilty)

    def _blame(self, cell: Cell, guilty: tuple[bool, bool]) -> None:
        _, client, server, _ = cell
        verdicts = {(True, True): "both", (True, False): "client", (False, True): "server", (False, False): "pair"}
        culprit = verdicts[guilty]
        self._bad_nights[cell] = set(range(self.plan.nights))
        self.truth.culprits[cell] = (culprit, {"client": client, "server": server}.get(culprit, f"{client} + {server}"))

    def _run(
        self, run_id: str, night: int, hour: int, kind: str, names: list[str], cases: list[CaseResult]
    ) -> list[Event]:
        began = dt.datetime.combine(self.plan.start, dt.time(hour, 30), dt.UTC) + dt.timedelta(days=night)
        infos = [TargetInfo(name, version_of(name, night), language_of(name), reach="process") for name in names]
        header = Header(
            run_id,
            began.isoformat(),
            kind,
            self.plan.seed,
            infos,
            list(self.plan.protocols),
            len(cases),
            f"touchstone {kind}",
            "0.1.0",
            f"{night:07x}",
            "3.11.7",
            "linux",
        )
        counts = Counter(str(case.verdict) for case in cases)
        footer = Footer(
            run_id, (began + dt.timedelta(minutes=3)).isoformat(), 180.0, dict(counts), int(counts["fail"] > 0)
        )
        self.truth.runs += 1
        self.truth.events += len(cases)
        return [header, *cases, footer]

    def _checks(self, run_id: str, name: str, night: int) -> Iterator[CaseResult]:
        for protocol in self.plan.protocols:
            for number in range(self.plan.cases):
                cell = (protocol, name, "", case_id(protocol, number))
                bad = night in self._bad_nights.get(cell, ())
                yield self._case(run_id, cell, night, Verdict.FAIL if bad else usual_verdict(number), number)

    def _pairs(self, run_id: str, night: int) -> Iterator[CaseResult]:
        down = self._outage[0] if self._outage[1] == night else ""
        for protocol in self.plan.protocols:
            for client in self.plan.implementations:
                for server in self.plan.implementations:
                    for number, scenario in enumerate(SCENARIOS):
                        cell = (protocol, client, server, pair_case(protocol, scenario))
                        bad = night in self._bad_nights.get(cell, ())
                        verdict = (
                            Verdict.ERROR
                            if down in (client, server) and down
                            else Verdict.FAIL
                            if bad
                            else Verdict.PASS
                        )
                        yield self._case(run_id, cell, night, verdict, number, scenario=scenario)
        yield from self._lossy(run_id, night)

    def _lossy(self, run_id: str, night: int) -> Iterator[CaseResult]:
        """One cell that loses a little and one that loses too much, each with an exact number of passes."""
        protocol, (_, first, second, *_) = self.plan.protocols[0], self.plan.implementations
        repetitions = self.plan.repetitions
        for profile, passes in zip(LOSSY, (repetitions - 1, repetitions // 2), strict=True):
            cell = (protocol, first, second, pair_case(protocol, "bulk"))
            self.truth.lossy[(*cell, profile)] = (passes, repetitions)
            for repetition in range(repetitions):
                verdict = Verdict.PASS if repetition < passes else Verdict.FAIL
                yield self._case(run_id, cell, night, verdict, repetition, "bulk", profile, repetition)

    def _case(
        self,
        run_id: str,
        cell: Cell,
        night: int,
        verdict: Verdict,
        number: int,
        scenario: str = "",
        profile: str = "",
        repetition: int = 0,
    ) -> CaseResult:
        protocol, target, peer, case = cell
        if night == self.plan.nights - 1 and not profile:
            self.truth.counts[str(verdict)] += 1
        clause = f"{PREFIX[protocol]}-{1 + number % 5}-{number:02d}"
        latency = 4.0 + 2.0 * (len(target) % 4) + (number % 17) * 0.7 + self._random.random()
        return CaseResult(
            run_id,
            case,
            protocol,
            ROLES[protocol],
            GROUPS[number % len(GROUPS)],
            verdict,
            target,
            [clause],
            reach="process",
            target_version=version_of(target, night),
            peer=peer,
            peer_version=version_of(peer, night) if peer else "",
            scenario=scenario,
            fault_profile=profile,
            repetition=repetition,
            failure=failure_of(verdict, clause),
            note=note_of(verdict),
            timeline=timeline_of(*sides_of(target, peer), verdict),
            measures={"latency_ms": latency},
            seed=self.plan.seed + number,
            duration_s=latency / 1000,
            replay=f"touchstone replay capsules/{run_id}/{number}.json",
        )


def write_run(folder: Path, events: list[Event]) -> Path:
    """One run folder as the harness leaves it."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = folder / "events.ndjson"
    stream.write_bytes(b"".join(encode(event) + b"\n" for event in events))
    return stream


def case_id(protocol: str, number: int) -> str:
    return f"{protocol}/{ROLES[protocol]}/{GROUPS[number % len(GROUPS)]}/case_{number:04d}[size={1 << number % 8}]"


def pair_case(protocol: str, scenario: str) -> str:
    return f"{protocol}/pair/interop/{scenario}"


def usual_verdict(number: int) -> Verdict:
    """Most cases pass; a few say something else every night."""
    return {17: Verdict.WARN, 18: Verdict.INFO, 19: Verdict.UNSUPPORTED}.get(number % 40, Verdict.PASS)


def version_of(name: str, night: int) -> str:
    return f"1.{len(name) % 3}.{night // 7}"


def language_of(name: str) -> str:
    return LANGUAGES[sum(name.encode()) % len(LANGUAGES)]


def note_of(verdict: Verdict) -> str:
    notes = {
        Verdict.WARN: "the clause is contested: two sentences of the text contradict each other",
        Verdict.UNSUPPORTED: "the target declares no such capability",
        Verdict.ERROR: "the implementation could not be started",
    }
    return notes.get(verdict, "")


def failure_of(verdict: Verdict, clause: str) -> Failure | None:
    if verdict is not Verdict.FAIL:
        return None
    return Failure(
        "a message was acknowledged before it was delivered",
        clause,
        "an ack follows the delivery it confirms",
        "deliver(id=7), then ack(id=7)",
        "ack(id=7) with no deliver before it",
    )


def sides_of(target: str, peer: str) -> tuple[str, str]:
    """The names of both sides; an implementation may be paired with itself."""
    return (f"{peer} (server)", f"{target} (client)") if peer else (target, "harness")


def timeline_of(target: str, other: str, verdict: Verdict) -> list[TimelineEntry]:
    """A short exchange as both sides saw it."""
    if verdict is Verdict.PASS:
        return [
            TimelineEntry(0.0, other, target, "frame", "register name=a"),
            TimelineEntry(0.002, target, other, "frame", "peers [a]"),
        ]
    return [
        TimelineEntry(0.0, other, target, "frame", "register name=a", "7b2274797065223a2272656769737465", 61),
        TimelineEntry(0.0021, target, other, "frame", "peers [a]", "7b2274797065223a2270656572732220", 43),
        TimelineEntry(0.0034, other, target, "frame", "envelope to:a id=7", "7b22746f223a22613a3722207d", 118),
        TimelineEntry(0.0051, target, other, "frame", "ack id=7", "7b2274797065223a2261636b227d", 38),
        TimelineEntry(0.0052, target, target, "note", "no deliver was sent for id=7"),
        TimelineEntry(0.2500, other, target, "frame", "close 1000", "8800", 2),
    ]
