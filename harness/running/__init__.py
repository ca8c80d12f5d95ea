"""From a selection to a stream of results: the plan, the pytest plugin, the recorder and what it writes."""
