"""Leaves in the middle of an answer."""

import sys

from honest import Message, serve


def half(request: Message) -> None:
    sys.stdout.write('{"id": ')
    raise SystemExit


serve(do=half)
