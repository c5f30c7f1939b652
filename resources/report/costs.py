"""The data file `costs`: requests, tokens, seconds and cost of each domain and assistant, from the ledger."""

from typing import Any

from memflow.pipeline import WRITERS, partition_key
from memflow.resources.ledger.usage import known_sum
from memflow.resources.report.source import ASSISTANT_TABLES, DOMAIN_TABLES, ReportSource

GROUPS = ("run", "domain", "assistant", "stage", "role", "model")
SUMS = ("requests", "failed", "cut", "prompt_tokens", "completion_tokens", "seconds", "cost")


def costs_file(source: ReportSource) -> dict[str, Any]:
    """Return the usage of the runs that wrote the report's partitions, and its totals by domain and assistant.

    A cache hit counts with the tokens and seconds of its first request, so that a replay costs as much as the first
    run. The cost is null where a model has no price.
    """
    runs = _runs(source)
    usage = _usage(source, runs)
    totals = []
    for domain, names in source.assistants.items():
        for assistant in names:
            rows = [row for row in usage if (row["domain"], row["assistant"]) == (domain, assistant)]
            replies = source.catalog.get("answer.replies", partition_key(domain, assistant))
            totals.append(
                {
                    "domain": domain,
                    "assistant": assistant,
                    "probes": 0 if replies is None else replies.facts.rows,
                    **{name: known_sum(row[name] for row in rows) for name in SUMS},
                }
            )
    return {"usage": usage, "totals": totals}


def _runs(source: ReportSource) -> set[tuple[str, str, str, str]]:
    """Return the run, domain, assistant and stage of each partition of the report."""
    return {
        (entry.facts.run, domain, assistant, WRITERS[table].stage)
        for domain, names in source.assistants.items()
        for assistant, tables in (("", DOMAIN_TABLES), *((name, ASSISTANT_TABLES) for name in names))
        for table in tables
        if (entry := source.catalog.get(table, partition_key(domain, assistant))) and entry.facts.run
    }


def _usage(source: ReportSource, runs: set[tuple[str, str, str, str]]) -> list[dict[str, Any]]:
    found: dict[tuple[str | None, ...], dict[str, Any]] = {}
    for line in source.ledger.usage(GROUPS, runs={run for run, *_ in runs}) if runs else ():
        by = line.by
        if (by["run"], by["domain"], by["assistant"], by["stage"]) not in runs:
            continue
        names = (by["domain"], by["assistant"] or None, by["stage"], by["role"], by["model"])
        row = found.setdefault(names, dict(zip(GROUPS[1:], names, strict=True)) | dict.fromkeys(SUMS, 0))
        row["requests"] += line.requests + line.cache_hits
        row["failed"] += line.failed
        row["cut"] += line.cut
        row["prompt_tokens"] += line.prompt_tokens
        row["completion_tokens"] += line.completion_tokens
        row["seconds"] += line.latency_s
        prices = source.settings.prices_of(by["model"] or "")
        tokens = line.prompt_tokens, line.completion_tokens, line.cached_tokens
        row["cost"] = known_sum((row["cost"], prices.cost(*tokens) if prices else None))
    return [found[names] for names in sorted(found, key=lambda each: tuple(name or "" for name in each))]
