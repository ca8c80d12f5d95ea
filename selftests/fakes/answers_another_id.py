"""Answers a request that was never made."""

from honest import say, serve

serve(do=lambda request: say(id=999, result={}))
