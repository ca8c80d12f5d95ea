"""One block: a bench is opened, every cell of it played and judged, and what went wrong is weighed."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Mapping
from typing import Any

from harness.catalogue.requirements import every_requirement
from harness.errors import (
    HarnessError,
    TargetCrashed,
    TargetError,
    TargetFailed,
    TargetRefused,
    TargetTimeout,
    TargetUnsupported,
    Unavailable,
)
from harness.judging.result import BAD, CaseResult, Failure, TargetInfo, Verdict, now
from harness.judging.verdict import of_clause
from harness.matrix.cells import Block, case_id
from harness.matrix.faults import NONE, Schedule, drawn
from harness.matrix.history import Breach, History
from harness.matrix.pairing import CLIENT, SERVER, Scenario, Seat
from harness.matrix.play import LEAST_S, PATIENCE_S, Bench, Proxy, play
from harness.matrix.rooms import Rooms

CELL_S = 90.0
"""A cell that has not ended by then hangs: every wait inside is shorter."""

OPEN_S = 1800.0
"""A build or an image may take longer than any cell, and so may several containers on a busy machine."""

MOST_ENTRIES = 400
"""Timeline entries kept of a red cell."""

MOST_DEATHS = 3
"""Benches that may break down in one block before the rest of it is not tried."""


def played(block: Block, patience_s: float = PATIENCE_S, until_red: bool = False) -> list[CaseResult]:
    """Every cell of a block, judged; or those up to the first that is red."""
    return asyncio.run(_played(block, patience_s, until_red))


async def _played(block: Block, patience_s: float, until_red: bool) -> list[CaseResult]:
    from harness.matrix.culprit import investigated, is_red

    asyncio.get_running_loop().set_exception_handler(_unless_cancelled)
    hall = Hall(block)
    hall.patience_s = patience_s
    results: list[CaseResult] = []
    try:
        for scenario, repetition in block.cells():
            results.append(await hall.cell(scenario, repetition))
            if until_red and is_red(results[-1]):
                break
    finally:
        await hall.close()
    return await investigated(block, results)


def _unless_cancelled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A server in this process that was killed leaves cancelled connections behind, of which asyncio complains."""
    if not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)


def not_tried(block: Block, why: str) -> list[CaseResult]:
    """All cells of a block, unsupported for one reason."""
    hall = Hall(block)
    return [hall.result(scenario, n, Verdict.UNSUPPORTED, note=why) for scenario, n in block.cells()]


