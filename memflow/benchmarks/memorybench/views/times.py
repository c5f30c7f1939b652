"""The command `memflow show times`: the time that memories take per case, by task format (MemoryBench, A.3.8)."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.times import Times, times_of
from memflow.benchmarks.views import Answer, Heading, Note, Part, Reader, Table, scores_of, stored_rows
from memflow.chat.scripted import LABEL
from memflow.errors import BadInput
from memflow.labels import meta_label

CAVEAT = "asking it takes no time, and says nothing of any model."
NUMBERS = ("dialogues", "memory s", "own", "cases", "predict s", "recall", "own ", "corpora", "corpus s")


def show_times(reader: Reader, domain: Sequence[str] | None) -> Answer:
    """Return the times of every assistant by format. Raises BadInput if no domain, or not `domain`, is measured."""
    measured = measured_domains(reader)
    names = [one.name for one in measured]
    for name in domain or ():
        if name not in names:
            raise BadInput(
                f"the MemoryBench domain {name!r} has no results. Measure it with `memflow run --domain {name}`; "
                f"domains with results: {', '.join(names) or 'none'}."
            )
    found = measured_times(reader, [one for one in measured if not domain or one.name in domain])
    if not found:
        raise BadInput("no domain of MemoryBench has results yet. Measure one with `memflow run --demo`.")
    parts = [part for name in dict.fromkeys(row.domain for row in found) for part in _table(name, found)]
    labels = [row.label for row in found if row.label]
    label = LABEL if LABEL in labels else next(iter(labels), None)
    scores = scores_of(reader, {(row.domain, row.assistant) for row in found})
    records = [asdict(row) for row in found]
    return Answer({"times": records}, parts, records, scores=scores, label=label, caveat=CAVEAT)


def measured_domains(reader: Reader) -> list[Domain]:
    """Return the domains of MemoryBench that have replies."""
    names = dict.fromkeys(partition.partition("/")[0] for partition in reader.partitions("answer.replies"))
    return [domain for domain in reader.domains(names) if domain.benchmark == "memorybench"]


def measured_times(reader: Reader, domains: Sequence[Domain]) -> list[Times]:
    """Return the times of every assistant in `domains`, by format."""
    found = []
    for domain in domains:
        probes, turns = (
            reader.rows("question.probes", domain.name),
            reader.rows("utterance.turns", domain.name),
        )
        for partition in reader.partitions("answer.replies"):
            name, _, assistant = partition.partition("/")
            if name != domain.name:
                continue
            messages = stored_rows(reader, "memory.transcripts", [partition])
            facts = reader.facts("memory.transcripts", partition)
            label = None if facts is None else meta_label([facts.meta])
            replies = reader.rows("answer.replies", partition)
            found += times_of(name, assistant, messages, replies, probes, turns, label=label)
    return found


def _table(domain: str, found: Sequence[Times]) -> Iterator[Part]:
    own = [row for row in found if row.domain == domain]
    rows: list[list[Any]] = []
    for format_ in dict.fromkeys(row.format for row in own):
        for place, row in enumerate(row for row in own if row.format == format_):
            first = format_ if place == 0 else ""
            writing = [row.dialogues or None, _seconds(row.memory_s), _seconds(row.memory_own_s)]
            reading = [row.cases, *map(_seconds, (row.predict_s, row.recall_s, row.recall_own_s))]
            corpora = [row.corpora or None, _seconds(row.corpus_s)]
            rows.append([first, row.assistant, *writing, *reading, *corpora])
    yield Heading(domain)
    yield Table(("format", "memory", *NUMBERS), rows)
    yield Note(
        "Mean seconds: to write a dialogue; to answer a case, with its recall; to write a corpus. "
        "`own` is the memory's own computing; the rest is the latency of models."
    )


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
