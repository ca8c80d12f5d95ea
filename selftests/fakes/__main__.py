"""`python -m selftests.fakes [NAME...]`: a check against each fake of the shelf, from outside: verdict, time, peak memory.

A broken target must cost neither the verdict nor the machine: one sentence that says what it did, or which bound it met, within a
minute and 300 MB, whatever it does. The minute is that of a machine that has nothing else to do: on a busy one it is as much
longer as our patience is. A check that takes twice that is ended, and has no verdict.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.catalogue.protocols import roles
from harness.catalogue.requirements import protocols
from harness.judging.result import BAD, Verdict
from harness.judging.trial import crowding
from harness.running.stream import newest_check
from harness.subscribers.text import printable
from selftests.fakes.hostile import HOSTILE
from selftests.fakes.nothing import WAYS

SHELF = Path(__file__).parent
NO_SHIM = {"conftest", "honest", "hostile", "leaks", "nothing", "__main__"}
FIRST = {
    "peerbus/codec": "peerbus/codec/verify",
    "peerbus/broker": "peerbus/broker/ack/second-ack-is-a-silent-no-op",
    "trueseal/relay": "trueseal/relay/deliver/an-ack-deletes",
}
MOST_S, MOST_MB = 60.0, 300
LOOK_S = 0.05  # between two looks at the kernel's own high-water mark
SERVER = """name = "{name}"
[run]
kind = "server"
[run.servers."{role}"]
command = ["{python}", "{script}", {arguments}]
"""


@dataclass(frozen=True)
class Fake:
    name: str
    role: str
    target: str  # what --target is told; or the text of a manifest
    options: Sequence[str] = ("--one-each", "-n", "1")


@dataclass(frozen=True)
class Seen:
    """What a check of one fake came to."""

    fake: str
    exit: int
    tally: str
    sentence: str  # the commonest of those that did not pass
    seconds: float
    megabytes: int
    most_s: float = MOST_S

    @property
    def bounded(self) -> bool:
        return self.seconds <= self.most_s and self.megabytes <= MOST_MB

    def row(self) -> str:
        return (
            f"{self.fake:34} {self.exit:4} {self.seconds:6.1f} s {self.megabytes:5} MB  {self.tally:28} {self.sentence}"
        )


def shelf() -> Iterator[Fake]:
    """Shims, plain servers that are broken before they are one, and servers that are hostile on the wire."""
    for path in sorted(SHELF.glob("*.py")):
        name = path.stem
        if name.startswith("server_"):
            port = '"{port}"' * (name != "server_two_ports")
            yield server(name, "peerbus/broker", path, port)
        elif not name.startswith("test_") and name not in NO_SHIM:
            yield Fake(name, "peerbus/codec", f"cmd:{sys.executable} {path}")
    for name in HOSTILE:
        noise = ("trueseal/relay", '"{push_port}", "{receive_port}"')
        role, ports = noise if "noise" in name else ("peerbus/broker", '"{port}"')
        yield server(name, role, SHELF / "hostile.py", f'"{name}", {ports}')
    yield from does_nothing_right()


def does_nothing_right() -> Iterator[Fake]:
    """Every case of a protocol, in two processes: the whole run ends within its minute."""
    for protocol in protocols():
        mine = " ".join(role for role in roles() if role.startswith(f"{protocol}/"))
        for way in WAYS:
            command = f"cmd:{sys.executable} {SHELF / 'nothing.py'} {way} {mine}"
            yield Fake(f"nothing_{way}_{protocol}", protocol, command, ("-n", "2"))


def server(name: str, role: str, script: Path, arguments: str) -> Fake:
    return Fake(
        name, role, SERVER.format(name=name, role=role, python=sys.executable, script=script, arguments=arguments)
    )


def seen(fake: Fake, folder: Path, *options: str) -> Seen:
    """One check in a process of its own, measured by the kernel; of several processes the largest counts."""
    target = fake.target
    if "\n" in target:
        target = str(folder / "target.toml")
        Path(target).write_text(fake.target)
    command = [
        sys.executable,
        "-m",
        "harness.cli",
        "check",
        fake.role,
        "--target",
        target,
        "--runs",
        str(folder / "runs"),
    ]
    began, most_s = time.monotonic(), MOST_S * crowding()
    with (folder / "said").open("w+b") as said:
        process = subprocess.Popen([*command, *fake.options, *options], stdout=said, stderr=said)
        megabytes = 0
        while process.poll() is None:
            megabytes = max(megabytes, *map(most_memory, [process.pid, *forks(process.pid)]))
            if time.monotonic() - began > 2 * most_s:
                process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_S)
        took = time.monotonic() - began
        said.seek(0)
        last = said.read().decode(errors="replace").strip().splitlines()[-1:]
    tally, sentence = judged(folder / "runs")
    sentence = sentence or " ".join(last)
    return Seen(fake.name, process.returncode, tally, printable(sentence)[:200], took, megabytes, most_s)


def forks(pid: int) -> list[int]:
    """Those processes below it that run cases; a target's launcher runs another program."""
    with contextlib.suppress(OSError):
        own = Path(f"/proc/{pid}/cmdline").read_bytes()
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in below if Path(f"/proc/{child}/cmdline").read_bytes() == own]
    return []


def most_memory(pid: int) -> int:
    """Megabytes that the harness has had at most so far. What a fake needs to be as it is would count in its parent's usage."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) >> 10
    return 0  # it has just ended


def judged(runs: Path) -> tuple[str, str]:
    if not runs.exists():
        return "no case", ""
    cases = newest_check(runs).cases
    tally = Counter(case.verdict for case in cases)
    told = Counter(case.failure.message for case in cases if case.verdict in BAD and case.failure)
    [(sentence, _)] = told.most_common(1) or [("", 0)]
    return ", ".join(f"{tally[verdict]} {verdict}" for verdict in Verdict if tally[verdict]), sentence


def main() -> None:
    parser = argparse.ArgumentParser(prog="shelf", description=__doc__)
    parser.add_argument("names", nargs="*", help="of fakes; all")
    parser.add_argument("--one", action="store_true", help="one case against each, not one of every check")
    told = parser.parse_args()
    fakes = [fake for fake in shelf() if not told.names or fake.name in told.names]
    if told.one:
        fakes = [replace(fake, role=FIRST.get(fake.role, fake.role)) for fake in fakes]
    over = 0
    for fake in fakes:
        with tempfile.TemporaryDirectory() as folder:
            found = seen(fake, Path(folder))
        over += not found.bounded
        print(found.row(), flush=True)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(
        f"{len(fakes)} fakes, {over} over {MOST_S:g} s (as of an idle machine) or {MOST_MB} MB; load per processor {load:.1f}"
    )
    raise SystemExit(1 if over else 0)


if __name__ == "__main__":
    main()
