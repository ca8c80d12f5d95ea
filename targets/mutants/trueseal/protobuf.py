"""As much of protobuf as a relay needs that looks where it should not."""

from __future__ import annotations

RECIPIENT_FIELD, KEY_SIZE = 3, 32


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at this place, and the place behind it; raises IndexError where it is not complete."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields_of(data: bytes) -> list[tuple[int, bytes, bytes]] | None:
    """Number, content and whole of each field; None for what does not parse."""
    found, at = [], 0
    try:
        while at < len(data):
            begin = at
            key, at = varint(data, at)
            match key & 7:
                case 0:
                    inner = at
                    _, at = varint(data, at)
                case 2:
                    size, inner = varint(data, at)
                    at = inner + size
                case _:
                    return None
            if at > len(data) or key < 8:
                return None
            found.append((key >> 3, data[inner:at], data[begin:at]))
    except IndexError:
        return None
    return found


def named_recipient(envelope: bytes) -> bytes | None:
    """Whom an Envelope says that it is for."""
    for number, content, _ in fields_of(envelope) or []:
        if number == RECIPIENT_FIELD and len(content) == KEY_SIZE:
            return content
    return None


def sorted_fields(envelope: bytes) -> bytes:
    """An Envelope as a serializer would write it; what is none stays as it is."""
    found = fields_of(envelope)
    return envelope if found is None else b"".join(whole for _, _, whole in sorted(found, key=lambda field: field[0]))
