"""Reports: each subscribes to the events of a run (header, cases, footer) and none can change them."""

from harness.subscribers.allure import Allure
from harness.subscribers.capsules import Capsule, Capsules
from harness.subscribers.junit import JUnit
from harness.subscribers.sarif import Sarif
from harness.subscribers.summary import JsonSummary
from harness.subscribers.terminal import Terminal

__all__ = ["Allure", "Capsule", "Capsules", "JUnit", "JsonSummary", "Sarif", "Terminal"]
