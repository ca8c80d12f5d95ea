"""Answers with a result and a refusal at once."""

from honest import say, serve

serve(do=lambda request: say(id=request["id"], result={}, refused="no"))
