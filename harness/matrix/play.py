"""One cell played: a bench holds the parties of a pair, kept between scenarios; a stage is one scenario on it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from harness.catalogue.addresses import ONLY, endpoint
from harness.errors import HarnessError, TargetError
from harness.judging.trial import crowding
from harness.matrix.datagrams import DatagramProxy
from harness.matrix.faults import Fault, Schedule
from harness.matrix.history import History
from harness.matrix.pairing import THIRD, Pairing, Scenario
from harness.matrix.parties import End, Party, React
from harness.matrix.streams import StreamProxy
from harness.targets import Instance, Target

PATIENCE_S, LEAST_S = 5.0, 1.0
"""What must come may take so long, and longer on a busy machine; less once a pair has turned out to be red."""

Proxy = StreamProxy | DatagramProxy


class Bench:
    """The parties of a pair with the servers and proxies that all their scenarios share."""

    def __init__(self, pairing: Pairing, implementations: Mapping[str, Target], proxied: bool) -> None:
        """`implementations` by side, with the reference as a third."""
        self.pairing, self.proxied = pairing, proxied
        self.reference = implementations[THIRD]
        self.parties = {label: Party(label, seat, implementations[seat.side]) for label, seat in pairing.seats.items()}
        self.proxies: dict[str, Proxy] = {}
        self.kept: dict[str, Any] = {}  # what the pairing's opening leaves for its scenarios
        self.history = History()
        self.hosts: dict[str, End] = {}  # of the servers, by seat
        self.patience_s = PATIENCE_S
        self._joined: dict[str, tuple[str, str]] = {}  # line -> the server's seat and the name of its port

    async def open(self) -> None:
        for party in self.parties.values():
            await party.open()
            party.need(*party.seat.needs)
        await self.pairing.open(self)

    async def close(self) -> None:
        for proxy in self.proxies.values():
            await proxy.close()
        for host in self.hosts.values():
            host.deaf()
        for party in self.parties.values():
            with contextlib.suppress(TargetError):
                await party.close()

    def begin(self, schedule: Schedule) -> History:
        """A new scenario with a history of its own."""
        self.history = History()
        for proxy in self.proxies.values():
            proxy.begin(schedule)
        for host in self.hosts.values():
            host.history = self.history
        return self.history

    def tell(self, line: str, what: str, data: dict[str, object]) -> None:
        self.history.add(line, "fault", what, data)

    # -- servers and the way to them ------------------------------------------------------------------------------

    async def serve(self, label: str, config: dict[str, Any]) -> Instance:
        """Start the server in that seat; after a kill it is started again on the same configuration."""
        host = self.hosts[label] = End(label, self.parties[label], config, self.history, None)
        await host.start()
        for line, (server, port) in self._joined.items():
            if server == label:
                self._lead(line, server, port)
        return self.server(label)

    def server(self, label: str) -> Instance:
        instance = self.hosts[label].instance
        assert instance, "started before it is dialled"
        return instance

    async def restart(self, label: str) -> None:
        await self.parties[label].open()
        if label in self.hosts:
            self.hosts[label].deaf()
            await self.serve(label, self.hosts[label].config)

    async def line(self, name: str) -> StreamProxy:
        """The proxy of that line; its port is known before anything is behind it."""
        if name not in self.proxies:
            proxy = self.proxies[name] = StreamProxy(name, self.tell)
            await proxy.open()
        found = self.proxies[name]
        assert isinstance(found, StreamProxy)
        return found

    async def way(self, line: str, server: str, port: str = ONLY) -> str:
        """The address at which that server is dialled on that line: its own, or the proxy's in front of it."""
        address = self.server(server).addresses[port]
        if not self.proxied:
            return address
        proxy = await self.line(line)
        self._joined[line] = (server, port)
        self._lead(line, server, port)
        return instead(address, proxy.port)

    def _lead(self, line: str, server: str, port: str) -> None:
        proxy = self.proxies[line]
        assert isinstance(proxy, StreamProxy)
        proxy.upstream = endpoint(self.server(server).addresses[port])


def instead(address: str, port: int) -> str:
    """The same address on another port of this machine."""
    if "://" not in address:
        return f"127.0.0.1:{port}"
    parts = urlsplit(address)
    return parts._replace(netloc=f"127.0.0.1:{port}").geturl()


class Stage:
    """What a scenario holds in its hand."""

    def __init__(self, bench: Bench, scenario: Scenario, profile: str, schedule: Schedule, name: str) -> None:
        self.bench, self.scenario, self.profile, self.schedule = bench, scenario, profile, schedule
        self.name = name  # nobody else's
        self.history = bench.begin(schedule)
        self.patience_s = bench.patience_s * crowding()
        self.ends: list[End] = []
        self._steps = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def kept(self) -> dict[str, Any]:
        return self.bench.kept

    def party(self, label: str) -> Party:
        return self.bench.parties[label]

    async def end(self, label: str, config: dict[str, Any], react: React | None = None, who: str = "") -> End:
        """Start one role of that party; `who` it is in the history, where a party plays several."""
        end = End(who or label, self.party(label), config, self.history, react)
        self.ends.append(end)
        return await end.start()

    async def until(self, holds: Callable[[], bool], more_s: float = 0.0) -> bool:
        return await self.history.until(holds, self.patience_s + more_s)

    def folder(self, label: str) -> str:
        """An empty folder that outlives every process of that party."""
        return str(self.party(label).target.new_folder(label))

    # -- faults of machines ---------------------------------------------------------------------------------------

    async def step(self) -> bool:
        """A moment at which a machine may die or stand still; was one killed? It runs again, with what it had stored."""
        self._steps += 1
        due = [f for f in self.schedule if f.what in ("kill", "pause") and f.at == self._steps]
        for fault in due:
            await (self._kill(fault) if fault.what == "kill" else self._pause(fault))
        return any(fault.what == "kill" for fault in due)

    async def _kill(self, fault: Fault) -> None:
        party = self.party(fault.where)
        ends = [end for end in self.ends if end.party is party and end.instance]
        await party.kill()
        self.history.add(fault.where, "fault", "killed")
        for end in ends:
            end.deaf()
        await self.bench.restart(fault.where)
        self.history.add(fault.where, "fault", "runs again")
        for end in ends:
            await end.start()

    async def _pause(self, fault: Fault) -> None:
        session = self.party(fault.where).session
        session.pause()
        self.history.add(fault.where, "fault", "paused")

        async def later() -> None:
            await asyncio.sleep(fault.amount)
            session.resume()
            self.history.add(fault.where, "fault", "goes on")

        task = asyncio.create_task(later())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def leave(self) -> None:
        """The scenario is over: every end is stopped, every machine goes on."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        for end in self.ends:
            if end.instance:
                await end.stop()


async def play(bench: Bench, scenario: Scenario, profile: str, schedule: Schedule, name: str) -> History:
    """One scenario, from its first question to its last answer; raises what ended it before."""
    for label, capabilities in scenario.needs.items():
        bench.parties[label].need(*capabilities)
    for fault in schedule:
        if fault.what == "kill":
            bench.parties[fault.where].need("kill")
    stage = Stage(bench, scenario, profile, schedule, name)
    try:
        await scenario.play(stage)
    finally:
        await stage.leave()
    if bench.history is not stage.history:
        raise HarnessError("two scenarios at once on one bench")
    return stage.history
