"""The metrics of AMemGym, and the shared metrics that are primary for it."""

from memflow.scoring.catalog import ACCURACY, FAILURES, RANDOM, UPPER_BOUND
from memflow.scoring.metric import Metric

NAME, FACTUAL_RECALL, PREVIOUS_STATE = "amemgym", "factual_recall", "previous_state"
METRICS = (
    *(metric.primary_in(NAME) for metric in (ACCURACY, RANDOM, UPPER_BOUND)),
    Metric(
        PREVIOUS_STATE,
        "Previous state",
        "neither",
        "Share of the probes whose answer has never changed: the accuracy of an outdated memory, by rule.",
        group="bound",
        proportion=True,
    ),
    Metric(
        "memory_score",
        "Memory score",
        "higher",
        "(accuracy - chance) / (upper bound - chance), pooled per period, then averaged.",
        low=None,
        high=None,
        source="AMemGym, section 3.3",
        variants={
            "per_user_ratio": "the ratio of each user and period, then the mean, as in the published code",
            "chance_for_unparsed": "an unparsed reply counts 1 / options",
        },
    ).primary_in(NAME),
    *(metric.primary_in(NAME) for metric in FAILURES),
    Metric(
        FACTUAL_RECALL,
        "Factual recall",
        "higher",
        "Share of a period's new states that the memory holds at its end.",
        counts="claims",
        proportion=True,
        source="AMemGym, appendix E",
    ).primary_in(NAME),
    Metric(
        "state_match",
        "State match",
        "higher",
        "Share of the state variables that the assistant states correctly.",
        proportion=True,
        source="AMemGym, section 3.3",
    ),
    Metric(
        "state_unparsed",
        "Unparsed state replies",
        "lower",
        "Share of the replies to state probes in which no answer could be read.",
        proportion=True,
    ),
)
