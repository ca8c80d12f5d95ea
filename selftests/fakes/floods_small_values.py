"""Sends events without end, each of many small values."""

from honest import Message, answer, say, serve


def flood(request: Message) -> None:
    answer(request)
    while True:
        say(event="message", instance=request["instance"], data={"more": [{"": 1}] * 10_000})


serve(start=flood)
