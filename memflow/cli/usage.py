"""`memflow show usage`: requests to the models, their tokens, seconds, cost, and cut answers."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.options import front_of, option
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.memories.server.config import OWN_MODELS
from memflow.operations.required_checks import servers_with_own_models
from memflow.rendering.tables import table_of
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.settings.settings import Settings


By = StrEnum("By", ("run", "stage", "role", "domain", "assistant", "model", "prompt"))
SUMS = {
    "calls": "requests",
    "cache_hits": "cache_hits",
    "failures": "failed",
    "prompt_tokens": "paid_prompt_tokens",
    "cached_prompt_tokens": "paid_cached_tokens",
    "completion_tokens": "paid_completion_tokens",
    "reasoning_tokens": "reasoning_tokens",
    "cut": "cut",
    "seconds": "latency_s",
}
"""The columns, and the attributes of the ledger's usage that they sum."""
TOTALS = (*SUMS, "cost", "known_cost")


def usage(
    ctx: typer.Context,
    by: Annotated[
        list[By] | None, typer.Option("--by", help="Group by this; may be repeated. [stage, role, model]")
    ] = None,
    run: Annotated[str | None, option("--run", "Show one run alone.", metavar="ID")] = None,
    form: FormatOption = Format.table,
) -> None:
    """Show the usage of the models: calls, cache hits, failures, tokens, cut answers, seconds and cost.

    A call is a request to a model; a cache hit is answered from the ledger. Tokens and cost count calls only. Seconds
    are the latencies of calls and cache hits, as recorded with the first request. Cached prompt tokens are those that
    a server reports from its prefix cache.
    """
    from memflow.resources.ledger.sql_ledger import SqlLedger
    from memflow.resources.ledger.usage import cost_text, known_sum

    settings = front_of(ctx).load()
    chosen = [attribute.value for attribute in by or (By.stage, By.role, By.model)]
    with SqlLedger(settings.ledger_url) as ledger:
        rows = _rows(ledger, settings, chosen, run)
    if run is not None and not rows:
        raise BadInput(
            f"the ledger has no requests of the run {run!r}. List the runs with `memflow show usage --by run`."
        )
    total: dict[str, Any] = {name: known_sum(row[name] for row in rows) for name in TOTALS}
    columns = {name.replace("_", " "): name for name in (*chosen, *SUMS)}
    not_counted = servers_with_own_models(settings)
    print_result(
        form,
        {"usage": rows, "total": total, "not_counted": not_counted},
        table_of(
            [*rows, {chosen[0]: "total", **total}],
            {**columns, "cost": lambda row: cost_text(row["cost"], row["known_cost"])},
            "Usage" if run is None else f"Usage of run {run}",
        ),
        note("" if rows else "The ledger is empty. `memflow run --demo` fills it."),
        *(note(f"{name}: {OWN_MODELS}") for name in not_counted),
        rows=rows,
    )


def _rows(
    ledger: "SqlLedger", settings: "Settings", by: Sequence[str], run: str | None
) -> list[dict[str, Any]]:
    """Return the usage as plain rows, sorted by group, with costs at the prices in the settings.

    A cost is None where requests were sent to a model without a price; `known_cost` is that of the other requests.
    """
    from memflow.resources.ledger.usage import cost, known_sum

    by_model = tuple(dict.fromkeys((*by, "model")))  # prices are a model's
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in ledger.usage(by_model, runs=None if run is None else [run]):
        names = tuple(line.by[name] for name in by)
        zeros = dict.fromkeys(TOTALS, 0)
        row = rows.setdefault(names, {**dict(zip(by, names, strict=True)), **zeros})
        for name, attribute in SUMS.items():
            row[name] += getattr(line, attribute)
        of_line = cost(line, settings.prices_of(line.by["model"]))
        row["cost"] = known_sum((row["cost"], of_line))
        row["known_cost"] += of_line or 0
    return [rows[names] for names in sorted(rows)]
