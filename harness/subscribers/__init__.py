"""Reports: each subscribes to the events of a run (header, cases, footer) and none can change them.

`allure` is imported where it is asked for: it brings a library that takes its time.
"""

from harness.subscribers.capsules import Capsules
from harness.subscribers.junit import JUnit
from harness.subscribers.sarif import Sarif
from harness.subscribers.summary import JsonSummary
from harness.subscribers.terminal import Terminal

__all__ = ["Capsules", "JUnit", "JsonSummary", "Sarif", "Terminal"]
