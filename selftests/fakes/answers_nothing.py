"""Answers with an id and nothing else."""

from honest import say, serve

serve(do=lambda request: say(id=request["id"]))
