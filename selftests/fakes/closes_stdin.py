"""Says hello, closes its stdin and lives on: whatever is asked from then on has nobody to read it."""

import os
import signal

from honest import ROLE, answer, requests

for request in requests():
    answer(request)
    if request.get("role") == ROLE:
        os.close(0)
        signal.pause()
