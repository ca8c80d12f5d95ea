"""Answers every operation twice."""

from honest import Message, answer, serve


def twice(request: Message) -> None:
    answer(request)
    answer(request)


serve(do=twice)
