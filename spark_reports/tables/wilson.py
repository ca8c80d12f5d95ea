"""Wilson's bounds: what n lossy repetitions say about the true pass rate."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

#: The two-sided 95 % quantile of the normal distribution.
Z = 1.959963984540054

#: A lossy case is expected to pass this often. A red cell needs 95 % confidence that the true rate is lower.
MINIMUM_RATE = 0.9


def wilson_low(passes: Column, trials: Column) -> Column:
    return _bound(passes, trials, -1.0)


def wilson_high(passes: Column, trials: Column) -> Column:
    return _bound(passes, trials, +1.0)


def _bound(passes: Column, trials: Column, side: float) -> Column:
    """(p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n); null without trials."""
    n = trials.cast("double")
    p = passes / n
    centre = p + Z * Z / (2 * n)
    spread = Z * F.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return F.when(trials > 0, F.greatest(F.lit(0.0), F.least(F.lit(1.0), (centre + side * spread) / (1 + Z * Z / n))))
