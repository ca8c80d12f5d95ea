"""Logs one line to stdout, as anyone would."""

from honest import serve

print("listening on port 1234")
serve()
