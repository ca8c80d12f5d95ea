"""Answers each operation with a line that is short enough, of so many values that they would take fifty times as much."""

from honest import ROLE, Message, answer, say, serve


def answer_in_pieces(request: Message) -> None:
    if request.get("role", ROLE) != ROLE:
        answer(request)
        return
    say(id=request["id"], result={"address": "here", "more": [{"": 1}] * 400_000})


serve(do=answer_in_pieces, start=answer_in_pieces)
