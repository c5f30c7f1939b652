"""The metrics of HaluMem: extraction, update and answers, and the stages at which wrong answers lost their facts."""

from memflow.benchmarks.halumem import names
from memflow.scoring.metric import Metric

NAME = "halumem"
SOURCE = "HaluMem (arXiv 2511.03506), section 4; eval/evaluation.py at 59402b9"
_PUBLISHED = {
    names.PUBLISHED: "as the published code computes it, over all records: a verdict that failed counts as a miss",
    names.PUBLISHED_VALID: "as the published code computes it, over the records with a verdict",
}
_RAW = {
    names.RAW: "the texts are the messages themselves, as the memory extracts nothing",
    **{names.raw(name): f"{text}; the texts are messages" for name, text in _PUBLISHED.items()},
}


def _metric(
    name: str, title: str, direction: str, text: str, *, primary: bool = False, **more: object
) -> Metric:
    extraction = not name.startswith(("update_", "answer_"))
    variants = {**_PUBLISHED, **(_RAW if extraction else {})}
    found = Metric(name, title, direction, text, source=SOURCE, variants=variants, **more)  # type: ignore[arg-type]
    return found.primary_in(NAME) if primary else found


_STAGE = "Part of the answers that are wrong since a fact was {}; by the judge's verdicts and the words of the facts."
METRICS = (
    _metric(
        names.ANSWER["Correct"], "Correct answers", "higher", "Share of the questions answered correctly.",
        primary=True, proportion=True,
    ),
    _metric(
        names.ANSWER["Hallucination"], "Hallucinated answers", "lower",
        "Share of the answers that contradict the facts, or state something definite that is unknown.", proportion=True,
    ),
    _metric(
        names.ANSWER["Omission"], "Incomplete answers", "lower",
        "Share of the answers that lack information which the session gave.", proportion=True,
    ),
    _metric(
        names.UPDATE["Correct"], "Correct updates", "higher",
        "Share of the updated facts that a search with the new text shows fully; an empty search is an omission.",
        primary=True, proportion=True,
    ),
    _metric(
        names.UPDATE["Hallucination"], "Hallucinated updates", "lower",
        "Share of the updated facts of which a search shows a wrong new state.", proportion=True,
    ),
    _metric(
        names.UPDATE["Omission"], "Missing updates", "lower",
        "Share of the updated facts of which a search shows no or too little of the new state.", proportion=True,
    ),
    _metric(
        names.UPDATE_OTHER, "Other updates", "neither", "Share of the updated facts with another verdict.",
        proportion=True,
    ),
    _metric(
        names.RECALL, "Extraction recall", "higher",
        "Share of the facts that the texts of their session cover fully, without interference.",
        primary=True, proportion=True,
    ),
    _metric(
        names.WEIGHTED_RECALL, "Weighted extraction recall", "higher",
        "Mean coverage (1, .5 or 0) of the facts, weighted by their importance.",
    ),
    _metric(
        names.RESISTANCE, "Resistance to false memories", "higher",
        "Share of the false facts said by the assistant that no text has: higher is better, 1 if nothing is extracted. "
        "Published as FMR; not to be ranked without recall.",
        proportion=True,
    ),
    _metric(
        names.PRECISION, "Target precision", "higher",
        "Mean support (1, .5 or 0) of the texts whose fields are all among those of the facts.",
    ),
    _metric(
        names.ACCURACY, "Memory accuracy", "higher", "Mean support (1, .5 or 0) of all texts that sessions added.",
    ),
    _metric(
        names.F1, "Extraction F1", "higher",
        "Harmonic mean of recall and memory accuracy, so that invented texts lower it; published: target precision.",
    ),
    _metric(names.GRADE, "Coverage of a fact", "neither", "1, .5 or 0: how far a session's texts cover a fact."),
    _metric(
        names.INCLUDED, "On gold fields", "neither", "Share of the texts whose fields are all among the facts'.",
        proportion=True,
    ),
    _metric(names.STAGES[0], "Lost in writing", "lower", _STAGE.format("not written"), group="evidence"),
    _metric(names.STAGES[1], "Lost in reading", "lower", _STAGE.format("written and not recalled"), group="evidence"),
    _metric(
        names.STAGES[2], "Lost in use", "lower",
        "Part of the answers that are wrong although the facts were recalled, or none were needed.", group="evidence",
    ),
)  # fmt: skip
