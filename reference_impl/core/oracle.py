"""Reader two: watches a target in the machine's role, and says what it may say next and what it still owes.

A newcomer reads this once.

The machine says what its role owes after each input. If a target read every input the moment we sent it, one state and one
list of debts would be enough to judge it. It does not: between our sending and its reading lies a network and a scheduler. Two
clients send at once, and either message may be read first. We ask for a list while a message is under way, and the list may be
true of the moment before it or after it. We never see a target read; we only hear what it says.

So the oracle does not hold the state, it holds the **frontier**: every `Position` that fits all that was heard so far. A position
is one reading of the past,

    state     what the machine would have become
    owed      what it would have to say, or might
    unread    what we sent and, in this reading, the target has not read yet

and three things move the frontier:

    stimulus  we sent something. It joins `unread` of every position; then the frontier is closed under reading: from each
              position, each channel's oldest unread input may be the next that is read. Inputs of one channel are read in order,
              those of different channels in any order. Where the text leaves a choice (`Machine.alternatives`) each choice is
              a position of its own.
    tick      time passed. A position whose machine wants a Tick by now may have had it, or not yet: a target's timer is late
              like everything else about it, so both stay.
    observe   the target spoke. Only positions that allow this frame now survive, the debt paid and the holes bound to what it
              chose. If none survives, no reading of the past permits what was said: `NotAllowed`, with what would have been.

Two clients, one store, one reader that asks for it:

    we send   a: put x      b: put y      c: get
    before    { nothing read }
    closed    {x}, {y}, {x,y}, {y,x}, each with `get` unread, or read: owing "", "x", "y", "x,y", "y,x"
    we hear   "y,x"
    after     { y then x, nothing unread }            and from now on "x,y" is not allowed any more

Silence is judged at the end. `settled` asks whether some reading has read everything and owes nothing that is late; until
then a target is waited for. `quiesce` says that the waiting is over, by the patience or because a fence proved it: what every
complete reading still owes is `Overdue`, and the incomplete readings are dropped. Where a choice of the target lets one reading
owe what another does not, silence a moment later proves nothing: with a patience, `quiesce` keeps the readings whose debts are
younger than that.

A crash keeps of each position its durable half. Whether something unread had been read before it shows in what survives.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from reference_impl.core.expectation import Channel, Expectation, Level, bound, reachable, settle
from reference_impl.core.machine import CLOCK, Machine, Step, Tick

S = TypeVar("S")

#: A frontier of more positions than this is a case that pipelines too much, not a target at fault.
FRONTIER_LIMIT = 20_000


def _channel(debt: Expectation) -> str:
    return str(debt.channel)


@dataclass(frozen=True, slots=True)
class Position(Generic[S]):
    """One reading of the past: the state, the debts, and the inputs the target may not have read yet."""

    state: S
    owed: tuple[Expectation, ...] = field(default=(), compare=False)
    unread: tuple[tuple[Channel, Any], ...] = ()
    by_channel: tuple[Expectation, ...] = field(init=False)  # what makes it this reading: order binds within a channel

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_channel", tuple(sorted(self.owed, key=_channel)) if self.owed else ())

    def debts(self, now: float) -> tuple[Expectation, ...]:
        """What has to be said, and may be by now."""
        return tuple(e for e in self.owed if e.level is Level.MUST and not e.repeats and e.opens(now))

    def lighter(self) -> Iterator[Position[S]]:
        """Without one debt that the target may also pay unasked, and as often as it likes: if paid or not does not show."""
        free = {(e.channel, e.template) for e in self.owed if e.repeats and e.level is Level.MAY}
        for index, debt in enumerate(self.owed if free else ()):
            if not debt.repeats and (debt.channel, debt.template) in free:
                yield replace(self, owed=self.owed[:index] + self.owed[index + 1 :])

    def overdue(self, now: float, patience_s: float = 0.0) -> tuple[Expectation, ...]:
        return tuple(e for e in self.debts(now) if e.late(now, patience_s))


class Violation(AssertionError):
    """A target broke a clause. Carries data; the sentence is made in `__str__`."""

    clause: str = ""


class NotAllowed(Violation):
    """The target said something that no clause allows here."""

    def __init__(self, channel: Channel, frame: Any, allowed: tuple[Expectation, ...], recent: tuple[str, ...]) -> None:
        super().__init__(channel, frame)
        self.channel, self.frame, self.allowed, self.recent = channel, frame, allowed, recent
        self.clause = next(iter(self._broken() or recent or [e.clause for e in allowed]), "")

    def _broken(self) -> list[str]:
        """Of what was allowed, the clauses that this comes closest to: of a frame of its kind, else of what was binding."""
        ranked = sorted(self.allowed, key=lambda e: list(Level).index(e.level))
        kin = [e.clause for e in ranked if type(e.template) is type(self.frame)]
        # What may come at any time explains nothing.
        return kin or [e.clause for e in ranked if e.level is not Level.MAY]

    def __str__(self) -> str:
        wanted = "; ".join(map(str, self.allowed)) or f"silence ({', '.join(self.recent) or 'nothing was asked'})"
        return f"{self.channel} got {self.frame}, allowed was {wanted}"


class Overdue(Violation):
    """The target did not say what it owed."""

    def __init__(self, debts: tuple[Expectation, ...]) -> None:
        super().__init__(debts)
        self.debts = debts
        self.clause = debts[0].clause if debts else ""

    def __str__(self) -> str:
        return "still owed: " + "; ".join(f"{e} on {e.channel}" for e in self.debts)


class Oracle(Generic[S]):
    """Judges one target in one role."""

    def __init__(self, machine: Machine[S], now: float = 0.0) -> None:
        self.machine, self.now = machine, now
        self.exercised: Counter[str] = Counter()
        self._recent: deque[str] = deque(maxlen=8)
        self._paid: dict[type, str] = {}  # kind of frame -> under which clause it was said last
        self.frontier: frozenset[Position[S]] = frozenset([Position(machine.initial())])

    def stimulus(self, channel: Channel, event: Any) -> None:
        """The harness sent this; the target reads it now or later."""
        self._move(replace(p, unread=(*p.unread, (channel, event))) for p in self.frontier)

    def tick(self, now: float) -> None:
        """It is so late now; a target's own timer has fired by now, or will."""
        if now > self.now:
            self.now = now
            if any(self._ticking(p) for p in self.frontier):
                self._move(self.frontier)

    def observe(self, channel: Channel, frame: Any) -> None:
        """The target sent this. Raises NotAllowed when no reading of the past permits it."""
        after = list(self._spoken(channel, frame))
        if not after:
            said = self._paid.get(type(frame))  # once too often: closer to that clause than to any other
            recent = tuple(reversed(self._recent))
            raise NotAllowed(channel, frame, self.allowed(channel), (said, *recent) if said else recent)
        self._move(after)

    def allowed(self, channel: Channel) -> tuple[Expectation, ...]:
        """What the target may say next on that channel."""
        heads = (p.owed[i] for p in self.frontier for i in reachable(p.owed, channel, self.now))
        return tuple({str(e): e for e in heads}.values())

    def outstanding(self) -> tuple[Expectation, ...]:
        """What is unpaid if the target has read everything; the reading that suits the target best wins."""
        readings = (p.debts(self.now) for p in self.frontier if self._caught_up(p))
        return min(readings, key=lambda debts: (sum(e.late(self.now) for e in debts), len(debts)), default=())

    def overdue(self) -> tuple[Expectation, ...]:
        """What of it is late."""
        return tuple(e for e in self.outstanding() if e.late(self.now))

    @property
    def settled(self) -> bool:
        """Can the target have read everything and paid everything that it may have paid by now?"""
        return any(self._caught_up(p) and not p.debts(self.now) for p in self.frontier)

    @property
    def certain(self) -> bool:
        """Has the target shown that it read every input?"""
        return all(not p.unread for p in self.frontier)

    def quiesce(self, patience_s: float = 0.0) -> None:
        """The target has read everything, and what has been late for so long it will not pay any more."""
        debts = self.overdue()
        if debts:
            raise Overdue(debts)
        complete = frozenset(p for p in self.frontier if self._caught_up(p) and not p.overdue(self.now, patience_s))
        self.frontier = frozenset(p for p in complete if complete.isdisjoint(p.lighter()))

    def undecided(self) -> frozenset[Expectation]:
        """What is owed in some reading only, or may wait by the target's own choice: it shows which that is."""
        complete = (p for p in self.frontier if self._caught_up(p))
        owed = (e for p in complete for e in p.owed if e.opens(self.now) and not e.repeats)
        return frozenset(e for e in owed if e.level is Level.MUST or e.suffices)

    def forget(self, channel: Channel) -> None:
        """That channel is over for both sides, and what was still said on it changes nothing any more."""
        self.frontier = frozenset(
            Position(
                p.state, tuple(e for e in p.owed if e.channel != channel), tuple(u for u in p.unread if u[0] != channel)
            )
            for p in self.frontier
        )

    def crash(self) -> None:
        """The target lost its volatile half; whatever it had read or not is decided by what it says from now on."""
        self.frontier = frozenset(Position(self.machine.crash(p.state)) for p in self.frontier)

    def _spoken(self, channel: Channel, frame: Any) -> Iterator[Position[S]]:
        for p in self.frontier:
            for index in self._explanations(p.owed, channel, frame):
                expectation = p.owed[index]
                self.exercised[expectation.clause] += 1
                self._paid[type(frame)] = expectation.clause
                state = self.machine.spoke(p.state, expectation, frame)
                yield replace(p, state=state, owed=bound(settle(p.owed, index), expectation, frame))

    def _explanations(self, owed: tuple[Expectation, ...], channel: Channel, frame: Any) -> Iterator[int]:
        """What it may have been said for.

        Where it pays a debt and also could have come of itself, any number of times, the debt it is: whoever has paid can
        still say all that one can who has not. Keeping both would double the frontier with every Heartbeat.
        """
        found = [index for index in reachable(owed, channel, self.now) if owed[index].admits(frame)]
        debts = [i for i in found if owed[i].level is Level.MUST and len(settle(owed, i)) == len(owed) - 1]
        paid = [owed[i].template for i in debts]
        yield from (i for i in found if not (owed[i].repeats and owed[i].template in paid))

    def _move(self, positions: Iterable[Position[S]]) -> None:
        """Close under reading: from each position, every order in which the target can read what waits."""
        seen: set[Position[S]] = set()
        todo = list(positions)
        while todo:
            position = todo.pop()
            if position in seen:
                continue
            seen.add(position)
            if len(seen) > FRONTIER_LIMIT:
                raise RuntimeError("the oracle's frontier grew past its limit: let the case settle more often")
            todo.extend(self._readings(position))
        self.frontier = frozenset(seen)

    def _readings(self, position: Position[S]) -> Iterator[Position[S]]:
        heads: set[Channel] = set()
        for index, (channel, event) in enumerate(position.unread):
            if channel not in heads:
                heads.add(channel)
                rest = position.unread[:index] + position.unread[index + 1 :]
                yield from self._read(position, channel, event, rest)
        if self._ticking(position):
            yield from self._read(position, CLOCK, Tick(self.now), position.unread)

    def _read(
        self, position: Position[S], channel: Channel, event: Any, rest: tuple[tuple[Channel, Any], ...]
    ) -> Iterator[Position[S]]:
        """The position behind reading this input, one for each choice that the text leaves."""
        first = self.machine.receive(position.state, channel, event)
        for step in (first, *self.machine.alternatives(position.state, channel, event)):
            self._note(step)
            kept = (e for e in position.owed if e.channel not in step.voids)
            owed = tuple(replace(e, level=Level.MAY) if e.channel in step.lapses or step.moot(e) else e for e in kept)
            yield Position(step.state, owed + tuple(replace(e, since=self.now) for e in step.owes), rest)

    def _ticking(self, position: Position[S]) -> bool:
        """Does its machine want to be told the time?"""
        deadline = self.machine.deadline(position.state)
        return deadline is not None and deadline <= self.now

    def _caught_up(self, position: Position[S]) -> bool:
        return not position.unread and not self._ticking(position)

    def _note(self, step: Step[S]) -> None:
        for clause in step.clauses:
            self.exercised[clause] += 1
            if clause in self._recent:
                self._recent.remove(clause)
            self._recent.append(clause)
