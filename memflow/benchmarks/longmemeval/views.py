"""LongMemEval's commands `memflow show question-types` and `memflow import results`."""

from collections.abc import Sequence

from memflow.benchmarks.longmemeval.judging import ACCURACY
from memflow.benchmarks.longmemeval.metrics import TASK_AVERAGED
from memflow.benchmarks.longmemeval.scoring import ABSTENTION, ANSWERABLE, NO_ERRORS
from memflow.benchmarks.longmemeval.types import TYPES
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
    names = sorted({score.domain for score in reader.scores()})
    ours = {each.name for each in reader.domains(names) if each.benchmark == "longmemeval"}
    chosen = [
        score
        for score in reader.scores()
        if score.domain in (domain or ours)
        and score.domain in ours
        and (not assistant or score.assistant in assistant)
        and score.variant == "standard"
    ]
    by_key = {(score.domain, score.assistant, score.metric, score.slice): score for score in chosen}
    wanted = {(metric, name) for _, metric, name in _COLUMNS}
    keys = sorted({key[:2] for key in by_key if key[2:] in wanted})
    if not keys:
        raise BadInput(
            "no results of LongMemEval yet. Create some with `memflow run --domain longmemeval_sample`."
        )
    parts: list[Part] = []
    records = []
    for of_domain in dict.fromkeys(name for name, _ in keys):
        rows = []
        members = [name for each, name in keys if each == of_domain]
        for title, metric, name in _COLUMNS:
            scores = [by_key.get((of_domain, member, metric, name)) for member in members]
            if not any(scores):
                continue
            rows.append((title, max(score.n for score in scores if score), *map(_shown, scores)))
            records += [
                {
                    "domain": of_domain,
                    "assistant": member,
                    "average": title,
                    "value": score.value,
                    "n": score.n,
                }
                for member, score in zip(members, scores, strict=True)
                if score
            ]
        columns = ("accuracy", "n", *members)
        parts += [Heading(of_domain), Table(columns, rows)]
        reasons = {
            score.reason
            for member in members
            if (score := by_key.get((of_domain, member, TASK_AVERAGED, "all"))) and score.reason
        }
        parts += [Note(f"No task average: {reason}.") for reason in sorted(reasons)]
    shown = [score for score in chosen if (score.metric, score.slice) in wanted]
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
