"""`memflow usage`: requests to the models, their tokens, seconds, cost, and the share of cut answers."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.memory_servers import servers_with_own_models
from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.errors import BadInput
from memflow.memories.server.config import OWN_MODELS

if TYPE_CHECKING:
    from resources.ledger.sql_ledger import SqlLedger
    from resources.settings.settings import Settings


class By(StrEnum):
    """The attributes by which `memflow usage` can group the requests."""

    run = "run"
    stage = "stage"
    role = "role"
    domain = "domain"
    assistant = "assistant"
    model = "model"
    prompt = "prompt"


ByOption = Annotated[
    list[By] | None, typer.Option("--by", help="Group by this; may be repeated. [stage, role, model]")
]
RunOption = Annotated[str | None, typer.Option("--run", metavar="ID", help="Show one run alone.")]

NUMBERS = (
    "calls",
    "cache_hits",
    "failures",
    "prompt_tokens",
    "cached_prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "cut",
    "seconds",
    "cost",
)


def usage(
    ctx: typer.Context, by: ByOption = None, run: RunOption = None, form: FormatOption = Format.text
) -> None:
    """Show the usage of the models: calls, cache hits, failures, tokens, cut answers, seconds and cost.

    A call is a request to a model; a cache hit is answered from the ledger. Tokens and cost count calls only. Seconds
    are the latencies of calls and cache hits, as recorded with the first request. Cached prompt tokens are those that
    a server reports from its prefix cache.
    """
    from resources.ledger.sql_ledger import SqlLedger
    from resources.ledger.usage import known_sum

    settings = front_of(ctx).load()
    chosen = tuple(each.value for each in by or (By.stage, By.role, By.model))
    with SqlLedger(settings.ledger_url) as ledger:
        rows = usage_rows(ledger, settings, chosen, run)
    if run is not None and not rows:
        raise BadInput(
            f"the ledger has no requests of the run {run!r}. List the runs with `memflow usage --by run`."
        )
    total: dict[str, Any] = {name: sum(row[name] for row in rows) for name in NUMBERS if name != "cost"}
    total["cost"] = known_sum(row["cost"] for row in rows)
    total["cut_share"] = cut_share(total)
    groups = [*([row[name] for name in chosen] for row in rows), ["total", *("" for _ in chosen[1:])]]
    shown = [
        [*group, *(_shown(row[name]) for name in NUMBERS), f"{row['cut_share']:.1%}" if row["cut"] else ""]
        for group, row in zip(groups, (*rows, total), strict=True)
    ]
    labels = [*(name.replace("_", " ") for name in NUMBERS), "cut share"]
    not_counted = servers_with_own_models(settings)
    title = "Usage" if run is None else f"Usage of run {run}"
    answer(
        form,
        {"usage": rows, "total": total, "not_counted": not_counted},
        table(
            title,
            (*chosen, *labels),
            shown,
            right=labels,
            optional=(
                *("failures", "cache hits", "cached prompt tokens", "reasoning tokens", "cut", "cut share"),
            ),
        ),
        note("" if rows else "The ledger is empty. `memflow run --demo` fills it."),
        *(note(f"{name}: {OWN_MODELS}") for name in not_counted),
    )


def _shown(value: float | None) -> Any:
    return "unknown" if value is None else value


def usage_rows(
    ledger: "SqlLedger", settings: "Settings", by: Sequence[str], run: str | None = None
) -> list[dict[str, Any]]:
    """Return the usage as plain rows, sorted by group, with costs at the prices in the settings.

    A cost is None where requests were sent to a model without a price.
    """
    from resources.endpoints.limits import Prices
    from resources.ledger.usage import cost, known_sum

    prices = {name: Prices(model.price_in, model.price_out) for name, model in settings.models.items()}
    by_model = tuple(dict.fromkeys((*by, "model")))  # prices are a model's
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for line in ledger.usage(by_model, runs=None if run is None else [run]):
        names = tuple(line.by[name] for name in by)
        row = rows.setdefault(names, {**dict(zip(by, names, strict=True)), **dict.fromkeys(NUMBERS, 0)})
        row["calls"] += line.requests
        row["cache_hits"] += line.cache_hits
        row["failures"] += line.failed
        row["prompt_tokens"] += line.paid_prompt_tokens
        row["cached_prompt_tokens"] += line.paid_cached_tokens
        row["completion_tokens"] += line.paid_completion_tokens
        row["reasoning_tokens"] += line.reasoning_tokens
        row["cut"] += line.cut
        row["seconds"] += line.latency_s
        unpriced = (model := settings.models.get(line.by["model"])) is not None and not model.has_price
        row["cost"] = known_sum((row["cost"], None if unpriced and line.requests else cost(line, prices)))
    return [{**rows[names], "cut_share": cut_share(rows[names])} for names in sorted(rows)]


def cut_share(row: Mapping[str, Any]) -> float:
    """Return the share of a row's answers, of 0 to 1, that the token limit cut."""
    return row["cut"] / max(1, row["calls"] + row["cache_hits"])