class Hall:
    """Where a block is played: opens a bench when there is none, and a new one after a death."""

    def __init__(self, block: Block, proxied: bool = False) -> None:
        self.block, self.pairing = block, block.of
        self.proxied = proxied or block.profile != NONE
        self.rooms = Rooms(block)
        self.targets = self.rooms.here
        self.bench: Bench | None = None
        self._is_apart = False  # is the bench in a room of its own?
        self.history = History()
        self.proxies: dict[str, Proxy] = {}  # of the last bench, for whoever reads along
        self.patience_s = PATIENCE_S
        self._deaths = 0
        self._hopeless: TargetError | Unavailable | None = None

    async def close(self) -> None:
        await self._leave()
        await self.rooms.close()

    async def _leave(self) -> None:
        if self.bench:
            await self.bench.close()
        self.bench = None

    async def cell(self, scenario: Scenario, repetition: int, schedule: Schedule | None = None) -> CaseResult:
        """Play one cell and judge it."""
        case, profile = case_id(self.pairing, scenario), self.block.profile
        if schedule is None:
            schedule = drawn(profile, self.pairing, scenario, case, self.block.seed, repetition)
        began, self.history = time.perf_counter(), History()
        error: BaseException | None = None
        breaches: list[Breach] = []
        try:
            async with asyncio.timeout(OPEN_S):
                bench = await self._bench(apart=not (self.proxied or scenario.is_led) and self.rooms.are_there)
            async with asyncio.timeout(CELL_S):
                bench.patience_s = self.patience_s
                name = f"m{secrets.token_hex(4)}"
                try:
                    self.history = await play(bench, scenario, profile, schedule, name)
                finally:
                    self.history = bench.history
            breaches = [breach for promise in scenario.promises for breach in promise(self.history, profile)]
        except (Exception, TimeoutError) as raised:
            error = raised
            await self._after(raised)
        verdict, failure, note = self._judged(scenario, error, breaches)
        if verdict in BAD:
            self.patience_s = LEAST_S
        return self.result(scenario, repetition, verdict, failure, note, schedule, (time.perf_counter() - began))

    async def _bench(self, apart: bool) -> Bench:
        if self._hopeless:
            raise self._hopeless.with_traceback(None)
        if apart != self._is_apart:
            await self._leave()
        if self.bench is None:
            if self._deaths >= MOST_DEATHS:
                raise TargetUnsupported(f"not tried: this pair broke down {self._deaths} times before")
            self._is_apart = apart
            self.bench = Bench(self.pairing, await self.rooms.targets(apart), self.proxied)
            self.proxies = self.bench.proxies
            try:
                await self.bench.open()
            except (TargetError, Unavailable) as error:
                if (
                    isinstance(error, TargetError) or self._deaths
                ):  # an engine that was too busy may answer the next time
                    self._hopeless = error
                raise
        return self.bench

    async def _after(self, error: BaseException) -> None:
        """A refusal and what is not supported leave the bench as it was; everything else needs a new one."""
        if not isinstance(error, TargetUnsupported | TargetRefused | TargetFailed):
            self._deaths += not isinstance(error, HarnessError)
            with contextlib.suppress(TargetError):
                await self._leave()

    def _judged(
        self, scenario: Scenario, error: BaseException | None, breaches: list[Breach]
    ) -> tuple[Verdict, Failure | None, str]:
        if error is not None:
            return _weighed(error, scenario.clauses[0])
        for verdict, failure, note in map(_broken, breaches):
            if verdict is Verdict.FAIL:
                return verdict, failure, note
        return _broken(breaches[0]) if breaches else (Verdict.PASS, None, "")

    def result(
        self,
        scenario: Scenario,
        repetition: int,
        verdict: Verdict,
        failure: Failure | None = None,
        note: str = "",
        schedule: Schedule = (),
        duration_s: float = 0.0,
    ) -> CaseResult:
        client, server = self.targets[CLIENT].info, self.targets[SERVER].info
        red = verdict not in (Verdict.PASS, Verdict.UNSUPPORTED)
        return CaseResult(
            run_id="",
            case=case_id(self.pairing, scenario),
            protocol=self.pairing.protocol,
            role=self.pairing.name,
            group="interop",
            verdict=verdict,
            target=client.name,
            requirements=list(scenario.clauses),
            axes=dict(scenario.axes),
            reach=f"{client.reach} x {server.reach}",
            target_version=client.version,
            peer=server.name,
            peer_version=server.version,
            scenario=scenario.name,
            fault_profile="" if self.block.profile == NONE else self.block.profile,
            repetition=repetition,
            failure=failure,
            note=note,
            timeline=self.history.timeline(columns(self.pairing.seats, client, server))[:MOST_ENTRIES] if red else [],
            measures={"latency_ms": round(duration_s * 1000, 3)},
            seed=self.block.seed,
            example="; ".join(map(str, schedule)),
            started_at=now(),
            duration_s=round(duration_s, 6),
        )


def columns(seats: Mapping[str, Seat], client: TargetInfo, server: TargetInfo) -> dict[str, str]:
    """The three columns of a ladder: client, proxy, server; every seat stands in one of the outer ones, a third by itself."""
    named = {CLIENT: f"{client.name} (client)", SERVER: f"{server.name} (server)", "proxy": "proxy"}
    return {**named, **{label: named.get(seat.side, f"reference ({label})") for label, seat in seats.items()}}


def _weighed(error: BaseException, clause: str) -> tuple[Verdict, Failure | None, str]:
    """What ended a scenario before its promises could be looked at."""
    failure = Failure(f"{type(error).__name__}: {error}"[:500], clause)
    match error:
        case TargetUnsupported():
            return Verdict.UNSUPPORTED, None, str(error)
        case TargetCrashed():
            return Verdict.CRASHED, failure, ""
        case TargetTimeout():
            return Verdict.TIMEOUT, failure, ""
        case TargetRefused() | TargetFailed():
            return of_clause(failure)
        case Unavailable():
            return Verdict.ERROR, failure, str(error)
    return Verdict.ERROR, failure, "the harness's own fault"


def _broken(breach: Breach) -> tuple[Verdict, Failure, str]:
    requirement = every_requirement().get(breach.clause)
    reading = (requirement.reading or requirement.text) if requirement else ""
    message = f"expected {breach.expected}; observed {breach.observed}"
    return of_clause(Failure(message, breach.clause, reading, breach.expected, breach.observed))


def scenario_of(block: Block, case: str) -> Scenario:
    return next(scenario for scenario, _ in block.cells() if case_id(block.of, scenario) == case)
