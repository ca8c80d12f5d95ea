"""A server that someone else runs: which roles it is tried in, what has to be told of it, and whether it is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.catalogue import protocols as described
from harness.catalogue import requirements
from harness.catalogue.protocols import servers
from harness.errors import TargetCrashed, TargetUnsupported, Unavailable, UsageError
from harness.running.check import greet, untested
from harness.running.smoke import smoke
from harness.targets import Target, resolve
from harness.targets.manifest import load, reach_of
from harness.targets.ports import free_port
from selftests.harness.conftest import Verdict, made

PROTOCOLS = {
    "bus": """
        name = "Bus"
        [roles.broker]
        address = "ws://{host}:{port}/bus"
        options.tokens.about = "what it takes"
        [roles.client]
    """,
    "hall": """
        name = "Hall"
        [roles.door]
        address = "ws://{host}:{port}"
        capabilities = ["accept"]
        options.sign = { about = "what stands on it", required = true, values = ["in", "out"] }
    """,
    "mail": """
        name = "Mail"
        [roles.relay]
        address = { push = "tcp://{host}:{push_port}", receive = "{host}:{receive_port}" }
        options.public_key.about = "its key"
    """,
    "node": "name = 'Node'\nroles.node = {}",
}


@pytest.fixture(autouse=True)
def _protocols(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other protocols than ours, two of whose servers are reached alike and one by two ports."""
    for name, text in PROTOCOLS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "protocol.toml").write_text(text)
        (tmp_path / name / "requirements.toml").write_text("")
    for module in (described, requirements):
        monkeypatch.setattr(module, "SUITES", tmp_path)


@asynccontextmanager
async def listening() -> AsyncIterator[int]:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def roles_of(target: Target) -> dict[str, list[str]]:
    return (await smoke(target)).roles


@pytest.mark.parametrize(
    ("protocols", "options", "roles"),
    [
        (["bus"], {}, {"bus/broker": []}),
        (["bus", "node"], {"capabilities": ["a", "b"]}, {"bus/broker": ["a", "b"]}),
        (["hall"], {"sign": "in"}, {"hall/door": ["accept"]}),
        (["hall"], {"sign": "in", "capabilities": "a"}, {"hall/door": ["accept", "a"]}),
        (None, {"sign": "in"}, {"bus/broker": [], "hall/door": ["accept"]}),
        (None, {}, {"bus/broker": []}),
    ],
)
async def test_a_server_is_tried_in_the_selected_roles_that_its_address_fits(
    protocols: list[str] | None, options: dict[str, Any], roles: dict[str, list[str]]
) -> None:
    """A role of which too little was told is left out where there is another."""
    async with listening() as port:
        assert await roles_of(resolve(f"ws://127.0.0.1:{port}", options, protocols)) == roles


async def test_host_and_port_become_what_the_role_makes_of_them() -> None:
    """The same words are two addresses in two protocols."""
    async with listening() as port:
        target = resolve(f"127.0.0.1:{port}", {"sign": "in"})
        instances = [await target.instance(role, {}) for role in ("bus/broker", "hall/door")]
        assert [one.address for one in instances] == [f"ws://127.0.0.1:{port}/bus", f"ws://127.0.0.1:{port}"]


async def test_a_server_with_several_ports_is_written_by_their_names() -> None:
    """In any order, each as the protocol spells it; what it would have printed comes as an option."""
    async with listening() as push, listening() as receive:
        target = resolve(f"receive=tcp://127.0.0.1:{receive},push=127.0.0.1:{push}", {"public_key": "ab"})
        assert await roles_of(target) == {"mail/relay": []}
        instance = await target.instance("mail/relay", {})
        assert instance.addresses == {"push": f"tcp://127.0.0.1:{push}", "receive": f"127.0.0.1:{receive}"}
        assert instance.details["public_key"] == "ab"
        with pytest.raises(TargetUnsupported, match="has no role bus/broker"):
            await target.instance("bus/broker", {})


@pytest.mark.parametrize(
    ("spec", "protocols", "options", "words"),
    [
        ("h:1", ["node"], {}, "node has no servers: an address is for bus/broker, hall/door, mail/relay"),
        ("tcp://h:1", ["bus"], {}, r"tcp://h:1 fits no server: write ws://host:port/bus \(bus/broker\)"),
        ("h:1", ["mail"], {}, r"write push=tcp://host:port,receive=host:port \(mail/relay\)"),
        ("push=h:1", None, {}, r"push=h:1 fits no server: write .*bus/broker.* or .*hall/door.* or .*mail/relay"),
        ("tcp://h", None, {}, "tcp://h is no host and port: write ws://host:port/bus"),
        ("h:1", ["hall"], {}, r"hall/door at an address needs --option sign=in\|out: what stands on it"),
        ("h:1", ["hall"], {"sign": "up"}, "--option sign must be in or out: what stands on it"),
        ("h:1", ["bus"], {"sign": "in"}, "no option 'sign' of bus/broker: use tokens, capabilities"),
        ("python:json:loads", None, {"tokens": "a"}, "--option tells of a server that runs already"),
    ],
)
def test_a_server_that_cannot_be_tried_is_told_in_one_sentence(
    spec: str, protocols: list[str] | None, options: dict[str, str], words: str
) -> None:
    """A wrong call: what does not fit, and what to write."""
    with pytest.raises(UsageError, match=words):
        resolve(spec, options, protocols)


