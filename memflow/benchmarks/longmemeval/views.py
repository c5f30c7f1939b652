"""LongMemEval's commands `memflow show question-types` and `memflow import results`."""

from collections.abc import Sequence

from memflow.benchmarks.longmemeval.types import (
    ABSTENTION,
    ACCURACY,
    ANSWERABLE,
    NO_ERRORS,
    TASK_AVERAGED,
    TYPES,
)
from memflow.benchmarks.views import (
    ASSISTANT_OPTION,
    DOMAIN_OPTION,
    Answer,
    Heading,
    Import,
    Note,
    Part,
    Reader,
    Table,
    View,
)
from memflow.errors import BadInput
from memflow.records import Score

_COLUMNS = (
    ("task-averaged", TASK_AVERAGED, "all"),
    ("overall", ACCURACY, "all"),
    (ANSWERABLE, ACCURACY, ANSWERABLE),
    (ABSTENTION, ACCURACY, ABSTENTION),
    (NO_ERRORS, ACCURACY, NO_ERRORS),
    *((name, ACCURACY, f"category {name}") for name in TYPES),
)


def show_types(
    reader: Reader, domain: Sequence[str] | None = None, assistant: Sequence[str] | None = None
) -> Answer:
    """Return a table of the published averages of each assistant. Raises BadInput without results."""
    titles = {(metric, name): title for title, metric, name in _COLUMNS}
    names = sorted({score.domain for score in reader.scores()})
    of_longmemeval = {known.name for known in reader.domains(names) if known.benchmark == "longmemeval"}
    shown = [
        score
        for score in reader.scores()
        if score.domain in of_longmemeval
        and (not domain or score.domain in domain)
        and (not assistant or score.assistant in assistant)
        and score.variant == "standard"
        and (score.metric, score.slice) in titles
    ]
    if not shown:
        raise BadInput(
            "no results of LongMemEval yet. Create some with `memflow run --domain longmemeval_sample`."
        )
    parts: list[Part] = []
    records = []
    for of_domain in sorted({score.domain for score in shown}):
        scores = {
            (titles[score.metric, score.slice], score.assistant): score
            for score in shown
            if score.domain == of_domain
        }
        members = sorted({member for _, member in scores})
        rows = []
        for title in titles.values():
            row = [scores[title, member] for member in members if (title, member) in scores]
            if not row:
                continue
            values = [_shown(scores.get((title, member))) for member in members]
            rows.append((title, max(score.n for score in row), *values))
            records += [
                {
                    "domain": of_domain,
                    "assistant": score.assistant,
                    "average": title,
                    "value": score.value,
                    "n": score.n,
                }
                for score in row
            ]
        columns = ("accuracy", "n", *members)
        parts += [Heading(of_domain), Table(columns, rows)]
        averages = [scores[key] for key in scores if key[0] == _COLUMNS[0][0]]
        reasons = sorted({score.reason for score in averages if score.reason})
        parts += [Note(f"No task average: {reason}.") for reason in reasons]
    return Answer({"rows": records}, parts, records, shown)


def _shown(score: Score | None) -> str:
    return "" if score is None or score.value is None else f"{score.value:.3f}"


VIEWS = (
    View(
        "question-types",
        "Show accuracy by question type, task-averaged, overall, and with and without abstention.",
        show_types,
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
IMPORTS = (
    Import(
        "results",
        "Import recorded replies with labels of LongMemEval's evaluation script, as those of an assistant.\n\n"
        "FOLDER is a file of JSON lines with question_id, hypothesis and autoeval_label. The probes of DOMAIN must be "
        "in the lake.",
        "memflow.benchmarks.longmemeval.results_import:import_results",
    ),
)
