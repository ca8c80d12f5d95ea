"""What a protocol says of itself is all that the harness knows of its roles, servers and addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.catalogue import protocols as described
from harness.catalogue import requirements
from harness.catalogue.addresses import endpoint, fitted, under, written
from harness.catalogue.protocols import chosen, known_role, protocol, roles, servers, touched
from harness.catalogue.requirements import catalogue, protocols
from harness.errors import HarnessError, TouchstoneError, UsageError
from harness.places import SUITES


@pytest.mark.parametrize("id", protocols())
def test_a_protocol_names_the_roles_that_its_suites_have(id: str) -> None:
    """A folder of cases for each role, and no clause for a role that nobody has."""
    folders = {path.parent.name for path in (SUITES / id).glob("*/test_*.py")}
    assert set(protocol(id).roles) == folders
    assert {role for clause in catalogue(id).values() for role in clause.roles} <= folders


def test_servers_are_the_roles_with_an_address() -> None:
    """Of the protocols that are asked for, or of all."""
    assert set(servers(["bccn"])) == set()
    assert set(servers(["bccn", "peerbus"])) == {"peerbus/broker"}
    assert set(servers()) <= set(roles()) == {f"{id}/{role}" for id in protocols() for role in protocol(id).roles}


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("ws://host:80/a?b=c", {"": "ws://host:80/a?b=c"}),
        ("tcp://host:80", {"": "tcp://host:80"}),
        ("127.0.0.1:80", {"": "127.0.0.1:80"}),
        ("[::1]:80", {"": "[::1]:80"}),
        ("push=h:1,receive=tcp://h:2", {"push": "h:1", "receive": "tcp://h:2"}),
        ("push=h:1", {"push": "h:1"}),
        ("push=h:1,push=h:2", None),
        ("push=h:1,h:2", None),
        ("push=h", None),
        ("my-target", None),
        ("folder/target.toml", None),
        ("C:target", None),
        ("", None),
    ],
)
def test_what_is_written_as_an_address(text: str, addresses: dict[str, str] | None) -> None:
    """A URL, host and port, or several of them by name; all else is a target of another kind."""
    assert written(text) == addresses


@pytest.mark.parametrize(
    ("template", "text", "address"),
    [
        ("ws://{host}:{port}", "h:1", "ws://h:1"),
        ("ws://{host}:{port}/frog", "h:1", "ws://h:1/frog"),
        ("ws://{host}:{port}/frog", "ws://h:1/other", "ws://h:1/other"),
        ("ws://{host}:{port}", "wss://h/x", "wss://h/x"),
        ("ws://{host}:{port}", "[::1]:1", "ws://[::1]:1"),
        ("ws://{host}:{port}", "tcp://h:1", None),
        ("tcp://{host}:{port}", "tcp://h:1", "tcp://h:1"),
        ("tcp://{host}:{port}", "ws://h:1", None),
        ("{host}:{port}", "tcp://h:1", "h:1"),
        ("{host}:{port}", "ws://h:1", None),
    ],
)
def test_an_address_is_what_its_protocol_makes_of_it(template: str, text: str, address: str | None) -> None:
    """Host and port go into the template; a URL of the same scheme is taken as it is, of another it does not fit."""
    assert fitted(template, "", text) == address


def test_a_named_port_has_a_hole_of_its_own() -> None:
    assert fitted("tcp://{host}:{push_port}", "push", "h:1") == "tcp://h:1"
    assert under("tcp://{host}:{push_port}", "127.0.0.1:{push_port}") == "tcp://127.0.0.1:{push_port}"


@pytest.mark.parametrize("text", ["tcp://host", "host:0", "host:65536", "ws://:80", "ws://[::1:80"])
def test_an_address_without_host_or_port_leads_nowhere(text: str) -> None:
    with pytest.raises(ValueError, match="is no host and port"):
        endpoint(text)


def test_a_websocket_may_leave_its_port_out() -> None:
    assert [endpoint(url) for url in ("ws://h/x", "wss://h")] == [("h", 80), ("h", 443)]


@pytest.mark.parametrize(
    ("select", "ids"),
    [
        ([], protocols()),
        (["sbp/peer/limits", "peerbus"], ["peerbus", "sbp"]),
        (["peerbus/", "peerbus/bro*"], ["peerbus"]),
        (["sbp", "*/codec/*"], protocols()),
    ],
)
def test_a_selection_touches_the_protocols_that_it_names(select: list[str], ids: list[str]) -> None:
    """No pattern, or one that begins with a glob, touches all."""
    assert chosen(select) == ids


@pytest.mark.parametrize(
    ("select", "touches"),
    [
        ([], True),
        (["sbp"], True),
        (["sbp/"], True),
        (["sbp/peer/acks"], True),
        (["s*/p?er/*"], True),
        (["*acks*"], True),
        (["sbp/codec", "bccn"], False),
        (["sbp/codec/encode", "sbp/peer"], True),
    ],
)
def test_a_selection_touches_the_roles_that_it_may_select(select: list[str], touches: bool) -> None:
    """A glob may be any; none is asked about that cannot be meant."""
    assert touched(select, ["sbp/peer"]) == ["sbp/peer"][: int(touches)]


@pytest.mark.parametrize("select", ["nosuch", "peerbus/nosuch", "peerbus/nosuch/ack"])
def test_a_protocol_or_role_that_nobody_has_is_told_with_those_that_there_are(select: str) -> None:
    with pytest.raises(UsageError, match=r"there is no .*'.*nosuch': use bccn.*sbp"):
        chosen([select])


def test_a_role_that_is_no_servers_is_told_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="there is no server role 'peerbus/codec': use peerbus/broker, sbp/peer"):
        known_role("peerbus/codec", servers(["peerbus", "sbp"]))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (None, HarnessError, "protocol.toml is missing: it says which roles odd has"),
        ("name = 'Odd'", HarnessError, "missing required field `roles`"),
        ("name = 'Odd'\n[roles.x]\ncolour = 'red'", HarnessError, "unknown field `colour`"),
    ],
)
def test_a_wrong_description_is_ours_to_mend(
    text: str | None, error: type[TouchstoneError], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "requirements.toml").write_text("")
    if text is not None:
        (tmp_path / "odd" / "protocol.toml").write_text(text)
    for module in (described, requirements):
        monkeypatch.setattr(module, "SUITES", tmp_path)
    with pytest.raises(error, match=words):
        protocol("odd")
