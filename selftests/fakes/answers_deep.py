"""Answers with an array in an array, a hundred thousand times."""

import sys

from honest import serve

DEEP = 100_000


def deep(request: dict) -> None:
    sys.stdout.write(f'{{"id":{request["id"]},"result":{{"value":{"[" * DEEP}{"]" * DEEP}}}}}\n')
    sys.stdout.flush()


serve(do=deep)
