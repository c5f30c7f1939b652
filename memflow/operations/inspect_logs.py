"""Results as logs of Inspect, by the writer of inspect_ai (extra `inspect`): one per domain and assistant.

memflow's own texts in a log have no address and no path of the machine. Equal results have equal file names.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memflow.chat.scripted import LABEL
from memflow.errors import BadInput, BadSettings
from memflow.fingerprint import digest
from memflow.labels import JUDGED, score_label, score_qualifiers
from memflow.operations.stored_names import stored_scores
from memflow.records import Probe, Reply, Score, Verdict
from memflow.repeats import memory_name
from memflow.scoring.judges import STANDARD

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

UNKNOWN = "unknown"
NOT_PORTABLE = re.compile(r'[<>:"\\|?*/\x00-\x1f\x7f]')
"""Characters that some file systems refuse in the name of a file."""
TAGS = {LABEL: ["scripted"], JUDGED: ["scripted judge"]}


class InspectLog(NamedTuple):
    """A written log, with the scores of its assistant, and the origin and license of each data set."""

    path: Path
    scores: Sequence[Score]
    origins: Mapping[str, str]


def write_inspect_logs(
    settings: "Settings",
    lake: "Lake",
    folder: Path,
    domain: Sequence[str] | None = None,
    assistant: Sequence[str] | None = None,
) -> list[InspectLog]:
    """Write the logs of all or some domains and assistants.

    Raises BadInput without results, and if inspect_ai is missing.
    """
    from memflow.scoring.publications import current_scores

    by_pair: dict[tuple[str, str], list[Score]] = {}
    for score in stored_scores(settings, lake, domain, assistant):
        by_pair.setdefault((score.domain, score.assistant), []).append(score)
    if not by_pair:
        raise BadInput(
            "no score matches the selection. `memflow show leaderboard` lists domains and assistants."
        )
    published: dict[tuple[str, str], str] = {}
    for row in current_scores(lake.read_all("score.history", lake.partitions("score.history"))).values():
        pair = (row.domain, row.assistant)
        published[pair] = max(published.get(pair, ""), row.published_at)
    return [
        _write_log(settings, lake, folder, scores, published.get(pair)) for pair, scores in by_pair.items()
    ]


def _write_log(
    settings: "Settings", lake: "Lake", folder: Path, scores: Sequence[Score], published: str | None
) -> InspectLog:
    """Write the log of an assistant. `published` is the last publication that changed one of its scores."""
    try:
        from inspect_ai import log as inspect
    except ImportError:
        raise BadInput(
            "inspect_ai, which writes the logs, is not installed. Install it: pip install 'memflow-bench[inspect]'"
        ) from None
    from memflow.resources.report.redaction import Redaction

    redacted = Redaction.of_environment([model.key_variable for model in settings.models.values()]).text
    domain, assistant = scores[0].domain, scores[0].assistant
    partition, memory = f"{domain}/{assistant}", memory_name(assistant)
    facts = [lake.facts("score.verdicts", partition), lake.facts("score.leaderboard", "all")]
    protocol = json.loads(facts[0].meta.get("protocol", "{}") if facts[0] else "{}")
    model = redacted(_served(settings, scores[0], protocol)) or UNKNOWN
    parameters = {"system": memory, **_parameters(settings, assistant)}
    task_args = {f"memory_{name}": redacted(str(value)) or "" for name, value in parameters.items()}
    scores = [_redacted(score, redacted) for score in scores]
    origins = {
        name: ", ".join(next(iter(lake.columns("raw.records", name, ("origin", "licence")))))
        for name in settings.domain(domain).datasets
        if lake.facts("raw.records", name) is not None
    }
    created = datetime.fromisoformat(published or max(row.written for row in facts if row))
    started = created.isoformat(timespec="seconds")
    identifier = digest(domain, redacted(memory), model, started)[:22]
    verdicts: dict[str, list[Verdict]] = {}
    for verdict in lake.read("score.verdicts", partition):
        verdicts.setdefault(verdict.probe_id, []).append(verdict)
    replies = {reply.probe_id: reply for reply in lake.read("answer.replies", partition)}
    samples: dict[str, Any] = {}
    for probe in lake.read("question.probes", domain):
        if probe.probe_id in replies.keys() & verdicts.keys():
            name = portable(probe.probe_id)
            name = f"{name}~{len(samples)}" if name in samples else name
            samples[name] = _sample(model, name, probe, replies[probe.probe_id], verdicts[probe.probe_id])
    qualifiers = [label for score in scores for label in score_qualifiers(score, scores)]
    every = [verdict for of_probe in verdicts.values() for verdict in of_probe]
    written = inspect.EvalLog(
        status="success",
        eval=inspect.EvalSpec(
            created=started,
            eval_id=identifier,
            run_id=identifier,
            task_id=identifier,
            task=f"memflow/{domain}",
            task_args=task_args,
            dataset=inspect.EvalDataset(name=domain, samples=len(samples), sample_ids=[*samples]),
            model=model,
            config=inspect.EvalConfig(),
            packages={"memflow-bench": version("memflow-bench")},
            tags=TAGS.get(score_label(scores) or "", []),
            metadata={
                **task_args,
                "labels": "; ".join(dict.fromkeys(qualifiers)),
                "protocol": {name: redacted(str(value)) or "" for name, value in protocol.items()},
                "datasets": origins,
            },
        ),
        results=inspect.EvalResults(
            total_samples=len(samples),
            completed_samples=len(samples),
            scores=[_score(score, scores, every) for score in scores if score.value is not None],
        ),
        stats=inspect.EvalStats(started_at=started, completed_at=started),
        samples=[*samples.values()],
    )
    task = portable(domain).replace("_", "-")
    path = folder / f"{started.replace(':', '-')}_memflow-{task}_{identifier}.eval"
    folder.mkdir(parents=True, exist_ok=True)
    inspect.write_eval_log(written, str(path), format="eval")
    return InspectLog(path, scores, origins)


def _redacted(score: Score, redacted: Callable[[str | None], str | None]) -> Score:
    from memflow.resources.report.scores import REDACTED

    names = {*REDACTED, "assistant", "memory", "memory_models"} & {*asdict(score)}
    columns: Any = {name: redacted(getattr(score, name)) for name in names}
    return replace(score, **columns)


def _score(score: Score, others: Sequence[Score], verdicts: Sequence[Verdict]) -> Any:
    """Return a score of Inspect with all columns that have a value, and the labels that stand at the score."""
    from inspect_ai.log import EvalMetric, EvalScore

    name = score_name(score)
    values = {"score": score.value, "ci95_low": score.low, "ci95_high": score.high, "n": score.n}
    rows = [row for row in verdicts if score_name(row) == name]
    unscored = sum(row.value is None for row in rows)
    columns = {**asdict(score), "labels": score_qualifiers(score, others)}
    return EvalScore(
        name=name,
        scorer=name,
        scored_samples=len(rows) - unscored if rows else None,
        unscored_samples=unscored if rows else None,
        metrics={
            key: EvalMetric(name=key, value=value) for key, value in values.items() if value is not None
        },
        metadata={key: value for key, value in columns.items() if value not in (None, "", [])},
    )


def _sample(model: str, name: str, probe: Probe, reply: Reply, verdicts: Sequence[Verdict]) -> Any:
    """Return a sample of Inspect. A verdict without a value is NaN, which Inspect counts as unscored."""
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage
    from inspect_ai.scorer import Score as InspectScore

    answer = reply.text or ""
    sent, received = reply.prompt_tokens, reply.completion_tokens
    usage = {}
    if sent is not None and received is not None:
        usage[model] = ModelUsage(input_tokens=sent, output_tokens=received, total_tokens=sent + received)
    return EvalSample(
        id=name,
        epoch=1,
        input=probe.question,
        choices=probe.options or None,
        target=probe.gold,
        messages=[ChatMessageUser(content=probe.question), ChatMessageAssistant(content=answer)],
        output=ModelOutput.from_content(model, answer),
        scores={
            score_name(row): InspectScore(
                value=math.nan if row.value is None else row.value,
                answer=reply.parsed or answer,
                explanation=row.reason,
            )
            for row in verdicts
        },
        model_usage=usage,
        metadata={
            "probe_id": probe.probe_id,
            "question_type": probe.category or probe.kind,
            "dataset": probe.dataset,
            "episode": probe.episode_id,
            "checkpoint": probe.checkpoint,
            "recalled": reply.recalled,
        },
    )


def _parameters(settings: "Settings", assistant: str) -> Mapping[str, Any]:
    try:
        return settings.memory_of(assistant).values
    except BadSettings:  # a memory of other settings
        return {}


def _served(settings: "Settings", score: Score, protocol: Mapping[str, Any]) -> str:
    """Return the name of a score's chat model at its server.

    A model that --url and --model named is not in the settings; the protocol of its run has its name.
    """
    model = settings.models.get(score.model)
    if model is not None:
        return f"memflow/{model.model}" if model.kind == "scripted" else model.model
    return score.model if "@" in score.assistant else str(protocol.get("assistant_model", score.model))


def portable(name: str) -> str:
    """Return a name with `_` for each character that a file's name cannot have on some system."""
    return NOT_PORTABLE.sub("_", name).strip(" .") or UNKNOWN


def score_name(row: Score | Verdict) -> str:
    """Return the name of a score or a verdict, such as `accuracy` or `write_failure (by_evidence)`."""
    return row.metric if row.variant == STANDARD else f"{row.metric} ({row.variant})"