async def test_nobody_at_an_address_is_told_before_any_case() -> None:
    """One sentence, the environment's fault; where it happens in the middle of a run, it is a crash."""
    target = resolve(f"127.0.0.1:{free_port()}", {}, ["bus"])
    with pytest.raises(TargetCrashed, match="nobody answers at ws://127"):
        await target.reach.session().open()
    with pytest.raises(Unavailable, match=r"cannot be tested: nobody answers at ws://127.*: start the server, or mend"):
        await smoke(target)


async def test_one_silent_port_of_two_is_nobody() -> None:
    async with listening() as push:
        target = resolve(f"push=127.0.0.1:{push},receive=127.0.0.1:{free_port()}")
        with pytest.raises(Unavailable, match=r"nobody answers at 127\.0\.0\.1:"):
            await smoke(target)


# -- manifests ---------------------------------------------------------------------------------------------------------

MANIFEST = "name = 'x'\n[run]\nkind = 'server'\n[run.servers.'{role}']\ncommand = ['x', '{hole}']\n"
Specs = Callable[..., Any]


@pytest.fixture
def spec_of(tmp_path: Path) -> Specs:
    """The one server of a manifest."""

    def made(role: str, hole: str, more: str = "") -> Any:
        (tmp_path / "target.toml").write_text(MANIFEST.format(role=role, hole=hole) + more)
        reach: Any = reach_of(load(tmp_path / "target.toml"), tmp_path)
        (spec,) = reach._arguments[2]
        return spec

    return made


def test_ports_and_addresses_of_a_manifest_are_the_protocols_where_it_says_none(spec_of: Specs) -> None:
    """A scheme may be left out too."""
    one, two = spec_of("bus/broker", "{port}"), spec_of("mail/relay", "{push_port}")
    assert (one.port_names, one.addresses) == ([""], {"": "ws://127.0.0.1:{port}/bus"})
    assert two.port_names == ["push", "receive"]
    assert two.addresses == {"push": "tcp://127.0.0.1:{push_port}", "receive": "127.0.0.1:{receive_port}"}
    named = "address = { push = '127.0.0.2:{push_port}', receive = 'tcp://127.0.0.1:{receive_port}' }"
    assert spec_of("mail/relay", "{push_port}", named).addresses == {
        "push": "tcp://127.0.0.2:{push_port}",
        "receive": "127.0.0.1:{receive_port}",
    }


def test_a_manifest_may_have_more_ports_than_its_protocol(spec_of: Specs) -> None:
    """A server that has to be told where its console listens."""
    more = "ports = ['main', 'console']\naddress = '127.0.0.1:{main_port}'"
    spec = spec_of("bus/broker", "{console_port}", more)
    assert (spec.port_names, spec.addresses) == (["main", "console"], {"": "ws://127.0.0.1:{main_port}"})


@pytest.mark.parametrize(
    ("role", "more", "words"),
    [
        ("bus/nosuch", "", "x: there is no server role 'bus/nosuch': use bus/broker, hall/door, mail/relay"),
        ("node/node", "", "x: there is no server role 'node/node'"),
        (
            "bus/broker",
            "address = 'tcp://127.0.0.1:{port}'",
            "x: its address of bus/broker is to be written like ws://",
        ),
        ("mail/relay", "address = '127.0.0.1:{port}'", "is to be written like push=tcp://host:port,receive=host:port"),
        ("mail/relay", "address = { push = 'h:{push_port}' }", "is to be written like push="),
        ("mail/relay", "ports = ['push']", "no port for {receive_port}"),
    ],
)
def test_a_manifest_that_does_not_fit_its_protocol_is_told(spec_of: Specs, role: str, more: str, words: str) -> None:
    with pytest.raises(Unavailable) as caught:
        spec_of(role, "x", more)
    assert words in str(caught.value)


def test_a_manifest_can_name_a_server_that_runs(tmp_path: Path) -> None:
    """Its options can be those of the command line too; where it is wrong, the manifest is."""
    path = tmp_path / "target.toml"
    path.write_text("name = 'x'\n[run]\nkind = 'remote'\naddress = 'h:1'\nroles = ['hall/door']\n")
    assert resolve(str(path), {"sign": "in"}).info.reach == "remote"
    with pytest.raises(UsageError, match="no option 'colour' of hall/door: use sign"):
        resolve(str(path), {"colour": "red"})
    with pytest.raises(Unavailable, match="x: hall/door at an address needs --option sign"):
        resolve(str(path))


# -- shims -------------------------------------------------------------------------------------------------------------


async def test_a_shim_whose_roles_nobody_has_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A role that is misspelled in hello would select no case."""
    (tmp_path / "odd_shim.py").write_text(
        "from harness.shim import Hello, Shim\n"
        "class Odd(Shim):\n    async def hello(self):\n        return Hello('odd', {'bus/brokr': []})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Unavailable, match=r"offers bus/brokr, and nobody else has such a role: there are bus/broker, "):
        await greet(resolve("python:odd_shim:Odd"))


def test_a_run_that_tested_nothing_says_why() -> None:
    """The commonest reason; a run that tested something needs none."""
    skipped = [made(f"a/b/c/{n}", Verdict.UNSUPPORTED, note=note) for n, note in enumerate("xyx")]
    assert untested(skipped) == "nothing was tested: all 3 cases are unsupported, 2 of them because x"
    assert untested([*skipped, made("a/b/c/d", Verdict.PASS)]) == untested([]) == ""


def test_servers_of_the_fake_protocols_are_all_there_are() -> None:
    """The harness has no list of its own."""
    assert list(servers()) == ["bus/broker", "hall/door", "mail/relay"]
