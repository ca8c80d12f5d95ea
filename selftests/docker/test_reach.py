"""A container is reached like a process: the four verbs, state that outlives it, and nothing left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from harness.errors import TargetCrashed
from harness.targets import Target, resolve
from harness.targets.docker import Docker, Image
from harness.targets.engine import internal_network
from harness.targets.server import ServerSpec
from harness.targets.session import opened

ROLE = "peerbus/broker"
Left = Callable[[], list[str]]
Fake = Callable[..., Docker]


async def test_the_reference_says_hello_from_its_container(target: Target) -> None:
    """The image serves every role that the reference has."""
    roles = (await target.hello()).roles
    assert roles == (await resolve("reference").hello()).roles
    assert target.info.reach == "docker"


async def test_an_image_is_a_target_by_its_name(target: Target) -> None:
    """`image:name:tag` on the command line; its own command is the shim."""
    for spec in ("image:touchstone-reference", "image:touchstone-reference:latest"):
        plain = resolve(spec)
        assert (await plain.hello()).name == "reference"
        await plain.close()


async def test_a_session_and_its_target_leave_nothing(fake: Fake, left: Left) -> None:
    """The container goes with the session, the volume with the target."""
    reach = fake("honest_shim")
    async with opened(reach.session()) as session:
        await session.start("peerbus/codec", {"state_dir": "a"})
        assert len(left()) == 2
    await reach.close()
    assert left() == []


async def test_a_killed_session_leaves_nothing(fake: Fake, left: Left) -> None:
    """SIGKILL is the end of the container; who asks later learns that."""
    reach = fake("honest_shim")
    session = reach.session()
    await session.open()
    await session.kill()
    with pytest.raises(TargetCrashed, match="the harness killed it"):
        await session.start(ROLE, {})
    await session.close()
    await reach.close()
    assert left() == []


async def test_state_outlives_its_container(fake: Fake) -> None:
    """What was in a state_dir at SIGKILL is there for the next container, and nowhere else."""
    reach = fake("inside")
    first = reach.session()
    await first.open()
    instance = await first.start(ROLE, {"state_dir": "/host/a"})
    inside = instance.details["config"]["state_dir"]
    await instance.do("write", path=f"{inside}/kept")
    await first.kill()
    async with opened(reach.session()) as heir:
        again = await heir.start(ROLE, {"state_dir": "/host/a"})
        other = await heir.start(ROLE, {"state_dir": "/host/b"})
        assert again.details["config"]["state_dir"] == inside != other.details["config"]["state_dir"]
        assert await again.do("read", path=f"{inside}/kept") == {"said": "x"}


async def test_there_are_as_many_state_folders_as_are_asked_for(fake: Fake) -> None:
    """They are made in batches; the one after the last of a batch is there too."""
    async with opened(fake("inside").session()) as session:
        for number in range(130):
            instance = await session.start(ROLE, {"state_dir": f"/host/{number}"})
            inside = instance.details["config"]["state_dir"]
            assert await instance.do("write", path=f"{inside}/x") == {"said": "1"}


def plain(shelf: Image, delay_s: float = 0.0, ready_log: str = "") -> Docker:
    command = ["python3", "/fakes/plain_server.py", "{port}", "{state_dir}", str(delay_s)]
    return Docker(shelf, servers=[ServerSpec(ROLE, command, ready_log=ready_log)], identity=("plain", "1"))


async def lives(address: str) -> bytes:
    """What the plain server answers: one x for each time it was started on this state."""
    host, _, port = address.partition(":")
    assert host == "127.0.0.1"
    reader, writer = await asyncio.open_connection(host, int(port))
    said = await reader.read()
    writer.close()
    return said


async def test_a_plain_server_is_ready_when_it_listens_and_not_when_its_port_is_published(
    shelf: Image, left: Left
) -> None:
    """The engine accepts for it from the beginning; a case that came then would find nobody."""
    reach = plain(shelf, delay_s=0.7)
    async with opened(reach.session()) as session:
        instance = await session.start(ROLE, {"state_dir": "s"})
        assert await lives(instance.address) == b"x"
        assert "about to listen" in session.evidence()
    await reach.close()
    assert left() == []


async def test_a_plain_server_may_have_several_ports(shelf: Image, left: Left) -> None:
    """Each is published under its own number, ready when all listen; what it prints first is told."""
    command = ["python3", "/fakes/two_ports.py", "{push_port}", "{receive_port}"]
    address = {name: f"127.0.0.1:{{{name}_port}}" for name in ("push", "receive")}
    spec = ServerSpec("trueseal/relay", command, address, "key (?P<public_key>[0-9a-f]+)")
    reach = Docker(shelf, servers=[spec], identity=("plain", "1"))
    async with opened(reach.session()) as session:
        instance = await session.start("trueseal/relay", {})
        assert {name: await lives(instance.addresses[name]) for name in address} == {
            "push": b"push",
            "receive": b"receive",
        }
        assert instance.details["public_key"] == "0123"
        assert list(instance.details["insides"]) == list(address)
    await reach.close()
    assert left() == []


async def test_a_plain_server_comes_back_on_its_state(shelf: Image, left: Left) -> None:
    """SIGKILL, and a new container on the same volume."""
    reach = plain(shelf)
    session = reach.session()
    await session.start(ROLE, {"state_dir": "s"})
    await session.kill()
    async with opened(reach.session()) as heir:
        instance = await heir.start(ROLE, {"state_dir": "s"})
        assert await lives(instance.address) == b"xx"
    await reach.close()
    assert left() == []


async def test_nodes_on_an_internal_network_hear_its_broadcast(target: Target, left: Left) -> None:
    """Two containers, one network made for the block: what one node broadcasts, the other delivers."""
    reach = target.reach
    assert isinstance(reach, Docker)
    async with internal_network() as network:
        meeting = reach.on(network)
        async with opened(meeting.session()) as a, opened(meeting.session()) as b:
            config = {"broadcast": network.broadcast, "port": 9999}
            speaker = await a.start("bccn/node", config | {"name": "speaker"})
            hearer = await b.start("bccn/node", config | {"name": "hearer"})
            await speaker.do("send_all", payload=b"hello".hex())
            event, data = await hearer.event()
            assert (event, data["src"], data["payload"]) == ("delivered", "speaker", b"hello".hex())
        await meeting.close()
    assert left() == []


async def test_plain_servers_on_an_internal_network_can_dial_each_other(shelf: Image, fake: Fake, left: Left) -> None:
    """Their ports are still published on 127.0.0.1: the harness and the others of the case reach the same server."""
    async with internal_network() as network:
        servers, guest = plain(shelf).on(network), fake("inside").on(network)
        async with opened(servers.session()) as session, opened(guest.session()) as visitor:
            instance = await session.start(ROLE, {"state_dir": "s"})
            host, _, port = instance.details["inside"].partition(":")
            inside = await visitor.start(ROLE, {})
            assert await inside.do("dial", host=host, port=int(port)) == {"said": "connected"}
            assert await lives(instance.address) == b"x"
        await servers.close()
        await guest.close()
    assert left() == []
