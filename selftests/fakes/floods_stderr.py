"""Works, and logs without measure."""

import sys

from honest import Message, answer, serve


def loud(request: Message) -> None:
    for _ in range(64):
        sys.stderr.write("x" * 2**20)
    sys.stderr.write("\nthe last words\n")
    answer(request)


serve(do=loud)
