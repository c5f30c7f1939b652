"""Import of published answers for a benchmark: replies, what was retrieved as their recall, and evidence recall.

memflow/published_runs reads the files. The benchmark gives the verdicts and the ids of its messages.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.errors import BadInput
from memflow.metrics.diagnosis import attribute_by_evidence
from memflow.published_runs.layouts import Layout, layout_of
from memflow.published_runs.matching import Question, matched
from memflow.published_runs.recognition import read_path, run_name
from memflow.published_runs.rows import PublishedAnswer, PublishedRun
from memflow.records import FailureAttribution, Probe, Reply, Verdict
from memflow.scoring.attribution import NO_EVIDENCE

MISSING = "the recorded run has no valid answer"
NOT_ANSWERED = "the recorded run retrieved, but did not answer"
NO_STORE = "the recorded run does not tell what the memory stored, so that a lost message is no write or read failure"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")

Sources = Callable[[Probe, PublishedAnswer], list[list[str]]]
"""The ids of the messages of each retrieved item of an answer, in the order of their ranks."""
Verdicts = Callable[[str, Probe, Reply, PublishedAnswer | None, PublishedRun], Iterator[Verdict]]
"""The verdicts of an assistant on a reply, from the recorded answer."""


def stored_probes(reader: Reader, domain: Domain) -> list[Probe]:
    """Return the test probes of a domain. Raises BadInput if the lake has none."""
    if reader.facts("question.probes", domain.name) is None:
        raise BadInput(
            f"the lake has no probes of {domain.name}. Generate them with `memflow run --domain {domain.name} --memory "
            "none`, then import the results."
        )
    return [probe for probe in reader.rows("question.probes", domain.name) if probe.split == "test"]


def read_published(path: Path, domain: Domain, probes: Sequence[Probe]) -> PublishedRun:
    """Return the published run in a file, folder or pattern, with the answers to the domain's probes.

    Raises BadInput if there is none.
    """
    published = layout_of(domain.benchmark)
    if published is not None and not {probe.episode_id for probe in probes} <= {*published.scored}:
        published = Layout.of_ids((probe.probe_id for probe in probes), published.category_apart)
    importable = {name: registry.spec_of(name).title for name in registry.imports().get("results", ())}
    run = read_path(path, domain.benchmark, importable, published)
    questions = {
        probe.probe_id: Question(probe.episode_id, probe.category or "", probe.question, probe.gold)
        for probe in probes
    }
    run = matched(run, questions)
    if not run.answers:
        first = f" The first fault: {run.faults[0]}." if run.faults else ""
        raise BadInput(
            f"{path} has no answer to a question of {domain.name}.{first} Use a domain of the questions that the "
            "system was run on."
        )
    return run


def import_published(
    reader: Reader,
    domain: Domain,
    path: Path,
    verdicts: Verdicts,
    sources: Callable[[], Sources],
    contradiction: Callable[[Probe, PublishedAnswer], str | None] = lambda probe, answer: None,
) -> ImportedResults:
    """Return published answers as replies and verdicts of the assistant `imported_NAME@MODEL`.

    NAME is that of the file or folder. A missing answer is a reply with a reason, and so is an answer for which
    `contradiction` returns one. `sources` is called if the run tells which messages were retrieved. Raises BadInput.
    """
    probes = stored_probes(reader, domain)
    run = read_published(path, domain, probes)
    model = run.header.get("reader", "unknown")
    name, model_name = (_NOT_IN_NAMES.sub("-", part) for part in (run_name(path, run), model))
    assistant = f"imported_{name}@{model_name}"
    answers = {answer.question_id: answer for answer in run.answers}
    has_ids = any(answer.messages or answer.sessions for answer in run.answers)
    sources_of: Sources = sources() if has_ids else lambda probe, answer: [[] for _ in answer.texts]
    items = {
        probe.probe_id: sources_of(probe, answers[probe.probe_id])
        for probe in probes
        if probe.probe_id in answers
    }
    wrong = {
        probe.probe_id: reason
        for probe in probes
        if probe.probe_id in answers and (reason := contradiction(probe, answers[probe.probe_id]))
    }
    replies = [
        _reply(domain, assistant, probe, answers.get(probe.probe_id), items.get(probe.probe_id, []), wrong)
        for probe in probes
    ]
    judges = Counter(answer.judge for answer in run.answers if answer.judge and answer.label is not None)
    judged_by = ", ".join(sorted(judges)) or run.header.get("judge", "")
    files = run.files[0] if len(run.files) == 1 else f"{len(run.files)} files of {path.name}"
    settings = {"form": run.form, **({"cutoff": run.choice} if run.choice else {}), **run.header}
    return ImportedResults(
        assistant=assistant,
        model=model,
        source=f"answers and labels ({run.contract or 'without labels'}) in {files}, content hash {run.digest}"
        + (f", judged by {judged_by}" if judged_by else ""),
        settings={**settings, "contract": run.contract, **({"judges": dict(judges)} if judges else {})},
        replies=replies,
        verdicts=[
            verdict
            for probe, reply in zip(probes, replies, strict=True)
            for verdict in verdicts(assistant, probe, reply, answers.get(probe.probe_id), run)
        ],
        faults=[*run.faults, *run.notes],
        attributions=list(_attributions(domain, assistant, probes, answers, items)) if has_ids else (),
    )


def _reply(
    domain: Domain,
    assistant: str,
    probe: Probe,
    answer: PublishedAnswer | None,
    items: Sequence[Sequence[str]],
    wrong: Mapping[str, str],
) -> Reply:
    """Return the recorded reply to a probe; without a recorded answer it has a reason."""
    text = None if answer is None else answer.answer
    seconds: Mapping[str, float] = {} if answer is None else answer.seconds
    tokens: Mapping[str, int] = {} if answer is None else answer.tokens
    recalled = [] if answer is None else _entries(answer)
    reason = wrong.get(probe.probe_id)
    has_answer = reason is None and (text is not None or (answer is not None and answer.label is not None))
    if not has_answer and reason is None:
        reason = MISSING if answer is None or not answer.has_context else NOT_ANSWERED
    return Reply(
        domain=domain.name,
        assistant=assistant,
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        text=text,
        parsed=(text or "") if has_answer else None,
        recalled=recalled,
        recalled_sources=list(dict.fromkeys(message for item in items for message in item)),
        ranked=recalled[:10],
        injected_tokens=tokens.get("context", 0),
        prompt_tokens=tokens.get("prompt"),
        completion_tokens=tokens.get("completion"),
        latency_s=seconds.get("answer"),
        own_s=seconds.get("search"),
        attempts=int(has_answer),
        reason=reason,
    )


def _entries(answer: PublishedAnswer) -> list[str]:
    """Return ids of the retrieved items: messages where the file names them, else sessions, else texts."""
    if answer.messages:
        return list(answer.messages)
    if answer.sessions:
        return [f"session {name}" for name in answer.sessions]
    return [f"text {number}" for number in range(1, len(answer.texts) + 1)]


def _attributions(
    domain: Domain,
    assistant: str,
    probes: Sequence[Probe],
    answers: Mapping[str, PublishedAnswer],
    items: Mapping[str, Sequence[Sequence[str]]],
) -> Iterator[FailureAttribution]:
    """Yield how much of each probe's evidence was recalled; a loss with all evidence recalled is one of utilization."""
    for probe in probes:
        answer, evidence = answers.get(probe.probe_id), frozenset(probe.evidence)
        recorded = [frozenset(item) for item in items.get(probe.probe_id, ())]
        recalled = evidence & frozenset().union(*recorded)
        best = evidence & frozenset().union(*recorded[:10])
        known = answer is not None and answer.has_context and bool(evidence)
        loss = None if answer is None or answer.label is None or not known else 1 - answer.label
        shares = None if loss is None else attribute_by_evidence(evidence, evidence, recalled, loss)
        yield FailureAttribution(
            domain=domain.name,
            assistant=assistant,
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=probe.checkpoint,
            category=probe.category,
            evidence=len(evidence),
            recalled=len(recalled) if known else None,
            recalled_at_10=len(best) if known else None,
            entries=len(recorded) if known else None,
            relevant=sum(not evidence.isdisjoint(item) for item in recorded) if known else None,
            loss=loss,
            utilization=None if shares is None else shares.utilization,
            reason=NO_STORE if known else NO_EVIDENCE if not evidence else MISSING,
        )
