"""The view `memflow show types`: the answer score by type of question."""

from memflow.benchmarks.dialogues.metrics import ANSWER_SCORE, NAME
from memflow.benchmarks.views import (
    ASSISTANT_OPTION,
    DOMAIN_OPTION,
    Answer,
    Heading,
    Part,
    Reader,
    Table,
    View,
)
from memflow.errors import BadInput

PREFIX = "category "
COLUMNS = ("domain", "type", "assistant", "score", "low", "high", "questions", "no interval")


def show_types(reader: Reader, domain: list[str] | None, assistant: list[str] | None) -> Answer:
    """Return a table of the answer score by domain, type and assistant. Raises BadInput if there are no results."""
    scores = [
        score
        for score in reader.scores()
        if score.metric == ANSWER_SCORE.name
        and score.variant == "standard"
        and score.slice.startswith(PREFIX)
        and (not domain or score.domain in domain)
        and (not assistant or score.assistant in assistant)
    ]
    if not scores:
        raise BadInput(
            f"there are no scores of questions with a `type` in domains of the benchmark {NAME}. Run one with "
            "`memflow run`, and add the field `type` to its questions."
        )
    scores.sort(key=lambda score: (score.domain, score.slice, -(score.value or 0.0), score.assistant))
    rows = [
        (
            score.domain,
            score.slice.removeprefix(PREFIX),
            score.assistant,
            score.value,
            score.low,
            score.high,
            score.n,
            score.interval_reason,
        )
        for score in scores
    ]
    records = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    parts: list[Part] = [Heading("Answer score by type of question"), Table(COLUMNS, rows)]
    return Answer({"types": records}, parts, records, scores)


VIEWS = (
    View(
        "types",
        "Show the answer score by type of question, of own dialogues.",
        show_types,
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
