"""The shim protocol: four verbs between the harness and an implementation, as JSON Lines or as method calls."""

from harness.shim.clock import Clock
from harness.shim.messages import PROTOCOL, Answer, Hello, Notice, Request, json_schema
from harness.shim.python import Emit, Shim, serve_stdio

__all__ = ["PROTOCOL", "Answer", "Clock", "Emit", "Hello", "Notice", "Request", "Shim", "json_schema", "serve_stdio"]
