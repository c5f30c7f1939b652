"""The metrics of CoMem, and the shared metrics that are primary for it."""

from memflow.scoring.catalog import ACCURACY, CHANGE, GUESS, RANDOM
from memflow.scoring.metric import Metric

NAME = "comem"
METRICS = (
    *(each.primary_in(NAME) for each in (ACCURACY, RANDOM, GUESS)),
    *(each.primary_in(NAME) for each in CHANGE if each.name in ("forgetting", "all_correct")),
    Metric(
        "constant",
        "Constant answer",
        "neither",
        "Accuracy of the best answer that is the same for every probe.",
        group="bound",
        proportion=True,
        variants={"unknowing": 'always the "not enough information" option'},
    ).primary_in(NAME),
    Metric(
        "other_speaker",
        "Errors of another speaker",
        "lower",
        "Share of the wrong answers that are true of another speaker.",
        counts="errors",
        proportion=True,
        source="CoMem, section 4.4",
    ),
    Metric(
        "other_speaker_by_chance",
        "Errors of another speaker by chance",
        "neither",
        "The same share if every wrong option were chosen equally often.",
        counts="errors",
        group="bound",
    ),
    Metric(
        "other_speaker_rate",
        "Answers of another speaker",
        "lower",
        "Share of all answers that are true of another speaker.",
        proportion=True,
        source="CoMem, section 4.4",
    ),
)
