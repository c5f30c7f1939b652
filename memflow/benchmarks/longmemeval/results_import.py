"""Import of published answers with labels. The labels are those of the files: memflow asks no judge."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.instances import read_instances
from memflow.benchmarks.longmemeval.types import ACCURACY
from memflow.benchmarks.published_results import Sources, import_published
from memflow.benchmarks.verdicts import verdict_row
from memflow.benchmarks.views import ImportedResults, Reader
from memflow.published_runs.rows import NOT_JUDGED, PublishedAnswer, PublishedRun
from memflow.records import Probe, Reply, Verdict


def import_results(reader: Reader, domain: Domain, path: Path) -> ImportedResults:
    """Return answers and labels as those of the assistant `imported_NAME@MODEL`. Raises BadInput."""
    return import_published(
        reader, domain, path, partial(_verdicts, domain), lambda: _sources(reader, domain)
    )


def _verdicts(
    domain: Domain,
    assistant: str,
    probe: Probe,
    reply: Reply,
    answer: PublishedAnswer | None,
    run: PublishedRun,
) -> Iterator[Verdict]:
    label = None if answer is None else answer.label
    reason = None if label is not None else reply.reason or (answer and answer.label_reason) or NOT_JUDGED
    yield verdict_row(domain, assistant, probe, ACCURACY, label, reason)


def _sources(reader: Reader, domain: Domain) -> Sources:
    """Return a function to the messages of retrieved ids: `session:turn` from 0, or all messages of a session."""
    sessions: dict[tuple[str, str], list[str]] = {}
    for dataset in domain.datasets:
        if reader.facts("raw.records", dataset) is not None:
            for instance in read_instances(domain, reader.rows("raw.records", dataset)):
                for session in instance.sessions():
                    places = range(1, len(session.messages) + 1)
                    messages = [instance.message_id(session, place) for place in places]
                    sessions[instance.question_id, session.session_id] = messages

    def sources(probe: Probe, answer: PublishedAnswer) -> list[list[str]]:
        def turn(name: str) -> list[str]:
            session, _, number = name.rpartition(":")
            messages = sessions.get((probe.probe_id, session), [])
            return [messages[int(number)]] if number.isdigit() and int(number) < len(messages) else []

        if answer.messages:
            return [turn(name) for name in answer.messages]
        return [sessions.get((probe.probe_id, name), []) for name in answer.sessions]

    return sources
