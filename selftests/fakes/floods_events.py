"""Sends events without end, as soon as it has started."""

from honest import Message, answer, say, serve


def flood(request: Message) -> None:
    answer(request)
    while True:
        say(event="message", instance=request["instance"], data={"n": 1})


serve(start=flood)
