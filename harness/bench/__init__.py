"""Figures, measured side by side in one run: what the harness itself costs."""
