"""Sends events without end, of an instance that nobody started."""

from honest import Message, answer, say, serve


def flood(request: Message) -> None:
    answer(request)
    while True:
        say(event="message", instance="nobody")


serve(start=flood)
