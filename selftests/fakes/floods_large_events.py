"""Sends events of a mebibyte each without end."""

from honest import Message, answer, say, serve


def flood(request: Message) -> None:
    answer(request)
    while True:
        say(event="message", instance=request["instance"], data={"body": "x" * 2**20})


serve(start=flood)
