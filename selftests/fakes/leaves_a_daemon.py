"""Dies and leaves a child behind in a session of its own, out of reach of its group."""

import subprocess
import sys

from honest import Message, serve


def leave(request: Message) -> None:
    command = [sys.executable, "-c", "import signal; signal.pause()", *sys.argv[1:]]
    subprocess.Popen(command, start_new_session=True)
    raise SystemExit(3)


serve(do=leave)
