"""Computation of the seconds that memories need per case, by task format (paper, A.3.8: Table 19 and Figure 4).

Memory time is the time to write a training dialogue. Predict time is the time to recall for a test case and to answer
it. Both add the recorded seconds of models and the measured computing time of the memory, without waiting. The time to
write a corpus is separate, as in the paper.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.memorybench.domains import FORMATS
from memflow.benchmarks.memorybench.probes import case_of
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.records import Probe, Reply, TranscriptMessage, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The mean seconds of one assistant for the tasks of one format; None without measurements.

    `memory_s` is per dialogue, `corpus_s` per corpus, `predict_s` per case. `memory_own_s` and
    `recall_own_s` are the computing time of the memory's code within `memory_s` and `recall_s`.
    """

    domain: str
    assistant: str
    format: str
    dialogues: int
    memory_s: float | None
    memory_own_s: float | None
    corpora: int
    corpus_s: float | None
    cases: int
    predict_s: float | None
    recall_s: float | None
    recall_own_s: float | None
    label: str | None


def times_of(
    domain: str,
    assistant: str,
    said: Iterable[TranscriptMessage],
    replies: Iterable[Reply],
    probes: Sequence[Probe],
    turns: Iterable[Turn],
    *,
    label: str | None,
) -> list[Times]:
    """Return the times of an assistant by task format, in the paper's order, for formats with tasks in the domain."""
    formats = {probe.probe_id: task(probe.dataset).format for probe in probes}
    dialogues, corpora = _written(said, turns)
    corpus_formats = {
        probe.episode_id: formats[probe.probe_id] for probe in probes if probe.episode_id != DIALOGUES
    }
    answered = [_answered(reply) for reply in replies]
    found = []
    for name in FORMATS:
        if name not in formats.values():
            continue
        written = [seconds for case, seconds in dialogues if formats.get(case) == name]
        given = [seconds for corpus, seconds in corpora.items() if corpus_formats.get(corpus) == name]
        asked = [seconds for seconds in answered if seconds is not None and formats.get(seconds[0]) == name]
        found.append(
            Times(
                domain=domain,
                assistant=assistant,
                format=name,
                dialogues=len(written),
                memory_s=_mean([models + own for models, own in written]),
                memory_own_s=_mean([own for _, own in written]),
                corpora=len(given),
                corpus_s=_mean(given),
                cases=len(asked),
                predict_s=_mean([models + own + answer for _, models, own, answer in asked]),
                recall_s=_mean([models + own for _, models, own, _ in asked]),
                recall_own_s=_mean([own for _, _, own, _ in asked]),
                label=label,
            )
        )
    return found


def _written(
    said: Iterable[TranscriptMessage], turns: Iterable[Turn]
) -> tuple[list[tuple[str, tuple[float, float]]], Mapping[str, float]]:
    """Return the case, model seconds and memory seconds of each dialogue, and the total seconds of each corpus."""
    corpus_of = {turn.message_id: turn.episode_id for turn in turns}
    dialogues: list[tuple[str, tuple[float, float]]] = []
    corpora: dict[str, float] = {}
    for line in said:
        if line.models_s is None or line.own_s is None:
            continue
        case = case_of(line.message_id)
        if case is not None:
            dialogues.append((case, (line.models_s, line.own_s)))
        elif line.message_id in corpus_of:
            corpus = corpus_of[line.message_id]
            corpora[corpus] = corpora.get(corpus, 0.0) + line.models_s + line.own_s
    return dialogues, corpora


def _answered(reply: Reply) -> tuple[str, float, float, float] | None:
    """Return (probe id, model seconds, memory seconds, answer seconds), or None without measurements."""
    if reply.models_s is None or reply.own_s is None or reply.latency_s is None:
        return None
    return reply.probe_id, reply.models_s, reply.own_s, reply.latency_s


def _mean(seconds: Sequence[float]) -> float | None:
    return math.fsum(seconds) / len(seconds) if seconds else None
