"""Results as records of Every Eval Ever, schema 0.3.0: an aggregate, and a line for each question and metric.

The schema has no place for a memory: the model's name and `additional_details` state it. What has no value is left out
and counted, because a record has no null. The name of a record is computed from its content.
"""

import hashlib
import json
import math
import uuid
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from memflow.operations.exported_results import (
    UNKNOWN,
    ExportedResults,
    Sample,
    details_of,
    portable,
    portable_id,
    score_name,
    text,
)
from memflow.records import Score, Verdict
from memflow.scoring.catalog import find_metric
from memflow.scoring.metric import ROUNDING

SCHEMA = "0.3.0"


def write_records(
    results: ExportedResults, folder: Path, organization: str = UNKNOWN, *, samples: bool = True
) -> list[Path]:
    """Write the record of an assistant, and its samples if it has any. Return the paths; none without a score."""
    if not results.measured:
        return []
    developer, _, model = results.model.partition("/")
    seconds, collection = str(int(results.published.timestamp())), portable(results.domain)
    evaluation = f"{collection}/{results.model.replace('/', '_')}__{portable(results.memory)}/{seconds}"
    lines = list(_lines(results, evaluation)) if samples else []
    body = "".join(f"{_json(line)}\n" for line in lines)
    record: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "evaluation_timestamp": seconds,
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": "memflow",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "memflow", "version": version("memflow-bench")},
        "model_info": _model(results.model, f"{results.memory} + {model}", results.details),
        "evaluation_results": [_result(results, score, evaluation) for score in results.measured],
    }
    content = hashlib.sha256(f"{_json(record)}{body}".encode()).digest()
    name = uuid.UUID(bytes=content[:16], version=4)  # the schema demands the form of version 4
    path = f"data/{collection}/{developer}/{portable(model)}/{name}"
    if lines:
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{path}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(body.encode()).hexdigest(),
            "total_rows": len(lines),
        }
    samples_file = {folder / f"{path}_samples.jsonl": body} if lines else {}
    files = {**samples_file, folder / f"{path}.json": f"{_json(record, indent=1)}\n"}
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    for file, written in files.items():
        file.write_text(written, encoding="ascii", newline="\n")
    return [*files]


def _result(results: ExportedResults, score: Score, evaluation: str) -> dict[str, Any]:
    """Return a score as an evaluation result: data, metric, value, interval, and all other columns as details."""
    metric = find_metric(score.metric)
    low, high = metric.range
    verdicts = [row for sample in results.samples for row in sample.verdicts if _is_of(row, score)]
    uncertainty: dict[str, Any] = {"num_samples": score.n}
    if score.low is not None:
        uncertainty["confidence_interval"] = {
            "lower": score.low,
            "upper": score.high,
            "confidence_level": 0.95,
            "method": f"over {score.interval_units}",
        }
    config = {
        "evaluation_description": metric.description,
        "metric_id": f"memflow.{score.metric}",
        "metric_name": metric.title,
        "metric_unit": metric.unit or ("proportion" if metric.range == (0, 1) else "points"),
        "lower_is_better": metric.direction == "lower",
        "score_type": "continuous",
        "min_score": low if math.isfinite(low) else "-Infinity",
        "max_score": high if math.isfinite(high) else "Infinity",
        "additional_details": {"direction": metric.direction, "variant": score.variant},
    }
    if judges := results.judges.get((score.metric, score.variant)):
        config["llm_scoring"] = {
            "judges": [{"model_info": _model(portable_id(judge), judge, {})} for judge in judges],
            "input_prompt": results.judge_prompts,
        }
    return {
        "evaluation_result_id": f"{evaluation}#{score.metric}/{score.variant}",
        "evaluation_name": f"{results.domain} {score_name(score)}",
        "source_data": {
            "dataset_name": ", ".join(results.origins) or results.domain,
            "source_type": "other",
            "additional_details": {"domain": results.domain, **results.origins},
        },
        "metric_config": config,
        "score_details": {
            "score": min(max(score.value or 0.0, low), high),  # a sum may be off by a rounding error
            "details": {
                **details_of(score, results.scores),
                "left_out": str(sum(row.value is None for row in verdicts)),
            },
            "uncertainty": uncertainty,
        },
        "generation_config": {"additional_details": dict(results.protocol)},
    }


def _lines(results: ExportedResults, evaluation: str) -> Iterator[dict[str, Any]]:
    """Yield a line for each verdict that has a value and belongs to an exported score."""
    for sample in results.samples:
        for verdict in sample.verdicts:
            if verdict.value is not None and any(_is_of(verdict, score) for score in results.measured):
                yield _line(results, evaluation, sample, verdict)


def _line(results: ExportedResults, evaluation: str, sample: Sample, verdict: Verdict) -> dict[str, Any]:
    probe, reply, metric = sample.probe, sample.reply, find_metric(verdict.metric)
    best = {"higher": metric.high, "lower": metric.low}.get(metric.direction)
    is_best = best is not None and verdict.value is not None and abs(verdict.value - best) <= ROUNDING
    attribution = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": reply.parsed or reply.text or "",
        "extraction_method": "llm_judge" if (verdict.metric, verdict.variant) in results.judges else "custom",
        "is_terminal": True,
    }
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "model_id": results.model,
        "evaluation_name": f"{results.domain} {score_name(verdict)}",
        "evaluation_result_id": f"{evaluation}#{verdict.metric}/{verdict.variant}",
        "sample_id": probe.probe_id,
        "sample_hash": hashlib.sha256(f"{probe.question}{probe.gold}".encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": probe.question, "reference": [probe.gold], "choices": probe.options or None},
        "output": {"raw": [reply.text or ""]},
        "answer_attribution": [attribution],
        "evaluation": {"score": verdict.value, "is_correct": is_best},
        "token_usage": sample.tokens or None,
        "performance": {"latency_ms": None if reply.latency_s is None else reply.latency_s * 1000},
        "metadata": {
            **{name: text(value) for name, value in sample.metadata.items()},
            "memory_system": results.memory,
            "is_correct": "the score is the best value of the metric",
        },
    }


def _is_of(verdict: Verdict, score: Score) -> bool:
    return (verdict.metric, verdict.variant) == (score.metric, score.variant)


def _model(identifier: str, name: str, details: Mapping[str, str]) -> dict[str, Any]:
    required = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN}
    return {"name": name, "id": identifier, "additional_details": {**required, **details}}


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, allow_nan=False)
