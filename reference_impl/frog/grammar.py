"""The grammar of FROG/1 as a table: the commands of each direction, and of each command its fields in order (section 13)."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reference_impl.frog import identifiers, uri
from reference_impl.frog.frames import (
    MOST_LISTED,
    VERSION,
    Auth,
    Chal,
    Code,
    Err,
    Find,
    Found,
    GetServers,
    Hello,
    Join,
    Joined,
    Kind,
    Leave,
    Left,
    Lookup,
    Peers,
    Signal,
    SignalFrom,
    SisterAuth,
    SisterChal,
    SisterErr,
    SisterFind,
    SisterFound,
    SisterHello,
    SisterList,
    SisterLookup,
    SisterOk,
    SisterPeers,
    SisterServers,
    SisterSignal,
    Try,
    Welcome,
)
from reference_impl.frog.identifiers import DASH

DECIMAL = re.compile(r"0|[1-9][0-9]*")  # FROG-6-04
SISTER_MARK = "@"


class Direction(enum.StrEnum):
    """Who says it to whom."""

    TO_SERVER = "to_server"
    TO_CLIENT = "to_client"
    SISTER = "sister"


class Unencodable(ValueError):
    """No sender may emit this command: a field has no such value (FROG-6-02)."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a header: its name in the frame, and which texts are legal."""

    name: str
    legal: Callable[[str], bool]
    number: bool = False

    def read(self, text: str) -> Any:
        return int(text) if self.number else text


def within(lowest: int) -> Callable[[str], bool]:
    """A decimal from there to seven; one of any length is only ever out of range (FROG-6-07)."""
    return lambda text: len(text) == 1 and text.isascii() and text.isdigit() and lowest <= int(text) <= MOST_LISTED


def limit(name: str = "limit") -> Field:
    return Field(name, within(1), number=True)


def one_of(name: str, *texts: str) -> Field:
    return Field(name, frozenset(texts).__contains__)


def cid_or_dash(text: str) -> bool:
    return text == DASH or identifiers.is_request_id(text)


def an_id(name: str) -> Field:
    return Field(name, identifiers.is_id)


def a_peer(name: str = "peer_key") -> Field:
    return Field(name, identifiers.is_peer_key)


CID, FCID = Field("cid", identifiers.is_request_id), Field("fcid", identifiers.is_request_id)
ROUTE, SERVER, NONCE = an_id("route_id"), an_id("server_id"), an_id("nonce")
KEY, SIGNATURE = Field("public_key", identifiers.is_public_key), Field("signature", identifiers.is_signature)
URI = Field("uri", uri.is_canonical)
TTL = Field("ttl", within(0), number=True)
KIND, CODE = one_of("kind", *Kind), one_of("code", *Code)
ERROR_ID = Field("id", identifiers.is_error_id)


@dataclass(frozen=True, slots=True)
class Form:
    """One command: its words, its fields, perhaps a counted list or a payload; which field its errors echo."""

    words: tuple[str, ...]
    frame: type
    fields: tuple[Field, ...] = ()
    listed: tuple[Field, ...] = ()  # the fields of one entry of the counted list
    lists: str = ""  # the list's name in the frame
    payload: bool = False
    echoes: bool = False  # its first field is a correlation id (section 38)


HELLO = ("HELLO", VERSION)
FORMS: dict[Direction, tuple[Form, ...]] = {
    Direction.TO_SERVER: (  # FROG-13.1-01
        Form(HELLO, Hello),
        Form(("JOIN",), Join, (a_peer(),)),
        Form(("AUTH",), Auth, (KEY, SIGNATURE)),
        Form(("LEAVE",), Leave),
        Form(("GETSERVERS",), GetServers, (CID, limit()), echoes=True),
        Form(("FIND",), Find, (CID, limit()), echoes=True),
        Form(("LOOKUP",), Lookup, (CID, a_peer()), echoes=True),
        Form(("SIGNAL",), Signal, (ROUTE, KIND), payload=True, echoes=True),
    ),
    Direction.TO_CLIENT: (  # FROG-13.1-02
        Form(HELLO, Welcome, (SERVER,)),
        Form(("CHAL",), Chal, (NONCE,)),
        Form(("OK", "JOIN"), Joined),
        Form(("OK", "LEAVE"), Left),
        Form(("TRY",), Try, (Field("cid", cid_or_dash),), (Field("uri", bool),), "uris"),
        Form(("PEERS",), Peers, (CID,), (a_peer(),), "peer_keys"),
        Form(("FOUND",), Found, (CID, a_peer(), ROUTE)),
        Form(("SIGNAL-FROM",), SignalFrom, (ROUTE, a_peer(), KIND), payload=True),
        Form(("ERR",), Err, (ERROR_ID, CODE)),
    ),
    Direction.SISTER: (  # FROG-13.2-01
        Form(("@HELLO", VERSION), SisterHello, (SERVER, URI)),
        Form(("@CHAL",), SisterChal, (NONCE,)),
        Form(("@AUTH",), SisterAuth, (KEY, SIGNATURE)),
        Form(("@OK", "AUTH"), SisterOk),
        Form(("@ERR",), SisterErr, (ERROR_ID, CODE)),
        Form(("@LIST",), SisterList, (FCID, limit()), echoes=True),
        Form(("@SERVERS",), SisterServers, (FCID,), (SERVER, URI), "servers", echoes=True),
        Form(("@FIND",), SisterFind, (FCID, SERVER, a_peer(), limit(), TTL), echoes=True),
        Form(("@PEERS",), SisterPeers, (FCID, SERVER), (a_peer(),), "peer_keys", echoes=True),
        Form(("@LOOKUP",), SisterLookup, (ROUTE, SERVER, a_peer("source"), a_peer("target"), TTL), echoes=True),
        Form(("@FOUND",), SisterFound, (ROUTE, a_peer()), echoes=True),
        Form(("@SIGNAL",), SisterSignal, (ROUTE, a_peer(), KIND), payload=True, echoes=True),
    ),
}
BY_WORD = {
    way: {word: tuple(form for form in forms if form.words[0] == word) for word in {form.words[0] for form in forms}}
    for way, forms in FORMS.items()
}
BY_FRAME: dict[type, Form] = {form.frame: form for forms in FORMS.values() for form in forms}
EVERY_WORD = frozenset(word for words in BY_WORD.values() for word in words)
