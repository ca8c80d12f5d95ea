"""Honest but slow: an operation is answered only when the next request has come."""

from honest import answer, requests

held = []
for request in requests():
    if request.get("op") == "slow":
        held.append(request)
        continue
    for late in held:
        answer(late)
    held.clear()
    answer(request)
