"""The data file `runs`: what each assistant was run with: models, prompts, fingerprints, settings and usage."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from memflow.errors import MemflowError
from memflow.pipeline import partition_key
from memflow.resources.report.source import ASSISTANT_TABLES, DOMAIN_TABLES, ReportSource
from memflow.resources.settings.protocol_values import PROTOCOL

GROUPS = ("run", "domain", "assistant", "role", "model", "prompt")


def runs_file(source: ReportSource, differing: Mapping[tuple[str, str], str | None]) -> list[dict[str, Any]]:
    """Return a record per domain and assistant. `differing` has the settings that differ, by (domain, assistant)."""
    facts = {
        (domain, assistant): _inputs(source, domain, assistant)
        for domain, names in source.assistants.items()
        for assistant in names
    }
    runs = {run for inputs in facts.values() for each in inputs.values() if (run := each["run"])}
    starts = source.ledger.run_starts(runs) if runs else {}
    requests = _requests(source, runs)
    found = []
    for (domain, assistant), inputs in facts.items():
        entry = source.catalog.get("score.verdicts", partition_key(domain, assistant))
        meta = {} if entry is None else entry.facts.meta
        run = inputs.get("score.verdicts", {}).get("run")
        started = min(
            (starts[each["run"]] for each in inputs.values() if each["run"] in starts), default=None
        )
        used = [
            row
            for row in requests
            if (row["domain"], row["assistant"]) in ((domain, assistant), (domain, ""))
        ]
        used = [row for row in used if row["run"] in {each["run"] for each in inputs.values()}]
        found.append(
            {
                "domain": domain,
                "assistant": assistant,
                "run": run,
                "started": None
                if started is None
                else datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds"),
                "scripted": meta.get("scripted") == "yes",
                "model": source.shown_model(meta.get("model", "")) or None,
                "simulator": meta.get("simulator"),
                "embedder": source.shown_model(meta.get("embedder", "")) or None,
                "window": meta.get("window"),
                "self_judges": meta.get("self_judges", "").splitlines(),
                "replaced_prompts": meta.get("replaced_prompts", "").split(),
                "memory_parameters": _memory_parameters(source, assistant),
                "protocol": json.loads(meta.get(PROTOCOL, "{}")),
                "models": [
                    dict(zip(("role", "model"), each, strict=True))
                    for each in sorted({(row["role"], row["model"]) for row in used})
                ],
                "prompts": [
                    dict(zip(("role", "prompt"), each, strict=True))
                    for each in sorted({(row["role"], row["prompt"]) for row in used})
                ],
                "requests": sum(row["requests"] for row in used),
                "inputs": inputs,
                "differing_settings": source.redaction.text(differing.get((domain, assistant))),
            }
        )
    return found


def _inputs(source: ReportSource, domain: str, assistant: str) -> dict[str, dict[str, Any]]:
    """Return the content hash, input fingerprint, rows and run of each table of the domain and the assistant."""
    found = {}
    for tables, of in ((DOMAIN_TABLES, ""), (ASSISTANT_TABLES, assistant)):
        for table in tables:
            entry = source.catalog.get(table, partition_key(domain, of))
            if entry is not None:
                facts = entry.facts
                found[table] = {
                    "content": facts.digest,
                    "fingerprint": facts.fingerprint,
                    "rows": facts.rows,
                    "quarantined": facts.quarantined,
                    "run": facts.run,
                }
    return found


def _requests(source: ReportSource, runs: set[str]) -> list[dict[str, Any]]:
    lines = source.ledger.usage(GROUPS, runs=runs) if runs else []
    return [
        {**line.by, "model": source.shown_model(line.by["model"])}
        | {"requests": line.requests + line.cache_hits}
        for line in lines
    ]


def _memory_parameters(source: ReportSource, assistant: str) -> dict[str, Any] | None:
    """Return the parameters of an assistant's memory in the settings; None if the memory is unknown there."""
    try:
        values = source.settings.memory_of(assistant).values
    except MemflowError:
        return None
    return {
        name: source.redaction.text(value) if isinstance(value, str) else value
        for name, value in values.items()
        if isinstance(value, str | int | float | bool | None)
    }
