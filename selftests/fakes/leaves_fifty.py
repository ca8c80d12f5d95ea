"""Dies and leaves fifty behind: in sessions of their own, without an environment, half of them orphans, ten that fork on."""

import os
import subprocess
import sys

from honest import Message, serve

SLEEPS = "import signal; signal.pause()"
FORKS = "import os, time\nwhile True:\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n    time.sleep(0.005)"


def leave(request: Message) -> None:
    for number in range(50):
        code = FORKS if number < 10 else SLEEPS
        command = [sys.executable, "-S", "-c", code, *sys.argv[1:]]
        if number % 2 and os.fork():
            continue
        subprocess.Popen(command, start_new_session=True, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if number % 2:
            os._exit(0)
    raise SystemExit(3)


serve(do=leave)
