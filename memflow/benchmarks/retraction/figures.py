"""The answer of `memflow show retraction`: the figures, those of constant policies, and what came of the requests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.retraction.leak_causes import Cause, Evaluation
from memflow.benchmarks.retraction.metrics import CASCADE, FIGURES, KNOWN, LEAK, NAME, STORE_LEAK
from memflow.benchmarks.retraction.policies import POLICIES, policy_replies
from memflow.benchmarks.retraction.scoring import make_scores
from memflow.benchmarks.retraction.verdicts import question_verdicts
from memflow.benchmarks.views import (
    Answer,
    Heading,
    Note,
    Part,
    Reader,
    Table,
)
from memflow.errors import BadInput
from memflow.records import STORED, Score

SHOWN = (KNOWN, LEAK, STORE_LEAK, *FIGURES[1:])
CAUSES: tuple[Cause, ...] = ("never deleted", "derived", "not in the store")
COLUMNS = ("memory", *(metric.title for metric in SHOWN))
REQUESTS = (
    "memory",
    "requests",
    "obeyed",
    "entries ended",
    "seconds each",
    "chat calls",
    *CAUSES,
    "why not obeyed",
)
POLICY_NOTE = (
    "The policies are computed from the probes. A figure counts facts that were known before; one that knows nothing "
    "before has none."
)


def show_retraction(
    reader: Reader, domain: Sequence[str] | None = None, assistant: Sequence[str] | None = None
) -> Answer:
    """Return the figures of each memory, those of constant policies, and what came of the requests. Raises BadInput."""
    names = {score.domain for score in reader.scores()}
    domains = [
        known.name
        for known in reader.domains(sorted(names))
        if known.benchmark == NAME and (not domain or known.name in domain)
    ]
    if not domains:
        raise BadInput(f"no results of {NAME} yet. Create some with `memflow run --domain retraction_demo`.")
    scores = [
        score
        for score in reader.scores()
        if score.domain in domains
        and (not assistant or score.assistant in assistant)
        and score.slice == "all"
        and score.variant == "standard"
    ]
    parts: list[Part] = []
    records: list[dict[str, Any]] = []
    for name in domains:
        rows = [score for score in scores if score.domain == name]
        members = sorted({score.assistant for score in rows})
        policies = list(_policy_scores(reader, name))
        table = [[member, *_cells(rows, member)] for member in members]
        table += [[policy, *_cells(policies, policy)] for policy in POLICIES]
        parts += [Heading(f"{name}: what was taken back"), Table(COLUMNS, table), Note(POLICY_NOTE)]
        measured = [member for member in members if reader.facts("memory.transcripts", f"{name}/{member}")]
        parts.append(Table(REQUESTS, [_requests(reader, name, member) for member in measured]))
        records += [
            {
                "domain": name,
                "memory": score.assistant,
                "metric": score.metric,
                "value": score.value,
                "low": score.low,
                "high": score.high,
                "n": score.n,
            }
            for score in (*rows, *policies)
        ]
    return Answer({"retraction": records}, parts, records, scores)


def _cells(scores: Sequence[Score], assistant: str) -> Iterator[str]:
    found = {score.metric: score for score in scores if score.assistant == assistant}
    for metric in SHOWN:
        score = found.get(metric.name)
        if score is None or score.value is None:
            yield "none"
        else:
            interval = "" if score.low is None else f" [{score.low:.2f} {score.high:.2f}]"
            yield f"{score.value:.2f}{interval}"


def _policy_scores(reader: Reader, name: str) -> Iterator[Score]:
    domain = reader.domain(name)
    probes = [probe for probe in reader.rows("question.probes", name) if probe.kind != STORED]
    turns = reader.rows("utterance.turns", name)
    for policy in POLICIES:
        verdicts = question_verdicts(domain, probes, policy_replies(policy, probes, turns))
        results = AssistantResults(
            domain=name,
            assistant=policy,
            memory=policy,
            model="none",
            probes=probes,
            verdicts=verdicts,
            oracle=(),
            none=(),
            simulator="",
            scripted=True,
        )
        yield from (score for score in make_scores(domain, results) if score.slice == "all")


def _requests(reader: Reader, domain: str, assistant: str) -> list[Any]:
    """Return the row of the requests to forget, and of the causes of leaked answers."""
    evaluation = Evaluation.read(reader, domain, assistant)
    asked = [line for line in evaluation.transcript if line.forgets is not None]
    obeyed = [line for line in asked if line.forget_failure is None]
    probes = {probe.probe_id: probe for probe in evaluation.probes}
    leaked = [
        probes[row.probe_id]
        for row in reader.rows("score.verdicts", f"{domain}/{assistant}")
        if row.metric in (LEAK.name, CASCADE.name) and row.value
    ]
    causes = Counter(evaluation.cause(probe) for probe in leaked)
    seconds = [line.forget_s for line in obeyed if line.forget_s is not None]
    reasons = Counter(line.forget_failure for line in asked if line.forget_failure is not None)
    return [
        assistant,
        len(asked),
        len(obeyed),
        sum(line.ended_entries or 0 for line in obeyed),
        round(sum(seconds) / len(seconds), 4) if seconds else None,
        sum(line.forget_calls or 0 for line in obeyed),
        *(causes[cause] for cause in CAUSES),
        next((reason for reason, _ in reasons.most_common(1)), ""),
    ]
