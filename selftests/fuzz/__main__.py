"""`python -m selftests.fuzz [NAME...] --seconds 60`: coverage-guided fuzzing of each decoder by Atheris, from a corpus.

Prints executions and sizes, and what a processor spent: on a busy machine seconds say little. What is new in the corpus stays in
--work; a crash is written there, and ends with exit 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LONGEST = 4_096
RAN = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


def main() -> None:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=60, help="for each")
    parser.add_argument("--jobs", type=int, default=1, help="so many side by side")
    parser.add_argument("--work", type=Path, help="where what is found is kept; a fresh folder if not given")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    told, rest = parser.parse_known_args()
    if told.one:
        fuzz(told.one, [*rest, *told.names])
        return
    from selftests.fuzz.decoders import DECODERS

    work = told.work or Path(tempfile.mkdtemp(prefix="fuzz-"))
    names = told.names or list(DECODERS)
    with ThreadPoolExecutor(told.jobs) as pool:
        fine = pool.map(lambda name: ran(name, work, told.seconds), names)
        crashed = [name for name, passed in zip(names, fine, strict=True) if not passed]
    print(f"what was found is in {work}" + f"; crashes of {', '.join(crashed)}" * bool(crashed))
    raise SystemExit(1 if crashed else 0)


def ran(name: str, work: Path, seconds: int) -> bool:
    """One decoder in a process of its own."""
    from selftests.fuzz.decoders import CORPUS

    found = work / name
    found.mkdir(parents=True, exist_ok=True)
    corpora = [str(folder) for folder in (found, CORPUS / name) if folder.exists()]
    limits = [f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=20", "-rss_limit_mb=1024"]
    command = [sys.executable, "-m", "selftests.fuzz", "--one", name, *limits, "-print_final_stats=1"]
    with tempfile.TemporaryFile("w+", errors="replace") as told:
        running = subprocess.Popen([*command, f"-artifact_prefix={found}/crash-", *corpora], stdout=told, stderr=told)
        _, status, spent = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)  # nobody else may wait for it
        told.seek(0)
        said = told.read()
    executed = RAN.search(said)
    count = int(executed[1]) if executed else 0
    kept = len(list((CORPUS / name).glob("*")))
    new = sum(not path.name.startswith("crash-") for path in found.iterdir())
    busy = spent.ru_utime + spent.ru_stime
    print(
        f"{name:16} {seconds:4} s, {busy:4.0f} s of a processor, {count:10,} executions, corpus {kept} kept + {new} found",
        flush=True,
    )
    if running.returncode:
        print("\n".join(said.splitlines()[-30:]))
    return running.returncode == 0


def fuzz(name: str, arguments: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["reference_impl", "harness", "tomllib"]):  # the last reads manifests
        import tomllib  # noqa: F401  # msgspec would import it later, without its coverage

        from selftests.fuzz.decoders import DECODERS
    atheris.Setup([sys.argv[0], *arguments], DECODERS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
