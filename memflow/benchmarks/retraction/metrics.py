"""The metrics of Retraction (metrics.toml). The figures tell what became of facts that were known before."""

from memflow.scoring.catalog import ACCURACY
from memflow.scoring.metric_file import load_metrics

NAME = "retraction"
_OWN = load_metrics("memflow.benchmarks.retraction")
FIGURES = tuple(
    _OWN[name]
    for name in (
        *("leak_rate", "cascade_leak", "stale_rate", "breach_rate", "poison_rate"),
        *("invention_rate", "collateral_loss", "over_forgetting", "restoration"),
    )
)
LEAK, CASCADE, STALE, BREACH, POISON, INVENTION, COLLATERAL, OVER, RESTORATION = FIGURES
KNOWN, STORE_LEAK = _OWN["known_before"], _OWN["store_leak"]
METRICS = (ACCURACY.primary_in(NAME), *_OWN.values())
