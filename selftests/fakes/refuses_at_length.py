"""Refuses each operation, in four megabytes of words."""

from honest import ROLE, Message, answer, say, serve


def refuse_at_length(request: Message) -> None:
    if request.get("role", ROLE) != ROLE:
        answer(request)
        return
    say(id=request["id"], refused="no " * 1_300_000)


serve(do=refuse_at_length)
