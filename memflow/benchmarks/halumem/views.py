"""HaluMem's commands: `memflow show hallucination` and `memflow import results`."""

from collections.abc import Sequence

from memflow.benchmarks.halumem import names
from memflow.benchmarks.halumem.metrics import NAME
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
    stored_rows,
)
from memflow.errors import BadInput
from memflow.records import Score

FIGURES = {
    "R": names.RECALL,
    "weighted R": names.WEIGHTED_RECALL,
    "target P": names.PRECISION,
    "accuracy": names.ACCURACY,
    "FMR (higher is better)": names.RESISTANCE,
    "F1": names.F1,
    "update C": names.UPDATE["Correct"],
    "update H": names.UPDATE["Hallucination"],
    "update O": names.UPDATE["Omission"],
    "answer C": names.ANSWER["Correct"],
    "answer H": names.ANSWER["Hallucination"],
    "answer O": names.ANSWER["Omission"],
}
ERRORS = {"hallucinated": names.ANSWER["Hallucination"], "omitted": names.ANSWER["Omission"]}
LOST = (
    *("domain", "assistant", "errors", "n", "not written", "not recalled", "not used", "not attributed"),
    "moved updates",
)
CONTRACTS = {
    "corrected": (names.STANDARD, names.RAW),
    "as published": (names.PUBLISHED, names.raw(names.PUBLISHED)),
}
RAW_TEXTS = "Texts are the messages themselves, nothing was extracted: {}."
HINT = (
    "FMR is near 100 where nothing is extracted: compare it beside recall, and never alone. Moved updates: their "
    "search found nothing, and the published code counts them as points of extraction."
)


def show_hallucination(
    reader: Reader, domain: Sequence[str] | None = None, assistant: Sequence[str] | None = None
) -> Answer:
    """Return the figures of extraction, updates and answers in percent, and where wrong answers lost their facts.

    Raises BadInput without results.
    """
    known = {
        of.name for of in reader.domains({row.domain for row in reader.scores()}) if of.benchmark == NAME
    }
    scores = [
        score
        for score in reader.scores()
        if score.domain in known
        and (not domain or score.domain in domain)
        and (not assistant or score.assistant in assistant)
        and score.metric in FIGURES.values()
        and score.slice == "all"
    ]
    if not scores:
        raise BadInput("no results of HaluMem yet. Create some with `memflow run --domain halumem_demo`.")
    results = sorted({(score.domain, score.assistant) for score in scores})
    labels = {metric: label for label, metric in FIGURES.items()}
    parts: list[Part] = []
    records: list[dict[str, object]] = []
    for name in dict.fromkeys(name for name, _ in results):
        of_domain = [score for score in scores if score.domain == name]
        for contract, variants in CONTRACTS.items():
            shown = [score for score in of_domain if score.variant in variants]
            parts += [Heading(f"{name}, {contract}, in percent"), _figures(shown)]
            reasons = {score.reason for score in shown if score.reason and contract != "corrected"}
            parts += [Note(f"No value: {reason}.") for reason in sorted(reasons)]
            records += [
                {"domain": name, "assistant": score.assistant, "contract": contract, "figure": labels[score.metric],
                 "value": score.value}
                for score in shown
            ]  # fmt: skip
        raw = sorted({score.assistant for score in of_domain if names.RAW in score.variant})
        parts += [Note(RAW_TEXTS.format(", ".join(raw)))] if raw else []
    lost = [row for result in results for row in _lost(reader, *result)]
    parts += [Heading("Where wrong answers lost their facts"), Table(LOST, lost), Note(HINT)]
    data = {"figures": records, "lost": [dict(zip(LOST, row, strict=True)) for row in lost]}
    return Answer(data, parts, records, scores)


def _figures(scores: Sequence[Score]) -> Table:
    """Return a table with a row per figure and a column per assistant."""
    values = {(score.metric, score.assistant): score.value for score in scores}
    members = sorted({score.assistant for score in scores})

    def percent(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.2f}"

    return Table(
        ("figure", *members),
        [
            (label, *(percent(values.get((metric, member))) for member in members))
            for label, metric in FIGURES.items()
        ],
    )


def _lost(reader: Reader, domain: str, assistant: str) -> list[tuple[object, ...]]:
    """Return the numbers of hallucinated and of incomplete answers by the stage that lost their facts."""
    from memflow.benchmarks.halumem.scoring import values_of  # noqa: PLC0415  (`memflow show --help` needs no metrics)

    values = values_of(stored_rows(reader, "score.verdicts", [f"{domain}/{assistant}"]))
    moved = len(values.get((names.GRADE, names.PUBLISHED), ()))
    rows: list[tuple[object, ...]] = []
    for title, metric in ERRORS.items():
        wrong = [name for name, value in values.get((metric, names.STANDARD), {}).items() if value == 1]
        stages = [
            [values.get((stage, names.STANDARD), {}).get(name) for name in wrong] for stage in names.STAGES
        ]
        sums = [f"{sum(value or 0.0 for value in stage):.1f}" for stage in stages]
        unknown = sum(value is None for value in stages[0])
        rows.append((domain, assistant, title, len(wrong), *sums, unknown, moved))
    return rows


VIEWS = (
    View(
        "hallucination",
        "Show HaluMem's figures of extraction, updates and answers, and where wrong answers lost their facts.",
        show_hallucination,
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
IMPORTS = (
    Import(
        "results",
        "Store a recorded run with its verdicts.\n\nFOLDER has the files of HaluMem's evaluation script: the sessions "
        "with what was extracted, found and answered, and the verdicts. The probes of DOMAIN must be in the lake.",
        "memflow.benchmarks.halumem.results_import:import_results",
    ),
)
