"""Answers each operation with just under the 4 MiB that a line may have."""

from honest import ROLE, Message, answer, say, serve


def answer_at_length(request: Message) -> None:
    if request.get("role", ROLE) != ROLE:
        answer(request)
        return
    say(id=request["id"], result={"address": "x" * 4_190_000})


serve(do=answer_at_length, start=answer_at_length)
