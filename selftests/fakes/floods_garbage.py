"""Fills stdout with lines that mean nothing."""

import sys

while True:
    sys.stdout.write("all work and no play\n")
