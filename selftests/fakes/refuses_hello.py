"""Does not know hello."""

from honest import say, serve

serve(hello=lambda request: say(id=request["id"], unsupported="hello"))
