"""Answers each operation with just under the 16 MB that a line may have."""

from honest import ROLE, Message, answer, say, serve


def answer_at_length(request: Message) -> None:
    if request.get("role", ROLE) != ROLE:
        answer(request)
        return
    say(id=request["id"], result={"address": "x" * 16_000_000})


serve(do=answer_at_length, start=answer_at_length)
