"""From what a target said to its verdict: the trial, the watch with its oracle, the verdict, the result."""
