"""Dies and leaves a child behind that holds its stdout."""

import subprocess
import sys

from honest import Message, serve


def leave(request: Message) -> None:
    subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()", *sys.argv[1:]])
    raise SystemExit(3)


serve(do=leave)
