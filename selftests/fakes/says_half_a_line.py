"""Forgets the line feed of an answer, and then says nothing more."""

import sys

from honest import answer, requests

for request in requests():
    if request["verb"] == "do":
        break
    answer(request)
sys.stdout.write('{"id": ')
sys.stdout.flush()
for _ in requests():
    pass
