"""Answers each operation with bytes whose JSON is nested deeper than any reader goes: the line itself is flat."""

from honest import Message, answer, say, serve

DEEP = (b"[" * 100_000).hex()
NAMES = ("canonical", "wire", "stream", "bytes", "object", "hmac", "body", "frame")


def spell_deep(request: Message) -> None:
    if request["verb"] != "do":
        answer(request)
        return
    deep = {name: DEEP for name in NAMES}
    say(id=request["id"], result={**deep, "objects": [DEEP], "lines": [DEEP], "wires": [DEEP], "valid": True})


serve(do=spell_deep)
