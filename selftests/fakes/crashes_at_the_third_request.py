"""Dies by a signal while it is asked something."""

import os

from honest import serve

serve(do=lambda request: os.abort())
