"""Answers with a line of 1 GiB."""

import sys

from honest import Message, serve


def line_without_end(request: Message) -> None:
    for _ in range(1024):
        sys.stdout.write("x" * 2**20)


serve(do=line_without_end)
