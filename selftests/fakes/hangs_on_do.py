"""Starts, then never answers again."""

from honest import answer, requests

for request in requests():
    if request["verb"] == "do":
        break
    answer(request)
for _ in requests():
    pass
