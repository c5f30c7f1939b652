"""The comparability columns of the leaderboard: each assistant's settings and missing data, and which settings differ.

Assistants are compared within one domain and chat model. The compared settings are the answer prompts, the
benchmark's replaced prompts, the model's fingerprint, the embedder, k (the number of entries to recall), the token
budget, whether the requests of a memory's models are counted, and whether the results are imported.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from memflow.memories.server.config import MEMORY_MODELS
from memflow.records import Reply, Score
from memflow.run.recording import IMPORTED
from memflow.scoring.completeness import INCOMPLETE, join_gaps, truncation_gap

SHARED = "chat"
"""The owner of prompts that every model may receive, the first part of their names."""
_REPLACED = {True: "replaced", False: "partly replaced"}


@dataclass(frozen=True, slots=True)
class MeasuredSettings:
    """The settings of an assistant's evaluation and its missing data, which become columns of Score with these names.

    None or empty stands for a setting that the memory lacks, or that is not known.
    """

    fingerprint: str | None = None
    prompts: list[str] = field(default_factory=list)
    replaced_prompts: list[str] = field(default_factory=list)
    embedder: str | None = None
    k: int | None = None
    budget: int | None = None
    injected_tokens: float | None = None
    memory_models: str | None = None
    imported: str | None = None
    incomplete: str | None = None

    @classmethod
    def from_replies(cls, replies: Sequence[Reply], meta: Mapping[str, str]) -> "MeasuredSettings":
        """Return the settings that an assistant's replies were computed with; `meta` is the verdicts' metadata."""
        answered_replies = [reply for reply in replies if reply.model is not None]
        tokens = sum(reply.injected_tokens for reply in answered_replies)
        truncated_replies = sum(reply.dropped_messages > 0 for reply in replies)
        return cls(
            fingerprint=next((reply.model for reply in answered_replies), None),
            prompts=sorted({reply.prompt for reply in answered_replies if reply.prompt is not None}),
            replaced_prompts=meta.get("replaced_prompts", "").split(),
            embedder=meta.get("embedder"),
            k=int(meta.get("k", 0)) or None,
            budget=int(meta.get("budget", 0)) or None,
            injected_tokens=tokens / len(answered_replies) if answered_replies else None,
            memory_models=meta.get(MEMORY_MODELS),
            imported=meta.get(IMPORTED),
            incomplete=join_gaps([meta.get(INCOMPLETE), truncation_gap(truncated_replies, len(replies))]),
        )

    @classmethod
    def from_score(cls, score: Score) -> "MeasuredSettings":
        """Return the settings of which a score has the columns."""
        return cls(**{column.name: getattr(score, column.name) for column in fields(cls)})


def compare_settings(
    scores: Iterable[Score],
    settings: Mapping[str, MeasuredSettings],
    columns: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Score]:
    """Return the scores of one domain, extended by the assistants' settings and by the names of differing settings.

    `columns` has further columns by assistant.
    """
    scores = list(scores)
    # All scores of an assistant have the same settings, so any one of them stands for the others.
    examples = {score.assistant: replace(score, **asdict(settings[score.assistant])) for score in scores}
    differences = dict(zip(examples, differing_settings(list(examples.values())), strict=True))

    def columns_of(assistant: str) -> dict[str, Any]:
        further_columns = (columns or {}).get(assistant, {})
        return {
            **asdict(settings[assistant]),
            "differing_settings": differences[assistant],
            **further_columns,
        }

    return [replace(score, **columns_of(score.assistant)) for score in scores]


def differing_settings(scores: Sequence[Score]) -> list[str | None]:
    """Return, for each score, which settings differ from other scores of the same domain and model; None if none.

    A result is text such as `k 5, others 10`. A setting that a memory does not have (k of `full`, the budget of `rag`)
    is not compared. Models whose requests are not counted are named in their rows only.
    """
    values_by_setting: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for score in scores:
        for name, value in _settings(score):
            values_by_setting[score.domain, score.model, name].add(value)
    texts_of_scores = []
    for score in scores:
        texts = []
        for name, value in _settings(score):
            other_values = sorted(values_by_setting[score.domain, score.model, name] - {value})
            if other_values:
                texts.append(f"{name} {value}, others {', '.join(other_values)}")
        # No other row has to say that its requests are counted.
        texts_of_scores.append("; ".join(filter(None, (*texts, score.memory_models))) or None)
    return texts_of_scores


def _settings(score: Score) -> list[tuple[str, str]]:
    """Return the (name, value) pairs of a score's settings.

    Prompts are compared under their names, so prompts with and without notes are never compared. But answers
    to a user's prompt are compared with answers to a packaged prompt. A memory's prompts are part of the memory, so
    replaced prompts are only compared if they are the benchmark's or shared.
    """
    pairs = [
        (f"prompt {name}", digest) for name, _, digest in (prompt.partition("@") for prompt in score.prompts)
    ]
    if benchmarks := {name.partition("/")[0] for name in score.prompts}:
        owners = {*benchmarks, SHARED}
        replaced_prompts = [name for name in score.replaced_prompts if name.partition("/")[0] in owners]
        pairs.append(("replaced prompts", ", ".join(replaced_prompts) or "none"))
        replaced_count = len(set(score.prompts) & set(score.replaced_prompts))
        all_replaced = replaced_count == len(score.prompts)
        pairs.append(("answer prompts", _REPLACED[all_replaced] if replaced_count else "packaged"))
    fingerprint = None if score.fingerprint is None else score.fingerprint[:8]
    results = "imported" if score.imported else "of memflow"
    settings = {
        "model": fingerprint,
        "embedder": score.embedder,
        "k": score.k,
        "budget": score.budget,
        "results": results,
    }
    for name, value in settings.items():
        if value is not None:
            pairs.append((name, str(value)))
    return pairs
