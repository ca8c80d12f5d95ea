"""No engine, no permission, no image, no shim: one clear sentence, or the target's verdict; never a hang or a leftover."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import ShimBroken, TargetCrashed, TargetTimeout, Unavailable, UsageError
from harness.targets import resolve
from harness.targets.docker import Docker, Image
from harness.targets.engine import DEFAULT_HOST
from harness.targets.manifest import load, reach_of
from harness.targets.server import ServerSpec
from harness.targets.session import Reach, opened

ROLE = "peerbus/broker"
SHIMS_ROLE = "peerbus/codec"  # of the fakes that are shims
Left = Callable[[], list[str]]
Fake = Callable[..., Docker]


async def sentence(reach: Reach) -> str:
    """Why a session cannot be opened; nothing is left of the attempt."""
    session = reach.session()
    with pytest.raises(Unavailable) as caught:
        await session.open()
    await session.close()
    await reach.close()
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_no_engine_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It names where none answers, and what to do."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/dead.sock")
    said = await sentence(Docker(Image("touchstone-reference")))
    assert said == f"no docker engine answers at unix://{tmp_path}/dead.sock: start dockerd; docker/engine installs one"


async def test_an_engine_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loopback is not ours."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:2375")
    assert "on this machine only" in await sentence(Docker(Image("touchstone-reference")))


AS_NOBODY = """
import asyncio, os
from harness.errors import Unavailable
from harness.targets.engine import sdk, the_engine
sdk()
import encodings.idna, requests, urllib3
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    asyncio.run(the_engine())
except Unavailable as error:
    print(error)
"""


@pytest.mark.skipif("sys.platform != 'linux' or __import__('os').getuid() != 0", reason="only root can become nobody")
def test_no_permission_is_told_as_such() -> None:
    """Not to be mistaken for an engine that is not there."""
    done = subprocess.run([sys.executable, "-c", AS_NOBODY], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith(f"you may not use the docker engine at {DEFAULT_HOST}: join its group"), done.stderr


async def test_a_missing_image_is_named() -> None:
    """The sentence says what to do."""
    said = await sentence(Docker(Image("touchstone-no-such-image:1")))
    assert said == "there is no image touchstone-no-such-image:1 on the docker engine: docker build or docker pull it"


def test_an_image_without_a_name_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="image:name:tag"):
        resolve("image:")


async def test_an_image_without_the_command(shelf: Image, left: Left) -> None:
    """What the manifest says to run is not in the image."""
    said = await sentence(Docker(shelf, ["/no-such-shim"]))
    assert said.startswith("the image touchstone-selftest cannot run its command: ")
    assert "/no-such-shim failed: No such file or directory" in said
    assert left() == []


async def test_an_image_that_does_something_else(shelf: Image) -> None:
    """It is not the implementation that is wrong: it was never asked."""
    async with opened_or_broken(Docker(shelf, ["echo", "Welcome to my server"])) as error:
        assert isinstance(error, ShimBroken)
        assert "no shim message on stdout: b'Welcome to my server'" in str(error)
    async with opened_or_broken(Docker(shelf, ["true"])) as error:
        assert "the target ended: exit code 0" in str(error)


class opened_or_broken:
    """Open a session that cannot be used, and say what happened to it."""

    def __init__(self, reach: Docker) -> None:
        self._reach = reach

    async def __aenter__(self) -> Exception:
        session = self._reach.session()
        session.answer_s = 1.0
        try:
            await session.open()
        except (TargetCrashed, TargetTimeout) as error:
            return error
        finally:
            await session.close()
        raise AssertionError("it said hello")

    async def __aexit__(self, *_: object) -> None:
        await self._reach.close()


DEATHS = {
    "crashes_on_start": (TargetCrashed, "the target ended"),
    "hangs_on_hello": (TargetTimeout, "no answer to hello within 1 s"),
    "refuses_hello": (ShimBroken, "it did not say hello"),
    "prints_a_garbage_line": (ShimBroken, "no shim message on stdout"),
    "floods_garbage": (ShimBroken, "on stdout"),
    "speaks_protocol_2": (ShimBroken, "it speaks shim protocol 2"),
}


@pytest.mark.parametrize("name", DEATHS)
async def test_a_broken_shim_gets_the_verdict_it_gets_as_a_process(name: str, fake: Fake, left: Left) -> None:
    """Shims that do not get past hello, from the shelf."""
    kind, words = DEATHS[name]
    async with opened_or_broken(fake(name)) as error:
        assert type(error) is kind
        assert words in str(error)
    assert left() == []


async def test_a_shim_that_floods_is_stopped(fake: Fake, left: Left) -> None:
    """More than anyone can read: the container is killed, the harness stays small."""
    reach = fake("sends_a_gibibyte")
    async with opened(reach.session()) as session:
        instance = await session.start(SHIMS_ROLE, {})
        with pytest.raises(ShimBroken, match="a line of more than"):
            await instance.do("anything")
    await reach.close()
    assert left() == []


async def test_a_container_that_dies_says_how(fake: Fake) -> None:
    """Its exit code and its last words."""
    async with opened(fake("crashes_at_the_third_request").session()) as session:
        instance = await session.start(SHIMS_ROLE, {})
        with pytest.raises(TargetCrashed, match="the target ended: signal SIGABRT"):
            await instance.do("anything")


async def test_a_plain_server_that_dies_and_one_that_never_listens(shelf: Image, left: Left) -> None:
    """Crashed and timeout, as of a process."""
    dies = Docker(shelf, servers=[ServerSpec(ROLE, ["python3", "/fakes/server_dies.py", "x", "{port}"])])
    with pytest.raises(TargetCrashed, match="exit code 1 before it was ready"):
        await dies.session().start(ROLE, {})
    never = Docker(shelf, servers=[ServerSpec(ROLE, ["python3", "/fakes/server_never_ready.py", "x", "{port}"])])
    session = never.session()
    session.answer_s, session.grace_s = 1.0, 0.3
    with pytest.raises(TargetTimeout, match="not ready within 1 s"):
        await session.start(ROLE, {})
    for reach in (dies, never):
        await reach.close()
    assert left() == []


async def test_a_build_that_fails_says_what_failed(tmp_path: Path) -> None:
    """The builder's own words; and a folder that is none, is told."""
    assert "there is no Dockerfile in" in await sentence(Docker(Image("touchstone-selftest-bad", str(tmp_path))))
    (tmp_path / "Dockerfile").write_text("FROM touchstone-reference\nRUN exit 7\n")
    assert "returned a non-zero code: 7" in await sentence(Docker(Image("touchstone-selftest-bad", str(tmp_path))))


async def test_a_preparation_that_fails_says_its_last_words() -> None:
    prepare = ["sh", "-c", "echo no wheels today >&2; exit 3"]
    said = await sentence(Docker(Image("touchstone-selftest", prepare=prepare)))
    assert said == "sh could not make the image touchstone-selftest: no wheels today"


def test_a_docker_manifest_needs_an_image(tmp_path: Path) -> None:
    (tmp_path / "target.toml").write_text("name = 'x'\n[run]\nkind = 'docker'\n")
    with pytest.raises(Unavailable, match="of kind docker and has no image"):
        reach_of(load(tmp_path / "target.toml"), tmp_path)
