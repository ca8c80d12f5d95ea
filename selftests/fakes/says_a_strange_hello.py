"""Its hello names its roles as a list."""

from honest import say, serve

serve(hello=lambda request: say(id=request["id"], result={"name": "fake", "roles": ["peerbus/broker"]}))
