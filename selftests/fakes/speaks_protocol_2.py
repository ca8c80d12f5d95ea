"""Speaks a later version of the shim protocol."""

from honest import say, serve

serve(hello=lambda request: say(id=request["id"], result={"name": "fake", "protocol": 2, "roles": {}}))
