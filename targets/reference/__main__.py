"""The reference as a shim over stdin and stdout."""

import asyncio

from harness.shim import serve_stdio
from targets.reference import Reference

asyncio.run(serve_stdio(Reference()))
