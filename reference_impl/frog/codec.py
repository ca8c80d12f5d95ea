"""Commands to bytes and back: one WebSocket message is one header line, a line feed, and perhaps a payload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference_impl.frog import identifiers, uri
from reference_impl.frog.frames import (
    MAX_HEADER,
    MAX_PAYLOAD,
    MOST_LISTED,
    Auth,
    Code,
    Frame,
    Malformed,
    NoFrame,
    Signal,
    SignalFrom,
    SisterAuth,
    SisterSignal,
    Stray,
    Try,
)
from reference_impl.frog.grammar import (
    BY_FRAME,
    BY_WORD,
    CID,
    DECIMAL,
    EVERY_WORD,
    SISTER_MARK,
    URI,
    Direction,
    Field,
    Form,
    Unencodable,
    within,
)
from reference_impl.frog.identifiers import DASH

__all__ = ["Codec", "Direction", "Rejected", "Unencodable"]


class Rejected(ValueError):
    """This message is no command; carries the input that it is instead."""

    def __init__(self, instead: NoFrame) -> None:
        super().__init__(str(instead))
        self.instead = instead


class Codec:
    """The wire format as one object, so that a target with other rules can be built from it."""

    # -- decoding -------------------------------------------------------------------------------------------------

    def heard_by_server(self, wire: bytes) -> Frame | NoFrame:
        """What a client or a sister said: the @ tells which (section 14)."""
        return self.decode(wire, Direction.SISTER if wire.startswith(b"@") else Direction.TO_SERVER)

    def heard_by_client(self, wire: bytes) -> Frame | NoFrame:
        return self.decode(wire, Direction.TO_CLIENT)

    def decode(self, wire: bytes, way: Direction) -> Frame | NoFrame:
        """One message's command. Everything that is none is a NoFrame, never an exception."""
        try:
            header, payload = self.split(wire)
            words = self.words(header)
            return self.command(words, payload, way)
        except Rejected as error:
            return error.instead

    def reject(self, why: str, wire: bytes, other_ids: tuple[str, ...] = ()) -> Rejected:
        """Broken framing: no id can be read safely (FROG-15-07), though a reader may think it can (AMB-06)."""
        return Rejected(Malformed(why, other_ids=other_ids, severe=True, sister=wire.startswith(b"@")))

    def split(self, wire: bytes) -> tuple[bytes, bytes]:
        """Header and payload: the first line feed ends the header, whatever follows (FROG-5-19)."""
        header, newline, payload = wire.partition(b"\n")
        if not newline:
            raise self.reject("no line feed", wire)  # FROG-5-01
        if len(header) > MAX_HEADER:
            raise self.reject(f"a header of {len(header)} bytes", wire)
        return header, payload

    def words(self, header: bytes) -> list[str]:
        """Fields with exactly one space between them; visible ASCII and nothing else (FROG-5-02, -03, -05 to -10)."""
        if any(byte < 0x20 or byte > 0x7E for byte in header):  # AMB-63: other control characters too
            raise self.reject("a byte that is no visible ASCII", header, tuple(self.perhaps_ids(header)))
        words = header.decode("ascii").split(" ")
        if "" in words:
            raise self.reject("a space too many, or no header at all", header, tuple(self.perhaps_ids(header)))
        return words

    def perhaps_ids(self, header: bytes) -> Iterator[str]:
        """What a careless reader would take for the id."""
        fields = header.decode("ascii", "replace").split()
        if len(fields) > 1 and identifiers.is_request_id(fields[1]):
            yield fields[1]

    def command(self, words: list[str], payload: bytes, way: Direction) -> Frame | NoFrame:
        forms = BY_WORD[way].get(words[0])
        if not forms:
            if words[0] in EVERY_WORD:
                raise Rejected(Stray(words[0]))
            sister = words[0].startswith(SISTER_MARK)
            raise Rejected(Malformed(f"unknown command {words[0][:32]!r}", sister=sister))  # FROG-5-12, FROG-6-01
        form = next((form for form in forms if form.words == tuple(words[: len(form.words)])), None)
        if form is None:
            sister = way is Direction.SISTER
            raise Rejected(Malformed(f"no {words[0]} has these words", sister=sister))
        return self.fill(form, words[len(form.words) :], payload)

    def fill(self, form: Form, texts: list[str], payload: bytes) -> Frame:
        """Every field read by its rule."""
        values: dict[str, Any] = {}
        for field, text in zip(form.fields, texts, strict=False):
            if not self.legal(field, text):
                raise self.misfit(form, texts, f"{field.name} {text[:64]!r}", only_id=form.fields[0] is CID)
            values[field.name] = field.read(text)
        if len(texts) < len(form.fields):
            raise self.misfit(form, texts, f"{len(texts)} fields")
        rest = texts[len(form.fields) :]
        if form.lists:
            values[form.lists] = self.counted(form, texts, rest)
        elif form.payload:
            values["payload"] = self.payload(form, texts, rest, payload)
        elif rest:
            raise self.misfit(form, texts, "more fields than it has")  # FROG-5-11
        if payload and not form.payload:
            why = f"{len(payload)} bytes behind a command without payload"
            raise self.misfit(form, texts, why, severe=True)  # FROG-5-18
        frame: Frame = form.frame(**values)
        return frame

    def legal(self, field: Field, text: str) -> bool:
        return field.legal(text)

    def counted(self, form: Form, texts: list[str], rest: list[str]) -> tuple[Any, ...]:
        """A count, and exactly as many entries (FROG-13.1-05, FROG-13.2-02, FROG-13.2-04)."""
        if not rest or not within(0)(rest[0]):
            raise self.misfit(form, texts, "no count from 0 to 7")
        width, entries = len(form.listed), rest[1:]
        if len(entries) != int(rest[0]) * width:
            raise self.misfit(form, texts, f"{len(entries)} fields behind a count of {rest[0]}")
        for n, text in enumerate(entries):
            if not self.legal(form.listed[n % width], text):
                raise self.misfit(form, texts, f"{form.listed[n % width].name} {text[:64]!r}")
        if form.frame is Try:
            return self.tried(entries)
        return tuple(entries) if width == 1 else tuple(zip(*[iter(entries)] * width, strict=True))

    def tried(self, uris: list[str]) -> tuple[str, ...]:
        """Those of a TRY that are canonical; the others are ignored (FROG-8-25)."""
        return tuple(text for text in uris if uri.is_canonical(text))

    def payload(self, form: Form, texts: list[str], rest: list[str], payload: bytes) -> bytes:
        """As long as it says (FROG-5-14 to FROG-5-17)."""
        if not rest or not DECIMAL.fullmatch(rest[0]):
            raise self.misfit(form, texts, "no payload length", severe=bool(payload))
        if len(rest) > 1:
            raise self.misfit(form, texts, "more fields than it has")
        declared = self.length(rest[0])
        if declared == len(payload) <= MAX_PAYLOAD:
            return payload
        codes: tuple[Code, ...] = (Code.BAD_REQUEST,)
        if declared > MAX_PAYLOAD:  # the more specific code (AMB-03); with another fault either (AMB-04)
            codes = (Code.PAYLOAD_TOO_LARGE, Code.BAD_REQUEST)
        raise self.misfit(form, texts, f"{len(payload)} bytes where {declared} are declared", codes, severe=True)

    def length(self, text: str) -> int:
        """Of any number of digits; one that is too long to count is too long (FROG-6-07)."""
        return int(text) if len(text) <= 20 else MAX_PAYLOAD + 1

    def misfit(
        self,
        form: Form,
        texts: list[str],
        why: str,
        codes: tuple[Code, ...] = (Code.BAD_REQUEST,),
        *,
        severe: bool = False,
        only_id: bool = False,
    ) -> Rejected:
        """A known command with a fault. Its id is echoed where it has one (FROG-15-06): of a CID that has to be, where
        the command is whole and only a value is wrong; else it should be (AMB-06)."""
        id = texts[0] if form.echoes and texts and self.legal(form.fields[0], texts[0]) else DASH
        other_ids = () if only_id or id == DASH else (DASH,)
        if form.frame in (Auth, SisterAuth) and len(texts) == len(form.fields):
            codes = (Code.AUTH_FAILED, Code.BAD_REQUEST)  # AMB-14: a matter of verification, or of syntax
        why, sister = f"{form.words[0]}: {why}", form.words[0].startswith(SISTER_MARK)
        return Rejected(Malformed(why, id, codes, other_ids, severe, sister, form.frame))

    # -- encoding -------------------------------------------------------------------------------------------------

    def encode(self, frame: Frame) -> bytes:
        form = BY_FRAME[type(frame)]
        words = [*form.words, *(self.written(field, getattr(frame, field.name)) for field in form.fields)]
        if form.lists:
            words += self.listing(form, getattr(frame, form.lists))
        payload = b""
        if isinstance(frame, Signal | SignalFrom | SisterSignal):
            payload = frame.payload
            if len(payload) > MAX_PAYLOAD:
                raise Unencodable(f"a payload of {len(payload)} bytes is over {MAX_PAYLOAD}")
            words.append(str(len(payload)))
        return self.framed(words, payload)

    def written(self, field: Field, value: Any) -> str:
        text = str(value)
        if not self.legal(field, text):
            raise Unencodable(f"{field.name} {text[:64]!r} is not legal")
        return text

    def framed(self, words: list[str], payload: bytes) -> bytes:
        return " ".join(words).encode("ascii") + b"\n" + payload

    def listing(self, form: Form, entries: tuple[Any, ...]) -> Iterator[str]:
        if len(entries) > MOST_LISTED:
            raise Unencodable(f"{len(entries)} entries are over {MOST_LISTED}")
        yield str(len(entries))
        fields = (URI,) if form.frame is Try else form.listed
        for entry in entries:
            values = (entry,) if len(fields) == 1 else entry
            yield from (self.written(field, value) for field, value in zip(fields, values, strict=True))
