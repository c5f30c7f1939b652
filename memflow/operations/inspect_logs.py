"""Results as logs of Inspect, by the writer of inspect_ai (extra `inspect`): one per domain and assistant."""

import math
from importlib.metadata import version
from pathlib import Path
from typing import Any

from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.operations.exported_results import ExportedResults, Sample, details_of, portable, score_name
from memflow.records import Score


def write_inspect_log(results: ExportedResults, folder: Path) -> Path:
    """Write the log of an assistant in a domain. Return its path, which is the same for the same results.

    A question without a value has the score NaN, which Inspect counts as unscored, and the reason as explanation.
    Raises BadInput if inspect_ai is missing.
    """
    try:
        from inspect_ai import log as inspect
    except ImportError:
        raise BadInput(
            "inspect_ai, which writes the logs, is not installed. Install it: pip install 'memflow-bench[inspect]'"
        ) from None
    created = results.published.isoformat(timespec="seconds")
    identifier = digest(results.domain, results.memory, results.model, created)[:22]
    samples: dict[str, Any] = {}
    for sample in results.samples:
        name = portable(sample.probe.probe_id)  # the name of a file
        name = f"{name}~{len(samples)}" if name in samples else name
        samples[name] = _sample(results.model, name, sample)
    memory = {name: value for name, value in results.details.items() if name.startswith("memory_")}
    scores = [_score(results, score) for score in results.measured]
    written = inspect.EvalLog(
        status="success",
        eval=inspect.EvalSpec(
            created=created,
            eval_id=identifier,
            run_id=identifier,
            task_id=identifier,
            task=f"memflow/{results.domain}",
            task_args=memory,
            dataset=inspect.EvalDataset(name=results.domain, samples=len(samples), sample_ids=[*samples]),
            model=results.model,
            config=inspect.EvalConfig(),
            packages={"memflow-bench": version("memflow-bench")},
            tags={"yes": ["scripted"], "judge": ["scripted judge"]}.get(results.details["scripted"], []),
            metadata={
                **results.details,
                "protocol": dict(results.protocol),
                "datasets": dict(results.origins),
            },
        ),
        results=inspect.EvalResults(
            total_samples=len(samples), completed_samples=len(samples), scores=scores
        ),
        stats=inspect.EvalStats(started_at=created, completed_at=created),
        samples=[*samples.values()],
    )
    path = (
        folder
        / f"{created.replace(':', '-')}_memflow-{portable(results.domain).replace('_', '-')}_{identifier}.eval"
    )
    folder.mkdir(parents=True, exist_ok=True)
    inspect.write_eval_log(written, str(path), format="eval")
    return path


def _score(results: ExportedResults, score: Score) -> Any:
    from inspect_ai.log import EvalMetric, EvalScore

    name = score_name(score)
    values = {"score": score.value, "ci95_low": score.low, "ci95_high": score.high, "n": score.n}
    rows = [row for sample in results.samples for row in sample.verdicts if score_name(row) == name]
    unscored = sum(row.value is None for row in rows)
    return EvalScore(
        name=name,
        scorer=name,
        scored_samples=len(rows) - unscored if rows else None,
        unscored_samples=unscored if rows else None,
        metrics={
            key: EvalMetric(name=key, value=value) for key, value in values.items() if value is not None
        },
        metadata=details_of(score, results.scores),
    )


def _sample(model: str, name: str, sample: Sample) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage
    from inspect_ai.scorer import Score as InspectScore

    probe, text = sample.probe, sample.reply.text or ""
    values = {
        score_name(row): (math.nan if row.value is None else row.value, row.reason) for row in sample.verdicts
    }
    return EvalSample(
        id=name,
        epoch=1,
        input=probe.question,
        choices=probe.options or None,
        target=probe.gold,
        messages=[ChatMessageUser(content=probe.question), ChatMessageAssistant(content=text)],
        output=ModelOutput.from_content(model, text),
        scores={
            key: InspectScore(value=value, answer=sample.reply.parsed or text, explanation=reason)
            for key, (value, reason) in values.items()
        },
        model_usage={model: ModelUsage(**sample.tokens)} if sample.tokens else {},
        metadata=sample.metadata,
    )
