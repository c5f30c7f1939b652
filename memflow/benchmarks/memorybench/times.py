"""The command `memflow show times`: the seconds that memories need per case, by task format (Table 19 and Figure 4).

Memory time is the time to write a training dialogue. Predict time is the time to recall for a test case and to answer
it. Both add the recorded seconds of models and the measured computing time of the memory, without waiting. The time to
write a corpus is separate, as in the paper.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from memflow.benchmarks.memorybench.probes import case_of
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.memorybench.tasks.task import Format
from memflow.benchmarks.views import (
    Answer,
    Note,
    Reader,
    measured_names,
    record_table,
    scores_of,
    stored_rows,
)
from memflow.records import Probe, Reply, TranscriptMessage, Turn

CAVEAT = "asking it takes no time, and says nothing of any model."
MEANING = (
    "Mean seconds: to write a dialogue (`memory_s`); to answer a case (`predict_s`), with its recall; to write a "
    "corpus. `own` is the memory's own computing; the rest is the latency of models."
)


def show_times(reader: Reader, domain: Sequence[str] | None = None) -> Answer:
    """Return the times of every assistant by format. Raises BadInput if no domain, or not `domain`, is measured."""
    stored = [partition.partition("/") for partition in reader.partitions("answer.replies")]
    measured = reader.domains(dict.fromkeys(name for name, _, _ in stored))
    names = measured_names(
        [one.name for one in measured if one.benchmark == "memorybench"],
        domain,
        "results of MemoryBench",
        "Measure one with `memflow run --demo`",
    )
    records = [
        record
        for name, _, assistant in stored
        if name in names
        for record in times_of(
            name,
            assistant,
            stored_rows(reader, "memory.transcripts", [f"{name}/{assistant}"]),
            reader.rows("answer.replies", f"{name}/{assistant}"),
            reader.rows("question.probes", name),
            reader.rows("utterance.turns", name),
        )
    ]
    scores = scores_of(reader, {(record["domain"], record["assistant"]) for record in records})
    return Answer({"times": records}, [record_table(records), Note(MEANING)], records, scores, caveat=CAVEAT)


def times_of(
    domain: str,
    assistant: str,
    said: Iterable[TranscriptMessage],
    replies: Iterable[Reply],
    probes: Sequence[Probe],
    turns: Iterable[Turn],
) -> list[dict[str, Any]]:
    """Return the mean seconds by task format, in the paper's order, for formats with tasks in the domain.

    A mean without measurements is None. `memory_s` is per dialogue, `predict_s` per case, `corpus_s` per corpus.
    `memory_own_s` and `recall_own_s` are the computing time of the memory's code within `memory_s` and `recall_s`.
    """
    formats: dict[str | None, str] = {probe.probe_id: task(probe.dataset).format for probe in probes}
    of_corpora = {
        probe.episode_id: formats[probe.probe_id] for probe in probes if probe.episode_id != DIALOGUES
    }
    dialogues, corpora = _written(said, turns)
    answered = [
        (reply.probe_id, reply.models_s, reply.own_s, reply.latency_s)
        for reply in replies
        if reply.models_s is not None and reply.own_s is not None and reply.latency_s is not None
    ]
    records = []
    for name in get_args(Format):
        if name not in formats.values():
            continue
        written = [(models, own) for case, models, own in dialogues if formats.get(case) == name]
        given = [seconds for corpus, seconds in corpora.items() if of_corpora.get(corpus) == name]
        asked = [seconds for probe_id, *seconds in answered if formats.get(probe_id) == name]
        records.append(
            {
                "domain": domain,
                "format": name,
                "assistant": assistant,
                "dialogues": len(written),
                "memory_s": _mean([models + own for models, own in written]),
                "memory_own_s": _mean([own for _, own in written]),
                "cases": len(asked),
                "predict_s": _mean([sum(seconds) for seconds in asked]),
                "recall_s": _mean([models + own for models, own, _ in asked]),
                "recall_own_s": _mean([own for _, own, _ in asked]),
                "corpora": len(given),
                "corpus_s": _mean(given),
            }
        )
    return records


def _written(
    said: Iterable[TranscriptMessage], turns: Iterable[Turn]
) -> tuple[list[tuple[str, float, float]], Mapping[str, float]]:
    """Return the case, model seconds and memory seconds of each dialogue, and the total seconds of each corpus."""
    corpus_of = {turn.message_id: turn.episode_id for turn in turns}
    dialogues: list[tuple[str, float, float]] = []
    corpora: dict[str, float] = {}
    for line in said:
        if line.models_s is None or line.own_s is None:
            continue
        case = case_of(line.message_id)
        if case is not None:
            dialogues.append((case, line.models_s, line.own_s))
        elif line.message_id in corpus_of:
            corpus = corpus_of[line.message_id]
            corpora[corpus] = corpora.get(corpus, 0.0) + line.models_s + line.own_s
    return dialogues, corpora


def _mean(seconds: Sequence[float]) -> float | None:
    return math.fsum(seconds) / len(seconds) if seconds else None
