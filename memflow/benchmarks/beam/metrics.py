"""The metrics of BEAM: one for each judge contract, the parts of the order of events, and two constant answers."""

from memflow.benchmarks.beam.types import (
    BY_ABILITY,
    BY_RUBRIC,
    CORRECTED,
    F1,
    HEADING,
    NO_INFORMATION,
    PRECISION,
    PUBLISHED,
    RECALL,
    TAU,
)
from memflow.scoring.metric import Metric

NAME = "beam"
_PAPER = "BEAM (arXiv 2510.27246)"
_CODE = "mohammadtavakoli78/BEAM at b2a3ee8, src/evaluation/compute_metrics.py"
_VARIANTS = {
    BY_ABILITY: "the unweighted mean over the abilities, of the means of conversations, as the published report",
    BY_RUBRIC: "ordered events by the items of their rubric, which the published code does not report",
    "item_N": "the items of the rubric, one verdict each",
}
_OF_CORRECTED = {"corrected": "tau x F1 instead of tau"}


def _order(name: str, title: str, description: str) -> Metric:
    return Metric(name, title, "higher", description, source=_CODE)


def _constant(name: str, title: str, answer: str) -> Metric:
    return Metric(
        name,
        title,
        "neither",
        f"What an order of events scores under the published contract with the answer {answer}.",
        group="bound",
        source=_CODE,
        variants=_OF_CORRECTED,
    )


METRICS = (
    Metric(
        CORRECTED,
        "BEAM, corrected",
        "higher",
        "Mean share of the rubric that a judge finds fulfilled, who sees the question; of ordered events tau x F1.",
        source=_PAPER,
        variants=_VARIANTS,
    ).primary_in(NAME),
    Metric(
        PUBLISHED,
        "BEAM, published code",
        "higher",
        "The same as the published code computes it: without the question, half points count 0; of ordered events tau.",
        source=_CODE,
        variants=_VARIANTS,
    ).primary_in(NAME),
    _order(TAU, "Order of events, tau", "Kendall's tau-b of the order of events, from 0 to 1."),
    _order(F1, "Order of events, F1", "F1 of the events in the lines of the answer; each other line costs."),
    _order(PRECISION, "Order of events, precision", "Events among the lines of the answer."),
    _order(RECALL, "Order of events, recall", "Events of the reference that the answer has."),
    _constant(NO_INFORMATION, "Constant answer: no information", "`I do not have information about this.`"),
    _constant(
        HEADING, "Constant answer: heading, then gold", "of a heading, a blank line and the perfect list"
    ),
)
