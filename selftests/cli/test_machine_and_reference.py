"""`doctor` and `serve`: what this machine can do, and the reference as a process of its own."""

from __future__ import annotations

import importlib
import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from websockets.sync.client import connect

from harness.catalogue.requirements import protocols
from harness.cli.doctor import PARTS
from harness.cli.playing import played
from harness.mutation.mutant import mutants_of

CLI = [sys.executable, "-m", "harness.cli"]


def doctor(**environment: str) -> dict[str, str]:
    """What it says of each part: `ok ...` or `missing ...`."""
    done = subprocess.run(
        [*CLI, "doctor"], env=os.environ | environment, capture_output=True, text=True, timeout=120, check=True
    )
    lines = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    return {name: f"{state} {detail}" for state, name, detail in lines}


def test_docker_is_missing_where_no_engine_answers() -> None:
    """Having its command is not having an engine."""
    said = doctor(DOCKER_HOST="unix:///nowhere/docker.sock")
    assert said["docker"].startswith("missing for docker targets: no docker engine answers at unix:///nowhere")


def test_every_part_that_does_not_work_says_what_to_do() -> None:
    """An empty machine: nothing that is needed is missing, and each part that is has a sentence."""
    said = doctor(DOCKER_HOST="unix:///nowhere", PATH="/nowhere", JAVA_HOME="/nowhere")
    assert set(PARTS) < set(said)
    for name in ("docker", "chromium", "git", "node", "go", "rust", "c"):
        assert re.fullmatch(r"missing for [^:]+: .+", said[name])
    assert said["python"].startswith("ok")


def test_a_tool_that_is_there_and_fails_is_missing(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its last word is the reason."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "git").write_text("#!/bin/sh\necho 'out of order' >&2\nexit 3\n")
    (folder / "git").chmod(0o755)
    assert doctor(PATH=str(folder))["git"] == "missing for the commit in a run's header: out of order"


@pytest.mark.parametrize("protocol", protocols())
def test_the_help_behind_a_protocol_is_its_references(protocol: str) -> None:
    """The general one stands before it; what every reference can do is said too."""
    own = subprocess.run([*CLI, "serve", protocol, "--help"], capture_output=True, text=True, timeout=60)
    general = subprocess.run([*CLI, "serve", "--help"], capture_output=True, text=True, timeout=60)
    assert f"usage: {protocol}" in own.stdout
    assert "--trace" in own.stdout
    assert "Run the reference of a protocol" in general.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_reference_whose_serve_was_ended(number: signal.Signals) -> None:
    """Whoever sends the signal knows one process; its port answers nobody afterwards."""
    with subprocess.Popen([*CLI, "serve", "sbp", "--port", "0"], stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout
        port = int(serving.stdout.readline().rpartition(":")[2])
        socket.create_connection(("127.0.0.1", port)).close()
        serving.send_signal(number)
        assert serving.wait(20) == -number
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_a_reference_that_misbehaves_shows_its_decoded_frames() -> None:
    """One fault by its name, and both sides of the conversation, as it is understood."""
    words = ["serve", "peerbus", "--trace", "--port", "0", "--mutant", "empty-ack-clears-all"]
    with subprocess.Popen([*CLI, *words], stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout
        fault, hello = serving.stdout.readline(), serving.stdout.readline()
        with connect(re.findall(r"ws://[\w.:]+", hello)[0]) as line:
            line.send('{"protocol_version":"v1","type":"register","token":"token","name":"me"}')
            line.recv()
        said = [serving.stdout.readline() for _ in range(3)]
        serving.terminate()
    assert "ack of everything" in fault
    assert re.search(r"-> broker  Register\(.*'me'", said[1])
    assert re.search(r"broker -> \d+  Peers\(", said[2])


@pytest.mark.parametrize("protocol", protocols())
def test_every_protocol_can_misbehave(protocol: str) -> None:
    """The mutant's part is found where the reference has its own: the first of the role that is served."""
    role = played(protocol).split("/")[1]
    mutant = next(
        mutant for mutant in mutants_of(protocol).values() if mutant.role == role and mutant.part == "machine"
    )
    reference = importlib.import_module(f"reference_impl.{protocol}.__main__")
    served = [vars(module) for name, module in sys.modules.items() if name.startswith(f"reference_impl.{protocol}")]
    assert any(value is mutant.honest for names in served for value in names.values()), reference
