"""`python -m harness.bench`: prints the table of `README.md` beside this file."""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from harness.bench.null import null
from harness.catalogue.cases import CaseInfo
from harness.judging.result import TargetInfo
from harness.judging.trial import Trial
from harness.judging.verdict import judge_each
from harness.running.check import check_target
from harness.running.plan import Plan
from harness.running.recorder import Recorder
from harness.running.stream import StreamWriter
from harness.targets.inprocess import InProcess
from harness.targets.process import Process
from harness.targets.session import Reach
from harness.targets.target import Target

CASES, ROUNDS = 5_000, 7
"""Each round measures all three; the medians of the rounds are compared, since machines are noisy."""

WIRE = b'{"protocol_version":"v1","id":"m1","from":"alice","to":"bob"}'.hex()


@dataclass(frozen=True)
class Vector:
    name: str
    clauses: tuple[str, ...] = ("PB-4-01",)


async def vector_rate(reach: Reach, folder: Path) -> float:
    """Cases per second through a target, judged and written to a stream."""
    target = Target(TargetInfo("null", reach=reach.kind), reach)
    codec = await target.instance("peerbus/codec", {})
    recorder = Recorder("bench", [target.info], ["peerbus"], 0, folder)
    recorder.subscribe(StreamWriter(recorder.folder))
    recorder.start(CASES)
    trial = Trial(CaseInfo("peerbus/codec/bench/null", "peerbus", "codec", "bench", ("PB-4-01",)), target)

    async def try_one(vector: Vector) -> None:
        await codec.do("canonical", wire=WIRE)

    began = time.perf_counter()
    async for result in judge_each(trial, [Vector(f"v{n}") for n in range(CASES)], try_one):
        recorder.result(result)
    elapsed = time.perf_counter() - began
    recorder.finish()
    await target.close()
    return CASES / elapsed


def pipe_rate() -> float:
    """Round trips per second of a bare lock-step pipe."""
    command = [sys.executable, str(Path(__file__).with_name("pipe.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin, "asked for as a pipe"
        assert process.stdout, "asked for as a pipe"
        began = time.perf_counter()
        for n in range(CASES):
            process.stdin.write(json.dumps({"id": n, "verb": "do", "args": {"wire": WIRE}}).encode() + b"\n")
            process.stdin.flush()
            json.loads(process.stdout.readline())
        elapsed = time.perf_counter() - began
        process.stdin.close()
    return CASES / elapsed


def check_cost(protocol: str, folder: Path) -> tuple[int, float, float]:
    """Cases, wall seconds and the share of them in which this process waited, of a whole check of the reference."""
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    checked = check_target(Plan(select=[protocol], workers=1), folder, [])
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return len(checked.results), wall, max(0.0, 1 - busy / wall)


def reach_cost(protocol: str, folder: Path) -> None:
    """The same cases through a pipe and through a container, one after the other."""
    walls = {}
    for target in ("reference-process", "reference-docker"):
        began = time.perf_counter()
        check_target(Plan(target=target, select=[protocol], workers=1), folder, [])
        walls[target] = time.perf_counter() - began
    process, docker = walls.values()
    print(f"{protocol} by process {process:.1f} s, by docker {docker:.1f} s: {docker / process:.2f} of it")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        null_shim = Process([sys.executable, str(Path(__file__).with_name("null_shim.py"))])
        rounds = [
            (
                asyncio.run(vector_rate(InProcess(null), folder)),
                asyncio.run(vector_rate(null_shim, folder)),
                pipe_rate(),
            )
            for _ in range(ROUNDS)
        ]
        inside, shim, pipe = (statistics.median(rates) for rates in zip(*rounds, strict=True))
        print(f"null target in-process     {inside:10,.0f} vector cases/s")
        print(f"null shim over stdio       {shim:10,.0f} vector cases/s")
        print(f"bare lock-step pipe        {pipe:10,.0f} round trips/s")
        print(f"shim / pipe                {shim / pipe:10.2f}")
        for protocol in [word for word in sys.argv[1:] if word != "--docker"]:
            cases, wall, asleep = check_cost(protocol, folder)
            print(f"check {protocol:20} {cases:10,} cases in {wall:.1f} s, {asleep:.1%} of it waiting")

            if "--docker" in sys.argv:
                reach_cost(protocol, folder)


if __name__ == "__main__":
    main()
