"""The views `question-types`, `retrieval`, `known-errors` and `label-log`, and `memflow import results`."""

from collections.abc import Sequence
from pathlib import Path

from memflow.benchmarks.views import (
    ASSISTANT_OPTION,
    DOMAIN_OPTION,
    Answer,
    Heading,
    Import,
    Note,
    Option,
    Part,
    Reader,
    Table,
    View,
)
from memflow.errors import BadInput
from memflow.records import Probe, Score
from memflow_longmemeval.judging import ACCURACY
from memflow_longmemeval.known_errors import KNOWN_ERRORS
from memflow_longmemeval.logs import average_labels, read_labels
from memflow_longmemeval.metrics import TASK_AVERAGED
from memflow_longmemeval.retrieval_view import show_retrieval
from memflow_longmemeval.scoring import ABSTENTION, ANSWERABLE, NO_ERRORS
from memflow_longmemeval.types import TYPES

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
        parts += [Heading(of_domain), Table(columns, rows, columns[1:])]
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


def show_known_errors(reader: Reader, domain: Sequence[str] | None = None) -> Answer:
    """Return the known errors of the data, and how each assistant answers the questions concerned."""
    partitions = [name for name in reader.partitions("question.probes") if not domain or name in domain]
    probes: list[Probe] = [
        probe
        for each in reader.domains(partitions)
        if each.benchmark == "longmemeval"
        for probe in reader.rows("question.probes", each.name)
    ]
    there = {probe.probe_id: probe.domain for probe in probes if probe.probe_id in KNOWN_ERRORS}
    rows = [
        (question_id, error.kind, error.source, there.get(question_id, ""), error.text)
        for question_id, error in KNOWN_ERRORS.items()
    ]
    columns = ("question", "kind", "reported in", "domain", "error")
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    note = 'Set parameters = { known_errors = "exclude" } of a domain in memflow.toml to leave them out.'
    return Answer({"rows": records}, [Heading("Known errors"), Table(columns, rows), Note(note)], records)


def show_label_log(reader: Reader, path: str = "") -> Answer:
    """Return the averages of a label log of the published evaluation script. Raises BadInput for another file."""
    types = {
        probe.probe_id: probe.category or ""
        for each in reader.domains(reader.partitions("question.probes"))
        if each.benchmark == "longmemeval"
        for probe in reader.rows("question.probes", each.name)
    }
    found = average_labels(*read_labels(Path(path), types))
    records = [
        {"average": name, "n": found.counts[name], "value": value} for name, value in found.values.items()
    ]
    rows = [
        (name, found.counts[name], f"{value:.4f}")
        for name, value in found.values.items()
        if value is not None
    ]
    columns = ("average", "n", "value")
    parts: list[Part] = [Heading(path), Table(columns, rows, columns[1:])]
    judges = ", ".join(f"{name or 'unknown'} ({count})" for name, count in found.judges.items())
    parts.append(Note(f"Judge: {judges}. The values of other judges are not comparable."))
    if found.unknown_types:
        parts.append(
            Note(
                f"The type of {found.unknown_types} of {found.counts['overall']} questions is unknown: the log does "
                "not name it, and no stored probe has these questions. Averages by type are over the others; a task "
                "average needs questions of every type. Store the probes first, such as with "
                "`memflow run --domain longmemeval_s --memory none`.",
                warning=True,
            )
        )
    parts += [Note(each, warning=True) for each in found.problems[:20]]
    data = {
        "rows": records,
        "judges": dict(found.judges),
        "unknown_types": found.unknown_types,
        "problems": list(found.problems),
    }
    return Answer(data, parts, records)


VIEWS = (
    View(
        "question-types",
        "Show accuracy by question type, task-averaged, overall, and with and without abstention.",
        show_types,
        (DOMAIN_OPTION, ASSISTANT_OPTION),
        csv=True,
    ),
    View(
        "retrieval",
        "Show recall and nDCG at a cutoff, by session and turn, under both published averages.",
        show_retrieval,
        (DOMAIN_OPTION, ASSISTANT_OPTION, Option("k", "The cutoff: 1, 3, 5, 10, 30 or 50.", int, 5)),
        csv=True,
    ),
    View(
        "known-errors",
        "Show the known errors of the published data.",
        show_known_errors,
        (DOMAIN_OPTION,),
        csv=True,
    ),
    View(
        "label-log",
        "Show the published averages of a log with labels of other code.",
        show_label_log,
        (
            Option(
                "path",
                "A file of JSON lines with question_id and autoeval_label.",
                positional=True,
                metavar="FILE",
            ),
        ),
        csv=True,
    ),
)
IMPORTS = (
    Import(
        "results",
        "Import recorded replies with labels of LongMemEval's evaluation script, as those of an assistant.\n\n"
        "FOLDER is a file of JSON lines with question_id, hypothesis and autoeval_label. The probes of DOMAIN must be "
        "in the lake.",
        "memflow_longmemeval.results_import:import_results",
    ),
)
